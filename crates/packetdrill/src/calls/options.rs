//! `getsockopt` and `setsockopt`.

use crate::config;
use crate::device;
use crate::host::Host;
use crate::info;
use crate::socket::{Role, Settings, Socket};
use crate::syscall::SyscallResult;
use crate::sysctl;
use crate::time::{Micros, instant};
use core::ffi::c_int;
use earlybird_tcp::Cx;

/// Socket options that the `libc` crate lacks (`linux/tcp.h`).
const TCP_CC_INFO: c_int = 26;
const TCP_INQ: c_int = 36;
const TCP_NOTSENT_LOWAT: c_int = 25;
const TCP_FASTOPEN_CONNECT: c_int = 30;
const TCP_FASTOPEN_KEY: c_int = 33;
const TCP_FASTOPEN_NO_COOKIE: c_int = 34;
/// The number of words (`SK_MEMINFO_VARS`).
const MEMORY_WORDS: usize = 9;

pub(crate) fn get(host: &Host, fd: c_int, level: c_int, name: c_int) -> SyscallResult<Vec<u8>> {
    host.call(|state| {
        let now = state.now();
        let socket = state.socket(fd)?;
        if (level, name) == (libc::SOL_SOCKET, libc::SO_ERROR) {
            return Ok(bytes(socket.error.take().unwrap_or(0)));
        }
        match (level, name) {
            (libc::SOL_TCP, libc::TCP_INFO) => Ok(info::tcp_info(socket, now)),
            (libc::SOL_TCP, TCP_CC_INFO) => Ok(Vec::new()),
            (libc::SOL_SOCKET, libc::SO_MEMINFO) => Ok(memory(socket)),
            (libc::SOL_TCP, libc::TCP_FASTOPEN_KEY) => {
                Ok(socket.settings.fast_open_key.map_or_else(Vec::new, |key| key.to_vec()))
            }
            _ => setting(socket, level, name)
                .map(bytes)
                .or_else(|error| other(&socket.settings, level, name).ok_or(error)),
        }
    })
}

fn bytes(value: i32) -> Vec<u8> {
    value.to_ne_bytes().to_vec()
}

fn memory(socket: &Socket) -> Vec<u8> {
    let mut words = [0_u32; MEMORY_WORDS];
    // Indices of include/uapi/linux/sock_diag.h (SK_MEMINFO_*).
    words[1] = socket.settings.receive_buffer as u32;
    words[3] = socket.settings.send_buffer as u32;
    words[5] = socket.tcp_sock().map_or(0, |sock| sock.queue.memory()) as u32;
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn setting(socket: &Socket, level: c_int, name: c_int) -> SyscallResult<i32> {
    let settings = &socket.settings;
    Ok(match (level, name) {
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => settings.send_buffer as i32,
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => settings.receive_buffer as i32,
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => i32::from(settings.keep_alive),
        (libc::SOL_TCP, libc::TCP_NODELAY) => i32::from(settings.no_delay),
        (libc::SOL_TCP, libc::TCP_CORK) => i32::from(settings.cork),
        (libc::SOL_TCP, libc::TCP_MAXSEG) => mss_limit(socket),
        (libc::SOL_TCP, TCP_NOTSENT_LOWAT) => settings.not_sent_low_water.cast_signed(),
        (libc::SOL_TCP, libc::TCP_USER_TIMEOUT) => settings.user_timeout.cast_signed(),
        (libc::SOL_TCP, libc::TCP_SYNCNT) => settings.syn_retries.unwrap_or(6).cast_signed(),
        (libc::SOL_TCP, TCP_INQ) => i32::from(settings.reports_inq),
        (libc::SOL_TCP, libc::TCP_FASTOPEN) => settings.fast_open_queue.unwrap_or(0).cast_signed(),
        _ => return Err(libc::ENOPROTOOPT),
    })
}

/// Returns the current MSS if connected, else the requested one.
fn mss_limit(socket: &Socket) -> i32 {
    match &socket.role {
        Role::Connected(sock) if sock.is_connected() => sock.mss() as i32,
        _ => socket.settings.mss_limit.map_or(536, i32::from),
    }
}

fn other(settings: &Settings, level: c_int, name: c_int) -> Option<Vec<u8>> {
    let found = settings.ignored.iter().find(|(its_level, its_name, _)| (*its_level, *its_name) == (level, name));
    found.map(|(_, _, value)| value.clone())
}

pub(crate) fn set(host: &Host, fd: c_int, level: c_int, name: c_int, value: &[u8]) -> SyscallResult<c_int> {
    host.call(|state| {
        let (id, now) = (state.id(fd)?, state.now());
        let socket = state.socket(fd)?;
        if (level, name) == (libc::SOL_TCP, TCP_FASTOPEN_KEY) {
            let key: [u8; 16] = value.try_into().map_err(|_| libc::EINVAL)?;
            socket.settings.fast_open_key = Some(key);
            return Ok(0);
        }
        let number = match value {
            [a, b, c, d, ..] => i32::from_ne_bytes([*a, *b, *c, *d]),
            [byte, ..] => i32::from(*byte),
            [] => return Err(libc::EINVAL),
        };
        match level {
            libc::SOL_SOCKET => set_of_socket(socket, name, number, value),
            libc::SOL_TCP => {
                set_of_tcp(socket, name, number)?;
                apply_to_connection(socket, name, number != 0);
            }
            _ => keep(&mut socket.settings, level, name, value),
        }
        // Timers of an open connection change at once.
        apply_lifetimes(socket, now);
        state.transmit_from(id);
        Ok(0)
    })
}

fn keep(settings: &mut Settings, level: c_int, name: c_int, value: &[u8]) {
    settings.ignored.retain(|(its_level, its_name, _)| (*its_level, *its_name) != (level, name));
    settings.ignored.push((level, name, value.to_vec()));
}

fn set_of_socket(socket: &mut Socket, name: c_int, number: i32, value: &[u8]) {
    let written = socket.tcp_sock().map_or(0, |sock| sock.queue.written());
    let settings = &mut socket.settings;
    match name {
        // Linux doubles the value for its overhead (`sock_setsockopt`); the minimum is SOCK_MIN_SNDBUF.
        libc::SO_SNDBUF => {
            settings.send_buffer = (2 * u64::from(number.cast_unsigned())).max(4608);
            settings.is_send_buffer_fixed = true;
        }
        libc::SO_RCVBUF => settings.receive_buffer = (2 * u64::from(number.cast_unsigned())).max(2304),
        libc::SO_KEEPALIVE => settings.keep_alive = number != 0,
        libc::SO_ZEROCOPY => settings.zero_copy = number != 0,
        libc::SO_TIMESTAMPING => {
            settings.timestamping = number.cast_unsigned();
            settings.timestamping_from = written;
        }
        libc::SO_LINGER => {
            let seconds = value.get(4..8).map_or(0, |time| i32::from_ne_bytes([time[0], time[1], time[2], time[3]]));
            settings.linger = (number != 0).then_some(seconds);
        }
        _ => keep(settings, libc::SOL_SOCKET, name, value),
    }
}

fn set_of_tcp(socket: &mut Socket, name: c_int, number: i32) -> SyscallResult<()> {
    let fits = (device::mtu() - device::headers(socket.local.ip())) as i32;
    let settings = &mut socket.settings;
    let unsigned = number.cast_unsigned();
    match name {
        libc::TCP_NODELAY => settings.no_delay = number != 0,
        libc::TCP_CORK => settings.cork = number != 0,
        // The minimum is TCP_MIN_MSS.
        libc::TCP_MAXSEG if !(88..=fits.max(32_767)).contains(&number) => return Err(libc::EINVAL),
        libc::TCP_MAXSEG => settings.mss_limit = Some(number as u16),
        TCP_NOTSENT_LOWAT => settings.not_sent_low_water = unsigned,
        libc::TCP_USER_TIMEOUT => settings.user_timeout = unsigned,
        libc::TCP_SYNCNT => settings.syn_retries = Some(unsigned),
        libc::TCP_KEEPIDLE => settings.keep_idle = Some(unsigned),
        libc::TCP_KEEPINTVL => settings.keep_interval = Some(unsigned),
        libc::TCP_KEEPCNT => settings.keep_count = Some(unsigned),
        TCP_INQ => settings.reports_inq = number != 0,
        libc::TCP_FASTOPEN => settings.fast_open_queue = Some(unsigned),
        TCP_FASTOPEN_CONNECT if sysctl::value("tcp_fastopen", 1) & 1 == 0 => return Err(libc::EOPNOTSUPP),
        TCP_FASTOPEN_CONNECT => settings.fast_open_connect = number != 0,
        TCP_FASTOPEN_NO_COOKIE => settings.fast_open_no_cookie = number != 0,
        _ => keep(settings, libc::SOL_TCP, name, &number.to_ne_bytes()),
    }
    Ok(())
}

/// Applies an option to an open connection: disabling Nagle or the cork sends what was held back.
fn apply_to_connection(socket: &mut Socket, name: c_int, is_on: bool) {
    let settings = &socket.settings;
    let cork = settings.cork;
    let Role::Connected(sock) = &mut socket.role else { return };
    sock.feed.cork = cork;
    match name {
        libc::TCP_NODELAY => sock.connection.set_nagle(!is_on),
        libc::TCP_CORK if !is_on => {
            sock.queue.push();
            sock.feed.has_more = false;
        }
        _ => {}
    }
}

/// Applies the timeouts of the options to an open connection.
fn apply_lifetimes(socket: &mut Socket, now: Micros) {
    let settings = &socket.settings;
    let (opening, user, keep_alive) =
        (config::opening_limit(settings), config::user_timeout(settings), config::keep_alive(settings));
    let Role::Connected(sock) = &mut socket.role else { return };
    let cx = &mut Cx { now: instant(now), trace: &mut () };
    sock.connection.set_opening_limit(cx, Some(opening));
    sock.connection.set_user_timeout(cx, user);
    sock.connection.set_keep_alive(cx, keep_alive);
}
