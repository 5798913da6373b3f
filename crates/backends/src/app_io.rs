//! The runtime as the host of applications.

use crate::app_runtime::AppRuntime;
use crate::hosts::Hosts;
use earlybird_sim::{FlowId, Observer};
use earlybird_traffic::{
    AppHost, AppTable, ConnectionId, Encoding, Part, PathId, Playout, ReceiverId, SenderId, Transfer,
};
use earlybird_units::Instant;

/// The connection of a sender whose `open` failed. Calls with it do nothing, and the run ends with the error.
const NO_CONNECTION: ConnectionId = ConnectionId(u32::MAX);

impl<H: Hosts> AppRuntime<H> {
    fn connection_of(&self, receiver: ReceiverId) -> Option<ConnectionId> {
        self.apps.connection_of(receiver).map(|(connection, _)| connection)
    }
}

impl<H: Hosts> AppHost for AppRuntime<H> {
    fn apps(&self) -> &AppTable {
        &self.apps
    }

    fn apps_mut(&mut self) -> &mut AppTable {
        &mut self.apps
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn mss(&self, flow: FlowId) -> u64 {
        self.flows[flow.0 as usize].mss
    }

    fn open(&mut self, sender: SenderId, _: PathId) -> ConnectionId {
        // An application cannot handle the error: it is kept for the loop in `run`.
        self.open_connection(sender).unwrap_or_else(|error| {
            self.failure = Some(error);
            NO_CONNECTION
        })
    }

    fn write(&mut self, connection: ConnectionId, bytes: u64) {
        self.write_stream(connection, bytes);
    }

    fn write_unit(&mut self, flow: FlowId, connection: ConnectionId, bytes: u64, created: Instant) {
        self.write_unit_at(flow, connection, bytes, created);
    }

    fn is_blocked(&self, _: ConnectionId) -> bool {
        // Only `ingest` asks, and scenarios with it are refused: see `unsupported`.
        false
    }

    fn close(&mut self, connection: ConnectionId) {
        let Some(state) = self.connections.get_mut(connection.0 as usize) else { return };
        state.is_closing = true;
        self.flush(connection);
    }

    fn read_part(&mut self, receiver: ReceiverId, may_skip: bool) -> Option<Part> {
        self.read_unit_part(self.connection_of(receiver)?, may_skip)
    }

    fn peek_part(&self, receiver: ReceiverId) -> Option<Part> {
        self.hosts.peek_frame(self.connection_of(receiver)?)
    }

    fn received(&self, receiver: ReceiverId) -> u64 {
        self.connection_of(receiver).map_or(0, |connection| self.hosts.received(connection))
    }

    fn reply(&mut self, receiver: ReceiverId, bytes: u64, _number: u64) {
        if let Some(connection) = self.connection_of(receiver) {
            self.hosts.reply(connection, bytes);
        }
    }

    fn is_connected(&self, receiver: ReceiverId) -> bool {
        self.connection_of(receiver).is_some()
    }

    fn on_encoding(&mut self, at: Instant, flow: FlowId, event: Encoding) {
        self.recorder.on_encoding(at, flow, event);
    }

    fn on_transfer(&mut self, at: Instant, flow: FlowId, transfer: Transfer) {
        self.recorder.on_transfer(at, flow, transfer);
    }

    fn on_playout(&mut self, flow: FlowId, event: Playout) {
        self.recorder.on_playout(self.clock.now(), flow, event);
    }
}
