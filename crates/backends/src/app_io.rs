//! What applications can do in real time.

use crate::app_runtime::AppRuntime;
use crate::hosts::Hosts;
use earlybird_sim::{FlowId, Observer};
use earlybird_traffic::{ConnectionId, Encoding, Io, ListenerIo, Part, PathId, Playout};
use earlybird_units::Instant;

/// A source's view of a run.
pub(crate) struct RuntimeSenderIo<'a, H: Hosts> {
    pub(crate) runtime: &'a mut AppRuntime<H>,
    pub(crate) sender: usize,
    /// When it was to act.
    pub(crate) now: Instant,
}

/// What a source holds whose connection the system refused: nothing comes of it, and the run ends.
const NO_CONNECTION: ConnectionId = ConnectionId(u32::MAX);

impl<H: Hosts> Io for RuntimeSenderIo<'_, H> {
    fn now(&self) -> Instant {
        self.now
    }

    fn open(&mut self, _: PathId) -> ConnectionId {
        self.runtime.open(self.sender).unwrap_or_else(|error| {
            self.runtime.failure = Some(error);
            NO_CONNECTION
        })
    }

    fn write(&mut self, connection: ConnectionId, bytes: u64) {
        self.runtime.write(connection, bytes);
    }

    fn write_unit_made(&mut self, connection: ConnectionId, bytes: u64, made: Instant) {
        self.runtime.write_unit(made, connection, bytes);
    }

    /// What waits for room is not asked for here: the applications that ask are refused.
    fn is_blocked(&self, _: ConnectionId) -> bool {
        false
    }

    fn tell(&mut self, event: Encoding) {
        let flow = self.runtime.senders[self.sender].flow;
        self.runtime.recorder.on_encoding(self.now, FlowId(flow as u32), event);
    }

    fn close(&mut self, connection: ConnectionId) {
        let Some(state) = self.runtime.connections.get_mut(connection.0 as usize) else { return };
        state.is_closing = true;
        self.runtime.flush(connection);
    }

    fn wake_at(&mut self, at: Instant) {
        self.runtime.senders[self.sender].wake = at;
    }

    fn mss(&self) -> u64 {
        self.runtime.flows[self.runtime.senders[self.sender].flow].mss
    }
}

/// A viewer's view of a run.
pub(crate) struct RuntimeReceiverIo<'a, H: Hosts> {
    pub(crate) runtime: &'a mut AppRuntime<H>,
    pub(crate) receiver: usize,
}

impl<H: Hosts> RuntimeReceiverIo<'_, H> {
    fn connection(&self) -> Option<ConnectionId> {
        self.runtime.receivers[self.receiver].connection
    }
}

impl<H: Hosts> ListenerIo for RuntimeReceiverIo<'_, H> {
    fn now(&self) -> Instant {
        self.runtime.clock.now()
    }

    fn read_in_order(&mut self) -> Option<Part> {
        self.runtime.read_part(self.connection()?, false)
    }

    fn read(&mut self) -> Option<Part> {
        self.runtime.read_part(self.connection()?, true)
    }

    fn peek(&self) -> Option<Part> {
        self.runtime.hosts.peek_frame(self.connection()?)
    }

    fn write(&mut self, bytes: u64) {
        if let Some(id) = self.connection() {
            self.runtime.hosts.reply(id, bytes);
        }
    }

    fn wake_at(&mut self, at: Instant) {
        self.runtime.receivers[self.receiver].wake = at;
    }

    fn tell(&mut self, event: Playout) {
        let flow = self.runtime.receivers[self.receiver].flow;
        self.runtime.recorder.on_playout(self.runtime.clock.now(), FlowId(flow as u32), event);
    }
}
