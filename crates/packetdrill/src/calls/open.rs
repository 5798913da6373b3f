//! Creating sockets and connections.

use crate::config::config;
use crate::fast_open;
use crate::host::Host;
use crate::host_state::{Descriptor, HostState};
use crate::socket::{Listener, Role, Socket, SocketId};
use crate::syscall::Attempt;
use crate::syscall::SyscallResult;
use crate::tcp_sock::TcpSock;
use core::ffi::c_int;
use core::mem;
use earlybird_tcp::Connection;
use libc::{sockaddr, socklen_t};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A socket address to store in C's layout.
pub(crate) struct Peer(SocketAddr);

pub(crate) fn socket(host: &Host, domain: c_int, kind: c_int, protocol: c_int) -> SyscallResult<c_int> {
    // A real socket, never used for traffic, reserves the descriptor number.
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::socket(domain, kind, protocol) };
    if fd < 0 {
        return Err(libc::EINVAL);
    }
    host.call(|state| {
        let id = state.add_socket(Socket::new(domain, kind & libc::SOCK_NONBLOCK != 0));
        state.add_descriptor(fd, Descriptor::Socket(id));
        Ok(fd)
    })
}

/// Parses a `sockaddr`.
pub(crate) fn parse_address(bytes: &[u8]) -> SyscallResult<SocketAddr> {
    let family = bytes.get(..2).map_or(0, |family| u16::from_ne_bytes([family[0], family[1]]));
    let port = || bytes.get(2..4).map(|port| u16::from_be_bytes([port[0], port[1]])).ok_or(libc::EINVAL);
    match i32::from(family) {
        libc::AF_INET => {
            let octets: [u8; 4] = bytes.get(4..8).and_then(|octets| octets.try_into().ok()).ok_or(libc::EINVAL)?;
            Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(octets)), port()?))
        }
        libc::AF_INET6 => {
            let octets: [u8; 16] = bytes.get(8..24).and_then(|octets| octets.try_into().ok()).ok_or(libc::EINVAL)?;
            Ok(SocketAddr::new(Ipv6Addr::from(octets).to_canonical(), port()?))
        }
        _ => Err(libc::EAFNOSUPPORT),
    }
}

/// Returns whether the address family is unspecified.
pub(crate) fn is_unspecified(bytes: &[u8]) -> bool {
    bytes.get(..2) == Some(&[0, 0])
}

/// Serialises a `sockaddr`.
fn address_bytes(address: SocketAddr) -> Vec<u8> {
    let (family, octets) = match address.ip() {
        IpAddr::V4(ip) => (libc::AF_INET, ip.octets().to_vec()),
        // The flow label precedes the address.
        IpAddr::V6(ip) => (libc::AF_INET6, [&[0; 4], ip.octets().as_slice()].concat()),
    };
    let mut bytes = (family as u16).to_ne_bytes().to_vec();
    bytes.extend(address.port().to_be_bytes());
    bytes.extend(octets);
    bytes.resize(
        if address.is_ipv4() { mem::size_of::<libc::sockaddr_in>() } else { mem::size_of::<libc::sockaddr_in6>() },
        0,
    );
    bytes
}

impl Peer {
    /// Stores the address at C's pointers.
    pub(crate) unsafe fn store(&self, into: *mut sockaddr, length: *mut socklen_t) {
        if into.is_null() || length.is_null() {
            return;
        }
        let bytes = address_bytes(self.0);
        // SAFETY: the caller passes C's pointers to an address and its room, which are not null.
        unsafe {
            let room = *length as usize;
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast(), bytes.len().min(room));
            *length = bytes.len() as socklen_t;
        }
    }
}

pub(crate) fn bind(host: &Host, fd: c_int, to: &[u8]) -> SyscallResult<c_int> {
    let address = parse_address(to)?;
    // The real socket is bound, too, so that system tables (`ss`) list it.
    let one: c_int = 1;
    // SAFETY: `one` and `to` outlive the calls, which get their lengths.
    unsafe {
        for (level, name) in [(libc::SOL_SOCKET, libc::SO_REUSEADDR), (libc::SOL_IP, libc::IP_FREEBIND)] {
            // The address need not exist in the namespace: only the number of the port matters.
            libc::setsockopt(fd, level, name, (&raw const one).cast(), 4);
        }
        libc::bind(fd, to.as_ptr().cast(), to.len() as socklen_t);
    }
    host.call(|state| {
        state.socket(fd)?.local = address;
        Ok(0)
    })
}

pub(crate) fn listen(host: &Host, fd: c_int, backlog: c_int) -> SyscallResult<c_int> {
    // SAFETY: the call takes no pointers.
    unsafe { libc::listen(fd, backlog) };
    host.call(|state| {
        let socket = state.socket(fd)?;
        match socket.role {
            Role::New => socket.role = Role::Listener(Listener::default()),
            Role::Listener(_) => {}
            _ => return Err(libc::EINVAL),
        }
        Ok(0)
    })
}

pub(crate) fn accept(host: &Host, fd: c_int) -> SyscallResult<(c_int, Peer)> {
    let (id, remote, domain) = host.wait(|state| match try_accept(state, fd) {
        // A blocking listener waits without a timeout.
        Err(libc::EAGAIN) if state.socket(fd).is_ok_and(|socket| !socket.settings.is_nonblocking) => {
            Attempt::Block(None)
        }
        answer => Attempt::Done(answer),
    })?;
    // SAFETY: the call takes no pointers.
    let accepted = unsafe { libc::socket(domain, libc::SOCK_STREAM, 0) };
    host.call(|state| {
        state.add_descriptor(accepted, Descriptor::Socket(id));
        Ok((accepted, Peer(remote)))
    })
}

fn try_accept(state: &mut HostState, fd: c_int) -> SyscallResult<(SocketId, SocketAddr, c_int)> {
    let Role::Listener(listener) = &mut state.socket(fd)?.role else { return Err(libc::EINVAL) };
    let id = listener.waiting.pop_front().ok_or(libc::EAGAIN)?;
    let remote = state.sockets.get(&id).and_then(Socket::tcp_sock).ok_or(libc::ECONNABORTED)?.remote;
    Ok((id, remote, if remote.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }))
}

pub(crate) fn connect(host: &Host, fd: c_int, to: &[u8]) -> SyscallResult<c_int> {
    let remote = parse_address(to)?;
    let is_new = host.call(|state| begin_connect(state, fd, remote))?;
    host.wait(|state| match state.socket(fd) {
        Err(error) => Attempt::Done(Err(error)),
        Ok(socket) => connected(socket, is_new),
    })
}

/// Starts to connect. Returns whether it started now.
fn begin_connect(state: &mut HostState, fd: c_int, remote: SocketAddr) -> SyscallResult<bool> {
    let socket = state.socket(fd)?;
    match &socket.role {
        Role::New if socket.settings.fast_open_connect => {
            let settings = socket.settings.clone();
            if fast_open::can_defer(&settings, state.cookies.of(remote.ip())) {
                state.socket(fd)?.role = Role::Deferred(remote);
                return Ok(false);
            }
            start(state, fd, remote, true)?;
            Ok(true)
        }
        Role::New => {
            start(state, fd, remote, false)?;
            Ok(true)
        }
        Role::Deferred(_) | Role::Listener(_) => Err(libc::EISCONN),
        // Err => The error codes are those of `__inet_stream_connect`.
        Role::Connected(sock) if sock.is_connected() => Err(libc::EISCONN),
        Role::Connected(_) if socket.settings.is_nonblocking => Err(libc::EALREADY),
        Role::Connected(_) => Ok(false),
        Role::Closed => Err(libc::ECONNABORTED),
    }
}

/// Returns the result of `connect` so far.
fn connected(socket: &mut Socket, is_new: bool) -> Attempt<c_int> {
    if let Err(error) = socket.take_error() {
        return Attempt::Done(Err(error));
    }
    match socket.tcp_sock() {
        Some(sock) if !sock.is_connected() && !sock.is_closed() => {
            if is_new && socket.settings.is_nonblocking {
                Attempt::Done(Err(libc::EINPROGRESS))
            } else {
                Attempt::Block(None)
            }
        }
        _ => Attempt::Done(Ok(0)),
    }
}

/// Opens a connection, with Fast Open if requested. Returns the number of bytes that the SYN may carry.
pub(crate) fn start(state: &mut HostState, fd: c_int, remote: SocketAddr, is_fast: bool) -> SyscallResult<u64> {
    let bound = state.socket(fd)?.local;
    let cached = state.cookies.of(remote.ip()).clone();
    let (local, seeds, now) = (state.local_for(bound, remote), state.seeds().child("client"), state.now());
    let socket = state.socket(fd)?;
    socket.local = local;
    let config = config(&socket.settings, local.ip(), true);
    let mut sock = TcpSock::new(Connection::connect(&config, seeds), local, remote, now);
    let offer = is_fast.then(|| fast_open::offer(&socket.settings, &cached));
    if let Some(offer) = offer {
        sock.connection.open_fast(offer);
        sock.fast_open_offer = Some(offer);
    }
    sock.feed.cork = socket.settings.cork;
    let room = sock.connection.room_on_syn();
    socket.role = Role::Connected(Box::new(sock));
    Ok(room)
}
