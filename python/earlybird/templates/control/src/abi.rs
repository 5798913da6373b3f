//! The C interface between earlybird and a congestion control, version 1. It is the same on both sides: not to be edited.

use std::ffi::{c_char, c_void};

/// The version of this interface. Another one is refused.
pub const VERSION: u32 = 1;

/// The settings of a connection.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Window to begin with, in segments: one if the SYN was lost.
    pub initial_window: f64,
    /// Largest allowed window in segments.
    pub largest_window: f64,
    /// Payload of a full segment in bytes.
    pub mss: f64,
    /// Seed for random numbers: equal for equal runs, different for each connection.
    pub seed: u64,
}

/// An event of a connection. Unknown numbers are NaN.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// One of [`ACK`], [`LOSS`], [`RTO`] and [`INTERVAL`].
    pub kind: u32,
    /// 1 if the application had less to send than the window allows.
    pub is_app_limited: u32,
    /// 1 if an ECN mark was echoed and no segment was lost.
    pub is_mark: u32,
    /// Time in seconds since the beginning of the run.
    pub now: f64,
    /// Segments newly delivered by the ACK, in order or not.
    pub acked: f64,
    /// Segments by which the ACK may grow the window in slow start (RFC 3465): zero in recovery, and if the window is not used.
    pub growth: f64,
    /// Round-trip time in seconds.
    pub rtt: f64,
    /// Segments sent and neither delivered nor lost; at a loss or timeout, those sent and not acknowledged.
    pub in_flight: f64,
    /// Delivery rate in segments per second (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
    pub delivery_rate: f64,
    /// Segments delivered so far.
    pub delivered: f64,
    /// Segments found lost since the ACK before.
    pub lost: f64,
}

/// An ACK that delivered segments.
pub const ACK: u32 = 1;
/// A recovery begins, or an ECN mark was echoed: once per window of data.
pub const LOSS: u32 = 2;
/// The retransmission timer expired.
pub const RTO: u32 = 3;
/// A round trip ended: the first segment that was sent in it is delivered. The ACK follows.
pub const INTERVAL: u32 = 4;

/// The decision of a control.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Pacing rate in segments per second; [`NO_RATE`] while it is unknown.
    pub pacing_rate: f64,
}

/// No pacing rate yet.
pub const NO_RATE: f64 = -1.0;

/// The text of a panic.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Number of bytes.
    pub length: u32,
    /// UTF-8.
    pub bytes: [u8; 252],
}

/// The functions of a library.
#[repr(C)]
pub struct Table {
    /// [`VERSION`]; first in every version.
    pub version: u32,
    /// 1 if it sets a pacing rate.
    pub is_paced: u32,
    /// Its name, ended by NUL.
    pub name: *const c_char,
    /// Description in one line, ended by NUL.
    pub title: *const c_char,
    /// Makes the control of a connection; null after a panic.
    pub create: unsafe extern "C" fn(*const Setup, *mut Output, *mut Message) -> *mut c_void,
    /// Handles an event; returns 0, or 1 after a panic.
    pub handle: unsafe extern "C" fn(*mut c_void, *const Event, *mut Output, *mut Message) -> u32,
    /// Drops the control of a connection.
    pub destroy: unsafe extern "C" fn(*mut c_void),
}
