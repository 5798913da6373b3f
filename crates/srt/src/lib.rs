//! SRT's live mode, through the system's libsrt 1.5 (MPL-2.0), which is loaded when it is first used.
//!
//! libsrt is the implementation that OBS, `FFmpeg` and cameras use, and distributions keep it patched; it is no dependency of those
//! who use no SRT. There is no maintained implementation in Rust with its encryption and retransmission.
#![expect(clippy::cast_possible_wrap, reason = "lengths are below 64 KiB; the interface has signed ones")]

mod connection;
mod gate;
mod library;
mod listener;
mod socket;

pub use connection::Connection;
pub use library::require;
pub use listener::Listener;
pub use socket::Settings;

/// The largest message of the live mode, in bytes (`SRT_LIVE_MAX_PLSIZE`).
pub const MAX_PAYLOAD: usize = 1456;
/// The usual size of messages: seven packets of a transport stream (`SRT_LIVE_DEF_PLSIZE`).
pub const DEFAULT_PAYLOAD: usize = 1316;
