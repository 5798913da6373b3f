//! A connection in live mode.

use crate::socket::{Choice, Settings, Socket};
use libc::{c_char, c_int};
use socket2::SockAddr;
use std::io;
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

/// A connection: messages are delivered after the latency, or dropped.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    payload: usize,
}

/// The timeout of [`Connection::receive`].
const RECEIVE_TIMEOUT: Duration = Duration::from_millis(100);
/// The longest wait for acknowledgements at the end; the receiver gives up after its latency anyway.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
const DRAIN_POLL: Duration = Duration::from_millis(5);
/// The bytes of a packet of a transport stream (ISO/IEC 13818-1).
const TS_PACKET: usize = 188;

impl Connection {
    /// Calls a listener.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ConnectionRefused`] with the reason if it refuses, or if nothing answers.
    pub fn call(to: SocketAddr, settings: &Settings) -> io::Result<Self> {
        let socket = Socket::new(settings)?;
        if !settings.stream.is_empty() {
            socket.set_bytes(Choice::Stream, settings.stream.as_bytes())?;
        }
        let to = SockAddr::from(to);
        // SAFETY: the address is valid during the call.
        let result = unsafe { (socket.api.connect)(socket.handle, to.as_ptr().cast(), to.len() as c_int) };
        socket.api.check(result).map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => io::Error::new(error.kind(), socket.api.rejection(socket.handle)),
            io::ErrorKind::TimedOut => io::Error::new(io::ErrorKind::ConnectionRefused, "no answer"),
            _ => error,
        })?;
        Self::of(socket, settings.payload)
    }

    pub(crate) fn of(socket: Socket, payload: usize) -> io::Result<Self> {
        socket.set(Choice::ReceiveBlocks, 1)?;
        socket.set(Choice::ReceiveTimeout, RECEIVE_TIMEOUT.as_millis() as c_int)?;
        Ok(Self { socket, payload })
    }

    /// Receives a message, waiting up to 100 ms for one. Returns its length.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if there was none, others if the connection has ended.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let (api, data) = (self.socket.api, buffer.as_mut_ptr().cast::<c_char>());
        // SAFETY: libsrt writes at most `buffer.len()` bytes, during the call.
        let count = api.check(unsafe { (api.receive)(self.socket.handle, data, buffer.len() as c_int) })?;
        Ok(count as usize)
    }

    /// Sends bytes in messages of up to `payload` bytes, each with whole packets of a transport stream if they fit. A message is dropped
    /// if the buffer of libsrt is full.
    ///
    /// # Errors
    ///
    /// If the connection has ended.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let whole = self.payload / TS_PACKET * TS_PACKET;
        bytes.chunks(if whole > 0 { whole } else { self.payload }).try_for_each(|message| self.send_message(message))
    }

    fn send_message(&self, message: &[u8]) -> io::Result<()> {
        let (api, data, length) = (self.socket.api, message.as_ptr().cast::<c_char>(), message.len() as c_int);
        // SAFETY: libsrt copies `length` bytes during the call. -1: no lifetime of its own (`SRT_MSGTTL_INF`); 1: in order.
        match api.check(unsafe { (api.send)(self.socket.handle, data, length, -1, 1) }) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }

    /// Waits until the peer has received and played all that was sent: closing would drop it (`SRTO_LINGER`).
    pub fn finish(&self) {
        let polls = DRAIN_TIMEOUT.as_millis() / DRAIN_POLL.as_millis();
        (0..polls).take_while(|_| self.unacknowledged() > 0).for_each(|_| sleep(DRAIN_POLL));
        let latency = self.socket.get(Choice::PeerLatency).unwrap_or_default();
        sleep(Duration::from_millis(latency.max(0) as u64).min(DRAIN_TIMEOUT) + 2 * DRAIN_POLL);
    }

    /// Returns the messages that the peer has not acknowledged; none if the connection has ended.
    fn unacknowledged(&self) -> usize {
        let (mut messages, mut bytes) = (0, 0);
        // SAFETY: the pointers are valid during the call.
        let result = unsafe { (self.socket.api.send_buffer)(self.socket.handle, &raw mut messages, &raw mut bytes) };
        if result < 0 { 0 } else { messages }
    }
}
