//! The TCP endpoint of earlybird: no clock, no threads, no IO.
//!
//! A [`Connection`] is told what happened – a segment arrived, time passed, the application wrote – and asked what to
//! do about it. Time is always an argument, so the same code runs in the simulator, over a TUN device and in tests.
//!
//! After any call that may change something – one that takes a [`Cx`], [`Connection::write`], [`Connection::read`],
//! [`Connection::shutdown`], [`Connection::abort`] –, drain [`Connection::poll_transmit`], then [`Connection::poll_event`],
//! then ask [`Connection::poll_timeout`] when to call [`Connection::on_timeout`].
//!
//! The connection holds no bytes. [`Transmit::data`] says which part of what was written a segment carries, [`Taken`] which
//! part of an arriving payload is to be kept, [`Connection::acknowledged`] what need not be kept any more. [`Ring`] and
//! [`Assembler`] keep the bytes for a driver that has no place of its own for them.
//!
//! ```
//! use earlybird_tcp::{Config, Connection, Cx};
//! use earlybird_units::{Instant, SeedTree};
//!
//! let (config, seeds, at) = (Config::rfc(), SeedTree::new(1), Instant::from_nanos);
//! let mut client = Connection::connect(&config, seeds.child("client"));
//! let mut server = Connection::listen(&config, seeds.child("server"));
//! client.write(100_000)?;
//! for round in 0..100 {
//!     let cx = &mut Cx { now: at(round * 10_000_000), trace: &mut () };
//!     while let Some(transmit) = client.poll_transmit(cx) {
//!         server.on_segment(cx, &transmit.segment);
//!     }
//!     while let Some(transmit) = server.poll_transmit(cx) {
//!         client.on_segment(cx, &transmit.segment);
//!     }
//!     server.read(u64::MAX);
//! }
//! assert_eq!(server.received(), 100_000);
//! # Ok::<(), earlybird_tcp::WriteError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod board;
mod config;
mod connection;
mod policy;
mod real_time;
mod receive;
mod send;
mod stream;
mod trace;

pub use config::Config;
pub use connection::{
    Connection, Event, FastOpenOffer, FastOpenOutcome, Identity, Refusals, RfcState, Taken, Transmit, reject,
};
pub use policy::acking::Acking;
pub use policy::backlog::{Backlog, SendLimit};
pub use policy::buffer::ReceiveBuffer;
pub use policy::choice::{Control, CustomControl, EcnMode, Recovery, Restart, RtoConfig, RtoRule, Trigger};
pub use policy::control::bbr::{BbrParameters, State as BbrState};
pub use policy::control::cubic::{CubicConfig, CubicCurve, CubicVersion};
pub use policy::control::factory::{ControlFactory, ControlSetup, MarkAnswer, Needs};
pub use policy::control::path::{LostSegment, PathModel, RateSample};
pub use policy::control::pert::{
    AlphaRule, Curve, CurveTail, IntervalHistory, LossFactor, MaxDelay, PertFlags, PiDesign, PiGains, alpha_target,
    early_response_share,
};
pub use policy::control::prague::PragueParameters;
pub use policy::control::reno::Halved;
pub use policy::control::slow_start::SlowStartRule;
pub use policy::control::tolerant::TolerantParameters;
pub use policy::control::vegas::VegasParameters;
pub use policy::control::{CongestionControl, Flight, Gauges, Handshake, Marks, Missing, Progress, Window};
pub use policy::delivery::Delivery;
pub use policy::recovery::counting::Rules;
pub use policy::recovery::newreno::NewRenoFlags;
pub use policy::recovery::rack::RackConfig;
pub use policy::reduction::WindowReduction;
pub use policy::rto::{CoarseEstimator, LinuxEstimator, Rfc6298Estimator, RtoEstimator};
pub use policy::spurious::{SpuriousDetection, Undo};
pub use policy::trigger::{AgeReference, DelayEstimator};
pub use policy::window_probe::WindowProbe;
pub use real_time::{Frame, RealTime, RealTimeStatistics, SkipResponse, WriteError};
pub use send::timer::TimerValue;
pub use stream::{Assembler, Ring};
pub use trace::{Cx, Statistics, Trace, TraceEvent};
