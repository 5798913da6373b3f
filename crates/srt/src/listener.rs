//! A listener for callers.

use crate::connection::Connection;
use crate::gate::{Gate, decide};
use crate::socket::{Choice, Settings, Socket};
use libc::c_int;
use socket2::SockAddr;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ptr::{from_ref, null_mut};
use std::sync::atomic::Ordering;

/// A listener.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    gate: &'static Gate,
    payload: usize,
}

/// The callers that may wait to be accepted.
const BACKLOG: c_int = 16;

impl Listener {
    /// Listens at an address, for IPv4 too if it is the wildcard of IPv6.
    ///
    /// # Errors
    ///
    /// If libsrt is missing, or the address cannot be used.
    pub fn bind(at: SocketAddr, settings: &Settings) -> io::Result<Self> {
        let socket = Socket::new(settings)?;
        socket.set(Choice::ReceiveBlocks, 0)?;
        if at.is_ipv6() {
            socket.set(Choice::IsIpv6Only, c_int::from(!at.ip().is_unspecified()))?;
        }
        // Never freed, as libsrt's threads use it: a relay has one.
        let gate: &'static Gate = Box::leak(Box::new(Gate::new(settings.stream.clone())));
        let (api, handle, address) = (socket.api, socket.handle, SockAddr::from(at));
        // SAFETY: the address is valid during the call; the callback gets a gate that is never freed.
        unsafe {
            api.check((api.bind)(handle, address.as_ptr().cast(), address.len() as c_int))?;
            api.check((api.listen_callback)(handle, decide, from_ref(gate).cast_mut().cast()))?;
            api.check((api.listen)(handle, BACKLOG))?;
        }
        Ok(Self { socket, gate, payload: settings.payload })
    }

    /// Accepts a caller, if one is waiting. Returns it with its address.
    ///
    /// # Errors
    ///
    /// If the listener has failed.
    pub fn accept(&self) -> io::Result<Option<(Connection, IpAddr)>> {
        let api = self.socket.api;
        // SAFETY: both pointers may be null if the address is not wanted.
        let handle = match api.check(unsafe { (api.accept)(self.socket.handle, null_mut(), null_mut()) }) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            handle => handle?,
        };
        let from = self.gate.accepted(handle);
        let socket = Socket { api, handle };
        // A caller that has gone in the meantime is no failure of the listener.
        Ok(Connection::of(socket, self.payload).ok().map(|connection| (connection, from)))
    }

    /// Returns why a caller was refused since the last call, if one was.
    pub fn refusal(&self) -> Option<String> {
        self.gate.take_refusal(self.socket.api)
    }

    /// Sets whether all further callers are refused.
    pub fn set_closed(&self, is_closed: bool) {
        self.gate.is_closed.store(is_closed, Ordering::Relaxed);
    }
}
