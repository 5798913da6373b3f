#![doc = include_str!("../README.md")]
//!
//! # Who calls what, and when
//!
//! A *driver* provides what a [`Connection`] does not have: the device, the clock, the bytes, the other connections. Time is an
//! argument of its calls ([`Cx`]) and never decreases. The driver reports each event:
//!
//! | event | call | bytes |
//! |---|---|---|
//! | a segment arrives for this connection | [`Connection::on_segment`] | store the [`AcceptedRange`] and nothing else: [`Assembler::put`]; drop what is [acknowledged](Connection::acknowledged): [`Ring::forget_below`] |
//! | an ICMP error arrives for a segment that was sent | [`Connection::on_path_mtu`], [`Connection::on_unreachable`] | |
//! | the time of [`Connection::poll_timeout`] is reached | [`Connection::on_timeout`] | |
//! | the application writes | [`Connection::write`] | at most [`Connection::room`], then [`Ring::append`]; [`BufferConfig::send`] equals the capacity of the ring |
//! | the application changes when short segments are sent | [`Connection::set_nagle`], [`Connection::cork`], [`Connection::end_record`] | |
//! | the application reads | [`Connection::read`], which opens the window | [`Assembler::read`] |
//! | the application closes its side, both sides, or resets | [`Connection::shutdown`], [`Connection::close`], [`Connection::abort`] | |
//!
//! After each event it calls, in this order:
//!
//! 1. [`Connection::poll_transmit`] until it returns `None`: each [`Transmit`] is a segment with the range of the written bytes that it
//!    carries ([`Ring::slices`]);
//! 2. [`Connection::poll_event`] until it returns `None`;
//! 3. [`Connection::poll_timeout`]: the time of the next [`Connection::on_timeout`]. It may change with every call.
//!
//! Several segments may be passed before these calls. They are then acknowledged together, with fewer ACKs.
//!
//! A driver is also responsible for
//!
//! * the bytes of packets: `earlybird_wire::parse` validates a segment, and a table of addresses finds its connection;
//! * unpredictable sequence numbers ([`Identity`], RFC 6528): [`Connection::connect_as`] and [`Connection::listen_as`]. The plain
//!   constructors draw them from a seed, for simulations;
//! * the MSS of the path, [`SegmentConfig::mss`]: see [`IpVersion::mss_within`]. With [`Segmentation::Real`] it includes options; in
//!   simulations it is payload;
//! * a receive buffer of the size that the connection assumes: see [`ReceiveBuffer::Fixed`];
//! * a limit for the answers of all connections together, resets by [`reject`] included.
//!
//! A connection ends when both sides have closed, by a reset, or when its peer does not answer within its [`Lifetimes`]. An event
//! reports the end, and [`Connection::ending`] returns it later. [`Event::TimeWaitReused`] means that the last segment opens a new
//! connection between the same endpoints. [`Connection::drop_counters`] counts segments that were not accepted; they are answered at
//! most once per [`AckConfig::challenge_interval`].
//!
//! With frames ([`RealTime::framing`]) one write is one segment: use [`Connection::write_frame`], [`Connection::read_frame`], and
//! [`Transmit::frame`] instead of [`Transmit::data`].
//!
//! # Where to find what
//!
//! | concern | module |
//! |---|---|
//! | settings, profiles, compatibility | `config` |
//! | handshake, states, arrival and emission of segments | `connection` |
//! | many connections at one port, SYN cookies, Fast Open | `listen` |
//! | send buffer, loss recovery, timers, rate | `send` |
//! | reassembly, advertised window, ACKs, skipping | `receive` |
//! | what is outstanding, `SACKed`, lost | `scoreboard` |
//! | exchangeable algorithms: controls, recovery, RTO, ACK policies | `policy` |
//! | bytes of the stream, for drivers | `stream` |
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
pub use policy::backlog::{Backlog, SendBufferLimit};
pub use policy::buffer::ReceiveBuffer;
pub use policy::control::bbr::State as BbrState;
pub use policy::control::cubic::{CubicCurve, CubicVersion};
pub use policy::control::factory::{ControlFactory, ControlSetup, Halved, MarkAnswer, Needs};
pub use policy::control::parameters::*;
pub use policy::control::path::{LostSegment, PathModel, RateSample, SamplingRules};
pub use policy::control::pert::{
    AlphaRule, Curve, CurveTail, IntervalHistory, LossFactor, MaxDelay, PiDesign, PiGains, alpha_target,
    early_response_share,
};
pub use policy::control::registry::CustomControl;
pub use policy::control::slow_start::SlowStartRule;
pub use policy::control::{CongestionControl, Control, Flight, Gauges, Handshake, Marks, Progress, Window};
pub use policy::delivery::Delivery;
pub use policy::dupthresh::{AgeReference, DelayEstimator, Dupthresh};
pub use policy::ecn::EcnMode;
pub use policy::lifetimes::{KeepAlive, Lifetimes};
pub use policy::recovery::LostSegmentInfo;
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
pub use send::counters::busy_time::LimitedTimes;
pub use send::loss::timer::TimerValue;
pub use stream::{Assembler, Ring};
pub use trace::{Cx, RttSample, Statistics, Trace, TraceEvent};
