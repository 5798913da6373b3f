//! Non-blocking sockets of the kernel, connected to the server.

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

/// A connection to the server.
#[derive(Debug)]
pub(crate) struct ServerSocket(pub(crate) TcpStream);

impl ServerSocket {
    /// Begins to connect.
    ///
    /// # Errors
    ///
    /// If the process has no more file descriptors, or the server refuses at once.
    pub(crate) fn connect(server: SocketAddr) -> io::Result<Self> {
        let family = if server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        // The client's segmentation decides when bytes leave; a second wait would add delay.
        sockopt::set_tcp_nodelay(&socket, true)?;
        match connect(&socket, &server) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(Self(TcpStream::from(socket))),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the handshake is complete.
    ///
    /// # Errors
    ///
    /// If it failed.
    pub(crate) fn is_connected(&self) -> io::Result<bool> {
        match self.0.take_error()? {
            Some(error) => Err(error),
            None => Ok(self.0.peer_addr().is_ok()),
        }
    }

    /// Writes bytes; returns zero if there is no room.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match (&self.0).write(bytes) {
            Err(error) if is_temporary(&error) => Ok(0),
            result => result,
        }
    }

    /// Reads bytes; returns zero at the end of the stream, and `None` if no bytes are available.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(into) {
            Err(error) if is_temporary(&error) => Ok(None),
            result => result.map(Some),
        }
    }

    /// Sends a FIN after the written bytes.
    pub(crate) fn shut_down(&self) -> io::Result<()> {
        self.0.shutdown(Shutdown::Write)
    }

    /// Closes with a reset instead of a FIN (`SO_LINGER` of zero, `tcp(7)`).
    pub(crate) fn reset(self) {
        // Without the option the server sees a FIN, which also ends the connection.
        let _ = sockopt::set_socket_linger(&self.0, Some(std::time::Duration::ZERO));
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
