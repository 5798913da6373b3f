//! `getsockopt` and `setsockopt`.

use super::{Answer, open};
use crate::clock::Host;
use crate::device;
use crate::flow::instant;
use crate::info;
use crate::socket::{Role, Settings, Socket};
use crate::sysctl;
use crate::world::Micros;
use core::ffi::c_int;
use earlybird_tcp::Cx;

/// Linux's `TCP_CM_INQ` and friends that the C library's bindings lack.
const TCP_CC_INFO: c_int = 26;
const TCP_INQ: c_int = 36;
const TCP_NOTSENT_LOWAT: c_int = 25;
const TCP_FASTOPEN_CONNECT: c_int = 30;
const TCP_FASTOPEN_KEY: c_int = 33;
const TCP_FASTOPEN_NO_COOKIE: c_int = 34;
/// `SK_MEMINFO_VARS` words.
const MEMORY_WORDS: usize = 9;

pub(crate) fn get(host: &Host, fd: c_int, level: c_int, name: c_int) -> Answer<Vec<u8>> {
    host.call(|world| {
        let now = world.now();
        let socket = world.socket(fd)?;
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
    words[1] = socket.settings.receive_buffer as u32;
    words[3] = socket.settings.send_buffer as u32;
    words[5] = socket.flow().map_or(0, |flow| flow.queue.memory()) as u32;
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn setting(socket: &Socket, level: c_int, name: c_int) -> Answer<i32> {
    let settings = &socket.settings;
    Ok(match (level, name) {
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => settings.send_buffer as i32,
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => settings.receive_buffer as i32,
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => i32::from(settings.keep_alive),
        (libc::SOL_TCP, libc::TCP_NODELAY) => i32::from(settings.no_delay),
        (libc::SOL_TCP, libc::TCP_CORK) => i32::from(settings.cork),
        (libc::SOL_TCP, libc::TCP_MAXSEG) => largest_segment(socket),
        (libc::SOL_TCP, TCP_NOTSENT_LOWAT) => settings.not_sent_low_water.cast_signed(),
        (libc::SOL_TCP, libc::TCP_USER_TIMEOUT) => settings.user_timeout.cast_signed(),
        (libc::SOL_TCP, libc::TCP_SYNCNT) => settings.opening_tries.unwrap_or(6).cast_signed(),
        (libc::SOL_TCP, TCP_INQ) => i32::from(settings.tells_queued),
        (libc::SOL_TCP, libc::TCP_FASTOPEN) => settings.fast_open_queue.unwrap_or(0).cast_signed(),
        _ => return Err(libc::ENOPROTOOPT),
    })
}

/// What is sent, once connected; before that what was asked for.
fn largest_segment(socket: &Socket) -> i32 {
    match &socket.role {
        Role::Flow(flow) if flow.is_connected() => flow.mss() as i32,
        _ => socket.settings.largest_segment.map_or(536, i32::from),
    }
}

fn other(settings: &Settings, level: c_int, name: c_int) -> Option<Vec<u8>> {
    let found = settings.others.iter().find(|(its_level, its_name, _)| (*its_level, *its_name) == (level, name));
    found.map(|(_, _, value)| value.clone())
}

pub(crate) fn set(host: &Host, fd: c_int, level: c_int, name: c_int, value: &[u8]) -> Answer<c_int> {
    host.call(|world| {
        let (id, now) = (world.id(fd)?, world.now());
        let socket = world.socket(fd)?;
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
                apply_to_flow(socket, name, number != 0);
            }
            _ => keep(&mut socket.settings, level, name, value),
        }
        apply_lifetimes(socket, now);
        world.transmit_from(id);
        Ok(0)
    })
}

fn keep(settings: &mut Settings, level: c_int, name: c_int, value: &[u8]) {
    settings.others.retain(|(its_level, its_name, _)| (*its_level, *its_name) != (level, name));
    settings.others.push((level, name, value.to_vec()));
}

fn set_of_socket(socket: &mut Socket, name: c_int, number: i32, value: &[u8]) {
    let written = socket.flow().map_or(0, |flow| flow.queue.written());
    let settings = &mut socket.settings;
    match name {
        // Linux doubles the number, for its own structures (`sock_setsockopt`); the least is its SOCK_MIN_SNDBUF.
        libc::SO_SNDBUF => {
            settings.send_buffer = (2 * u64::from(number.cast_unsigned())).max(4608);
            settings.is_send_buffer_fixed = true;
        }
        libc::SO_RCVBUF => settings.receive_buffer = (2 * u64::from(number.cast_unsigned())).max(2304),
        libc::SO_KEEPALIVE => settings.keep_alive = number != 0,
        libc::SO_ZEROCOPY => settings.zero_copy = number != 0,
        libc::SO_TIMESTAMPING => {
            settings.stamping = number.cast_unsigned();
            settings.stamping_from = written;
        }
        libc::SO_LINGER => {
            let seconds = value.get(4..8).map_or(0, |time| i32::from_ne_bytes([time[0], time[1], time[2], time[3]]));
            settings.linger = (number != 0).then_some(seconds);
        }
        _ => keep(settings, libc::SOL_SOCKET, name, value),
    }
}

fn set_of_tcp(socket: &mut Socket, name: c_int, number: i32) -> Answer<()> {
    let fits = (device::mtu() - device::headers(socket.local.ip())) as i32;
    let settings = &mut socket.settings;
    let unsigned = number.cast_unsigned();
    match name {
        libc::TCP_NODELAY => settings.no_delay = number != 0,
        libc::TCP_CORK => settings.cork = number != 0,
        // At least TCP_MIN_MSS.
        libc::TCP_MAXSEG if !(88..=fits.max(32_767)).contains(&number) => return Err(libc::EINVAL),
        libc::TCP_MAXSEG => settings.largest_segment = Some(number as u16),
        TCP_NOTSENT_LOWAT => settings.not_sent_low_water = unsigned,
        libc::TCP_USER_TIMEOUT => settings.user_timeout = unsigned,
        libc::TCP_SYNCNT => settings.opening_tries = Some(unsigned),
        libc::TCP_KEEPIDLE => settings.keep_idle = Some(unsigned),
        libc::TCP_KEEPINTVL => settings.keep_interval = Some(unsigned),
        libc::TCP_KEEPCNT => settings.keep_count = Some(unsigned),
        TCP_INQ => settings.tells_queued = number != 0,
        libc::TCP_FASTOPEN => settings.fast_open_queue = Some(unsigned),
        TCP_FASTOPEN_CONNECT if sysctl::number("tcp_fastopen", 1) & 1 == 0 => return Err(libc::EOPNOTSUPP),
        TCP_FASTOPEN_CONNECT => settings.fast_open_connect = number != 0,
        TCP_FASTOPEN_NO_COOKIE => settings.fast_open_no_cookie = number != 0,
        _ => keep(settings, libc::SOL_TCP, name, &number.to_ne_bytes()),
    }
    Ok(())
}

/// Lets go what was held back, where an option says so.
fn apply_to_flow(socket: &mut Socket, name: c_int, is_on: bool) {
    let settings = &socket.settings;
    let cork = settings.cork;
    let Role::Flow(flow) = &mut socket.role else { return };
    flow.feeding.cork = cork;
    match name {
        libc::TCP_NODELAY => flow.connection.set_nagle(!is_on),
        libc::TCP_CORK if !is_on => {
            flow.queue.push();
            flow.feeding.has_more = false;
        }
        _ => {}
    }
}

/// Lets a connection wait for its peer as long as the options say.
fn apply_lifetimes(socket: &mut Socket, now: Micros) {
    let settings = &socket.settings;
    let (opening, user, keep_alive) =
        (open::opening_limit(settings), open::user_timeout(settings), open::keep_alive(settings));
    let Role::Flow(flow) = &mut socket.role else { return };
    let cx = &mut Cx { now: instant(now), trace: &mut () };
    flow.connection.set_opening_limit(cx, Some(opening));
    flow.connection.set_user_timeout(cx, user);
    flow.connection.set_keep_alive(cx, keep_alive);
}
