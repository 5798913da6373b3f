//! A socket of libsrt, its options and errors.

use crate::library::{Api, Handle, api};
use libc::{c_int, c_void};
use std::fmt;
use std::io;
use std::time::Duration;

/// The options of a connection or listener; names and defaults are those of libsrt.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// The time from sending to delivery, at least 120 ms by default; the larger value of both sides applies.
    pub latency: Duration,
    /// 10 to 79 characters; `None` if nothing is encrypted.
    pub passphrase: Option<String>,
    /// The length of AES keys in bytes: 16, 24 or 32; 0 for that of the peer, or else 16.
    pub key_bytes: u8,
    /// The name of the stream: a caller sends it, a listener requires it if it is not empty. At most 512 bytes.
    pub stream: String,
    /// The largest message that is sent, in bytes.
    pub payload: usize,
    /// The timeout of a caller's handshake.
    pub connect_timeout: Duration,
    /// The time without packets after which a connection is broken.
    pub idle_timeout: Duration,
}

// A passphrase must not appear in logs.
impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { latency, passphrase, stream, .. } = self;
        formatter
            .debug_struct("Settings")
            .field("latency", latency)
            .field("is_encrypted", &passphrase.is_some())
            .field("stream", stream)
            .finish_non_exhaustive()
    }
}

/// `SRT_SOCKOPT` (`srt.h`).
#[derive(Clone, Copy)]
#[repr(i32)]
pub(crate) enum Choice {
    SendBlocks = 1,
    ReceiveBlocks = 2,
    ReceiveTimeout = 14,
    Latency = 23,
    Passphrase = 26,
    KeyBytes = 27,
    ConnectTimeout = 36,
    PeerLatency = 44,
    Stream = 46,
    Payload = 49,
    IsIpv6Only = 54,
    IdleTimeout = 55,
}

/// An open socket; closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) api: &'static Api,
    pub(crate) handle: Handle,
}

impl Socket {
    /// Creates a socket in live mode, the default.
    pub(crate) fn new(settings: &Settings) -> io::Result<Self> {
        let api = api()?;
        // SAFETY: no preconditions after `srt_startup`.
        let handle = unsafe { (api.create)() };
        api.check(handle)?;
        let socket = Self { api, handle };
        socket.apply(settings)?;
        Ok(socket)
    }

    fn apply(&self, settings: &Settings) -> io::Result<()> {
        self.set(Choice::Latency, millis(settings.latency))?;
        self.set(Choice::ConnectTimeout, millis(settings.connect_timeout))?;
        self.set(Choice::IdleTimeout, millis(settings.idle_timeout))?;
        self.set(Choice::Payload, settings.payload as c_int)?;
        // A blocked sender would delay the other receivers; libsrt drops messages that are too late to be sent.
        self.set(Choice::SendBlocks, 0)?;
        if let Some(passphrase) = &settings.passphrase {
            self.set(Choice::KeyBytes, c_int::from(settings.key_bytes))?;
            self.set_bytes(Choice::Passphrase, passphrase.as_bytes())?;
        }
        Ok(())
    }

    /// Sets an option of type `int32_t` or `bool`, which libsrt also takes as an `int32_t`.
    pub(crate) fn set(&self, choice: Choice, value: c_int) -> io::Result<()> {
        self.set_bytes(choice, &value.to_ne_bytes())
    }

    pub(crate) fn set_bytes(&self, choice: Choice, value: &[u8]) -> io::Result<()> {
        let (data, length) = (value.as_ptr().cast::<c_void>(), value.len() as c_int);
        // SAFETY: libsrt copies `length` bytes during the call, and checks the handle.
        self.api.check(unsafe { (self.api.set_option)(self.handle, choice as c_int, data, length) }).map(drop)
    }

    /// Returns an option of type `int32_t`.
    pub(crate) fn get(&self, choice: Choice) -> io::Result<c_int> {
        let (mut value, mut length) = (0 as c_int, size_of::<c_int>() as c_int);
        let data = (&raw mut value).cast::<c_void>();
        // SAFETY: libsrt writes at most `length` bytes, during the call.
        self.api.check(unsafe { (self.api.option)(self.handle, choice as c_int, data, &raw mut length) })?;
        Ok(value)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and used nowhere else.
        unsafe { (self.api.close)(self.handle) };
    }
}

fn millis(time: Duration) -> c_int {
    c_int::try_from(time.as_millis()).unwrap_or(c_int::MAX)
}

/// `SRT_ERRNO` (`srt.h`).
const NO_SERVER: c_int = 1001;
const REJECTED: c_int = 1002;
const CONNECTION_FAILED: c_int = 2000;
const LOST: c_int = 2001;
const NOT_CONNECTED: c_int = 2002;
const SEND_WOULD_BLOCK: c_int = 6001;
const RECEIVE_WOULD_BLOCK: c_int = 6002;
const TIMED_OUT: c_int = 6003;

impl Api {
    /// Returns the result of a call, or this thread's error if it is negative (`SRT_ERROR`).
    pub(crate) fn check(&self, result: c_int) -> io::Result<c_int> {
        if result >= 0 { Ok(result) } else { Err(self.error()) }
    }

    fn error(&self) -> io::Error {
        let kind = match self.error_code() {
            (SEND_WOULD_BLOCK | RECEIVE_WOULD_BLOCK | TIMED_OUT, _) => io::ErrorKind::WouldBlock,
            (NO_SERVER, _) => io::ErrorKind::TimedOut,
            (REJECTED, _) => io::ErrorKind::ConnectionRefused,
            (LOST | NOT_CONNECTED | CONNECTION_FAILED, _) => io::ErrorKind::ConnectionReset,
            (_, errno) if errno > 0 => return io::Error::from_raw_os_error(errno),
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self.error_text())
    }

    /// Returns why the handshake of a socket failed.
    pub(crate) fn rejection(&self, handle: Handle) -> &'static str {
        // SAFETY: libsrt checks the handle.
        rejection(unsafe { (self.reject_reason)(handle) })
    }
}

/// `SRT_REJX_FORBIDDEN` and `SRT_REJX_CONFLICT` (`access_control.h`).
pub(crate) const FORBIDDEN: c_int = 1403;
pub(crate) const CONFLICT: c_int = 1409;

/// Explains a value of `SRT_REJECT_REASON` (`srt.h`) or of `access_control.h`.
pub(crate) fn rejection(reason: c_int) -> &'static str {
    match reason {
        10 => "another passphrase",
        11 => "a passphrase on one side only",
        12 | 13 => "SRT's file mode instead of its live mode",
        16 => "no answer",
        1401 | FORBIDDEN | 1404 => "another streamid",
        1402 | CONFLICT => "another connection has the stream",
        _ => "SRT's handshake failed",
    }
}
