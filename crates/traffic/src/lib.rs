//! Applications: sources of data, and viewers.
//!
//! An application uses only [`SenderIo`] or [`ReceiverIo`], so the same one can drive the simulator and a
//! real network.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bulk;
mod host;
mod ingest;
mod media;
mod receiver;
mod segments;
mod timetable;
mod transfer;
mod unit_map;
mod viewer;
mod web;

pub use bulk::Bulk;
pub use host::{AppHost, AppTable, ReceiverId, SenderId, with_receiver, with_sender};
pub use ingest::{Content, DropThresholds, Encoding, Film, Ingest, Packet, Picture, Relief};
pub use media::Media;
pub use receiver::{Completion, Part, Playout, ReceiverApp, ReceiverIo, Reception, cut};
pub use segments::{Bola, Ladder, LearnToAdapt, Outlook, Player, RateRule, Request, SegmentServer, Throughput};
pub use timetable::{Frame, Timetable};
pub use transfer::{Transfer, TransferKind};
pub use unit_map::UnitMap;
pub use viewer::{
    AdaptiveDelay, Deadline, Feedback, PlaybackDelay, Rebuffer, SegmentClient, StartRule, Viewer,
    minimum_playback_delay,
};
pub use web::{Browser, Exchange, HttpSimple, Mah, Pages, Persistence, Sites, Surge, WebParameters, WebSession};

use core::fmt::Debug;
use earlybird_units::{Duration, Instant};

/// Identifies a flow: one application with all its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// A connection that an application opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionId(pub u32);

/// A pair of hosts and the direction in which connections are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathId(pub u32);

/// The calls of a sender application.
pub trait SenderIo {
    /// Returns the time.
    fn now(&self) -> Instant;
    /// Opens a connection along a path.
    fn open(&mut self, path: PathId) -> ConnectionId;
    /// Writes bytes at the opener.
    fn write(&mut self, connection: ConnectionId, bytes: u64);
    /// Queues one unit of media – a packet or frame – whose delivery is judged against its time of writing. A transport
    /// that frames cuts it into frames of one segment each (see [`cut`]), which are abandoned together.
    fn write_unit(&mut self, connection: ConnectionId, bytes: u64) {
        self.write_unit_created(connection, bytes, self.now());
    }
    /// The same for a unit that was created earlier: its delay counts from `created`.
    fn write_unit_created(&mut self, connection: ConnectionId, bytes: u64, created: Instant);
    /// Returns whether written data waits for room in the send buffer: a blocking write would not have returned yet.
    fn is_blocked(&self, connection: ConnectionId) -> bool;
    /// Reports an event to the observer.
    fn report(&mut self, event: Encoding);
    /// Reports a transfer that is complete.
    fn complete(&mut self, _transfer: Transfer) {}
    /// Closes a connection whose data are all acknowledged.
    fn close(&mut self, connection: ConnectionId);
    /// Sets the wake-up time. It replaces an earlier one.
    fn wake_at(&mut self, at: Instant);
    /// The same for a time in seconds since the start of the run. Its part below a nanosecond may break ties
    /// in the simulator.
    fn wake_at_seconds(&mut self, seconds: f64) {
        self.wake_at(Instant::ZERO + Duration::from_secs_f64(seconds));
    }
    /// The same for a unit that may be abandoned while some of it waits for room in the send buffer.
    fn write_abandonable_unit(&mut self, connection: ConnectionId, bytes: u64, created: Instant) {
        self.write_unit_created(connection, bytes, created);
    }
    /// Abandons the unit that was written last: what waits of it for room in the send buffer is not sent.
    fn abandon_unit(&mut self, _connection: ConnectionId) {}
    /// Returns the largest payload of a segment in bytes.
    fn mss(&self) -> u64;
}

/// An application that sends.
pub trait SenderApp: Debug + Send {
    /// Called at the start, and then at the times set by [`SenderIo::wake_at`].
    fn on_wake(&mut self, io: &mut dyn SenderIo);
    /// Called when all data of a connection is acknowledged.
    fn on_drained(&mut self, _io: &mut dyn SenderIo, _connection: ConnectionId) {}
    /// Called when the send buffer has taken all data that waited.
    fn on_writable(&mut self, _io: &mut dyn SenderIo, _connection: ConnectionId) {}
    /// Called for each request of the other end.
    fn on_request(&mut self, _io: &mut dyn SenderIo, _connection: ConnectionId, _request: Request) {}
}
