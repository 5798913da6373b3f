#![doc = include_str!("../README.md")]
//!
//! # Who calls what, and when
//!
//! A *driver* has what a [`Connection`] has not: the device, the clock, the bytes, the other connections. Time is an argument of
//! its calls ([`Cx`]) and never goes back. The driver tells what happened:
//!
//! | what happened | call | and with the bytes |
//! |---|---|---|
//! | a segment came for this connection | [`Connection::on_segment`] | keep what [`AcceptedRange`] names, nothing else: [`Assembler::put`]; what is [acknowledged](Connection::acknowledged) is needed no more: [`Ring::forget_below`] |
//! | a router reports on a segment that was sent | [`Connection::on_path_mtu`], [`Connection::on_unreachable`] | |
//! | the time has come that [`Connection::poll_timeout`] named | [`Connection::on_timeout`] | |
//! | the application writes | [`Connection::write`] | no more than [`Connection::room`], then [`Ring::append`]; [`BufferConfig::send`] is as large as the ring |
//! | it changes its mind about when short segments leave | [`Connection::set_nagle`], [`Connection::cork`], [`Connection::end_record`] | |
//! | the application reads | [`Connection::read`], which opens the window again | [`Assembler::read`] |
//! | it has no more to write, or no more interest, or gives up | [`Connection::shutdown`], [`Connection::close`], [`Connection::abort`] | |
//!
//! and then asks, in this order, after any of them:
//!
//! 1. [`Connection::poll_transmit`] until there is nothing more: each [`Transmit`] is a segment, and names the part of the written
//!    bytes that it carries ([`Ring::slices`]);
//! 2. [`Connection::poll_event`] until there is nothing more;
//! 3. [`Connection::poll_timeout`]: when to come back if nothing happens before. The answer may be another after every call.
//!
//! Several segments may be handed over before asking. They are then acknowledged together, with fewer ACKs than one by one.
//!
//! What a connection leaves to its driver:
//!
//! * whether the bytes of a packet are a sound segment, and whose: `earlybird_wire::parse`, and a table of addresses;
//! * numbers that strangers cannot guess ([`Identity`], RFC 6528): [`Connection::connect_as`] and [`Connection::listen_as`]. The
//!   plain constructors draw theirs from a seed, for simulations;
//! * the largest segment that the path takes, [`SegmentConfig::mss`]: [`IpVersion::mss_within`] gives it. Options take their room from it
//!   where [`SegmentConfig::segmentation`] is [`Segmentation::Real`]; simulations mean payload by it;
//! * a place for what arrives, as large as the connection believes: [`ReceiveBuffer::Fixed`] says how large that is.
//!
//! A connection ends when both sides have closed, by a reset, or by itself when its peer is silent for longer than its
//! [`Lifetimes`]; an event tells, and [`Connection::ending`] does later. [`Event::TimeWaitReused`] says that the segment just given opens
//! a new connection between the same ends. What came and was not believed is counted in [`Connection::drop_counters`]; it is answered
//! no more often than [`AckConfig::challenge_interval`] says. That all connections together do not answer too often, resets
//! by [`reject`] among them, is for the driver.
//!
//! With frames ([`RealTime::framing`]) one write is one segment: [`Connection::write_frame`], [`Connection::read_frame`], and
//! [`Transmit::frame`] in place of [`Transmit::data`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod config;
mod connection;
mod listen;
mod policy;
mod real_time;
mod receive;
mod scoreboard;
mod send;
mod stream;
mod trace;

pub use config::Config;
pub use config::check::ConfigError;
pub use config::groups::{
    AckConfig, BufferConfig, Dsack, GrowthConfig, IdleRto, InitialSsthresh, RecoveryConfig, SegmentConfig, TimerConfig,
    TimestampConfig, WindowConfig,
};
pub use connection::{
    AcceptedRange, Connection, DropCounters, Ending, Event, FastOpenOffer, FastOpenOutcome, Identity, RfcState,
    SegmentMeta, Transmit, reject,
};
pub use listen::{FastOpenServer, ListenConfig, ListenStatistics, Listener, Opened, Response, SynCookies};
pub use policy::acking::Acking;
pub use policy::backlog::{Backlog, SendLimit};
pub use policy::buffer::ReceiveBuffer;
pub use policy::control::bbr::State as BbrState;
pub use policy::control::cubic::{CubicCurve, CubicVersion};
pub use policy::control::factory::{ControlFactory, ControlSetup, MarkAnswer, Needs};
pub use policy::control::parameters::*;
pub use policy::control::path::{LostSegment, PathModel, RateSample};
pub use policy::control::pert::{
    AlphaRule, Curve, CurveTail, IntervalHistory, LossFactor, MaxDelay, PiDesign, PiGains, alpha_target,
    early_response_share,
};
pub use policy::control::registry::CustomControl;
pub use policy::control::reno::Halved;
pub use policy::control::slow_start::SlowStartRule;
pub use policy::control::{CongestionControl, Control, Flight, Gauges, Handshake, Marks, Missing, Progress, Window};
pub use policy::delivery::Delivery;
pub use policy::dupthresh::{AgeReference, DelayEstimator, Dupthresh};
pub use policy::ecn::EcnMode;
pub use policy::lifetimes::{KeepAlive, Lifetimes};
pub use policy::recovery::choice::Recovery;
pub use policy::recovery::dupack_common::RecoveryRules;
pub use policy::recovery::newreno::NewRenoFlags;
pub use policy::recovery::rack::RackConfig;
pub use policy::reduction::WindowReduction;
pub use policy::rto::{
    CoarseEstimator, LinuxEstimator, Rfc6298Estimator, RtoConfig, RtoEstimator, RtoRestart, RtoRule,
};
pub use policy::segmentation::{IpVersion, Segmentation};
pub use policy::spurious::{SpuriousDetection, Undo};
pub use policy::window_probe::WindowProbe;
pub use real_time::{Frame, RealTime, RealTimeStatistics, SkipResponse, WriteError};
pub use send::account::busy_time::LimitedTimes;
pub use send::loss::timer::TimerValue;
pub use stream::{Assembler, Ring};
pub use trace::{Cx, Statistics, Trace, TraceEvent};
