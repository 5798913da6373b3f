//! A client's connection and the connection to the server.

use crate::leftover::Leftover;
use crate::server_socket::ServerSocket;
use earlybird_live::device::Device;
use earlybird_live::{Clock, Id, Stack};
use earlybird_tcp::RfcState;
use earlybird_units::Instant;
use std::io;

/// Bytes moved by a pair, by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) to_server: usize,
    pub(crate) to_client: usize,
}

/// A client's connection and the connection to the server.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The client's connection.
    pub(crate) id: Id,
    server: ServerSocket,
    /// Whether the handshake with the server is not complete.
    pub(crate) is_connecting: bool,
    to_server: Leftover,
    to_client: Leftover,
    /// Whether the server has sent its FIN.
    has_server_ended: bool,
    /// Whether a FIN was sent to the server.
    is_server_shut: bool,
    /// Whether a FIN was sent to the client.
    is_client_shut: bool,
    /// Whether the client's connection has ended in order.
    pub(crate) is_client_closed: bool,
    /// The time of the last byte.
    pub(crate) last_moved: Instant,
}

impl Pair {
    pub(crate) fn new(id: Id, server: ServerSocket, now: Instant) -> Self {
        Self {
            id,
            server,
            is_connecting: true,
            to_server: Leftover::default(),
            to_client: Leftover::default(),
            has_server_ended: false,
            is_server_shut: false,
            is_client_shut: false,
            is_client_closed: false,
            last_moved: now,
        }
    }

    /// Returns whether both directions are closed on both connections.
    pub(crate) fn is_done(&self) -> bool {
        self.is_client_closed && self.is_server_shut && self.is_client_shut
    }

    /// Closes the connection to the server by a reset.
    pub(crate) fn reset_server(self) {
        self.server.reset();
    }

    /// Moves bytes in both directions until each waits for one of the connections.
    ///
    /// # Errors
    ///
    /// If either connection is broken, or the server refused the connection.
    pub(crate) fn forward<D: Device, C: Clock>(
        &mut self,
        stack: &mut Stack<D, C>,
        scratch: &mut [u8],
    ) -> io::Result<Moved> {
        if self.is_connecting {
            self.is_connecting = !self.server.is_connected()?;
        }
        if self.is_connecting {
            return Ok(Moved::default());
        }
        // A reset must reach the client even if nothing can be read, as its window is closed.
        if let Some(error) = self.server.0.take_error()? {
            return Err(error);
        }
        let to_server = self.forward_to_server(stack, scratch)?;
        let to_client = self.forward_to_client(stack, scratch)?;
        if to_server + to_client > 0 {
            self.last_moved = stack.now();
        }
        Ok(Moved { to_server, to_client })
    }

    fn forward_to_server<D: Device, C: Clock>(
        &mut self,
        stack: &mut Stack<D, C>,
        scratch: &mut [u8],
    ) -> io::Result<usize> {
        let Self { id, server, to_server, .. } = self;
        let mut moved = to_server.flush(|bytes| server.write(bytes))?;
        while to_server.is_empty() {
            let count = stack.read(*id, scratch).map_err(io::Error::other)?;
            if count == 0 {
                break;
            }
            moved += to_server.offer(&scratch[..count], |bytes| server.write(bytes))?;
        }
        if to_server.is_empty() && !self.is_server_shut && has_ended(stack, self.id) {
            self.server.shut_down()?;
            self.is_server_shut = true;
        }
        Ok(moved)
    }

    fn forward_to_client<D: Device, C: Clock>(
        &mut self,
        stack: &mut Stack<D, C>,
        scratch: &mut [u8],
    ) -> io::Result<usize> {
        let Self { id, server, to_client, has_server_ended, .. } = self;
        let mut write = |bytes: &[u8]| stack.write(*id, bytes).map_err(io::Error::other);
        let mut moved = to_client.flush(&mut write)?;
        while to_client.is_empty() && !*has_server_ended {
            match server.read(scratch)? {
                None => break,
                Some(0) => *has_server_ended = true,
                Some(count) => moved += to_client.offer(&scratch[..count], &mut write)?,
            }
        }
        if to_client.is_empty() && *has_server_ended && !self.is_client_shut {
            stack.shutdown(self.id).map_err(io::Error::other)?;
            self.is_client_shut = true;
        }
        Ok(moved)
    }
}

/// Returns whether the client has sent its FIN, and everything before it was read.
fn has_ended<D: Device, C: Clock>(stack: &Stack<D, C>, id: Id) -> bool {
    stack.connection(id).is_ok_and(|connection| {
        // The states in which the FIN has been received (RFC 9293 §3.3.2).
        let states = [RfcState::CloseWait, RfcState::Closing, RfcState::LastAck, RfcState::TimeWait, RfcState::Closed];
        states.contains(&connection.state())
    })
}
