//! The simulator as the host of applications.

use super::World;
use crate::agent::Agent;
use crate::endpoint::{Endpoint, Reader};
use crate::events::{EventKind, SimEvent};
use crate::ids::EndpointId;
use crate::observer::Observer;
use crate::timestamp::Timestamp;
use crate::unit_io::UnitIo;
use earlybird_traffic::{
    AppHost, AppTable, ConnectionId, Encoding, FlowId, Part, PathId, Playout, ReceiverId, SenderId, Transfer,
};
use earlybird_units::Instant;

impl<O: Observer> World<O> {
    fn schedule_wake(&mut self, timestamp: Timestamp, number: u32) {
        self.forwarder.events.schedule(SimEvent::new(timestamp, EventKind::Wake, number));
    }

    fn opener_mut(&mut self, id: ConnectionId) -> &mut Endpoint {
        &mut self.endpoints[id.0 as usize * 2]
    }
}

/// Wake-up events with numbers from here on are those of receivers, smaller ones those of senders.
pub(super) const FIRST_RECEIVER: u32 = 1 << 31;

impl<O: Observer> AppHost for World<O> {
    #[inline]
    fn apps(&self) -> &AppTable {
        &self.apps
    }

    #[inline]
    fn apps_mut(&mut self) -> &mut AppTable {
        &mut self.apps
    }

    fn now(&self) -> Instant {
        self.forwarder.now.at
    }

    fn mss(&self, flow: FlowId) -> u64 {
        u64::from(self.flows[flow.0 as usize].carrier.mss())
    }

    fn open(&mut self, sender: SenderId, path: PathId) -> ConnectionId {
        self.open_connection(sender, path)
    }

    fn write(&mut self, connection: ConnectionId, bytes: u64) {
        let endpoint = self.opener_mut(connection);
        endpoint.unwritten += endpoint.agent.write(bytes);
    }

    fn write_unit(&mut self, flow: FlowId, connection: ConnectionId, bytes: u64, created: Instant) {
        self.write_unit_at(EndpointId(connection.0 * 2), bytes);
        // Only from the first unit on: flows without units report no deliveries.
        self.enable_delivery_reports(flow);
        self.forwarder.observer.on_unit(created, flow, bytes);
    }

    fn is_blocked(&self, connection: ConnectionId) -> bool {
        self.endpoints[connection.0 as usize * 2].unwritten > 0
    }

    fn write_abandonable_unit(&mut self, flow: FlowId, connection: ConnectionId, bytes: u64, created: Instant) {
        let endpoint = self.opener_mut(connection);
        match (&endpoint.agent, &mut endpoint.unit_io) {
            // A stream of TCP takes it in frames; other transports whole.
            (Agent::Tcp(_), Some(unit_io)) if unit_io.is_plain() => {
                unit_io.push_in_frames(bytes);
                endpoint.unwritten += bytes;
                endpoint.write_in_frames();
                self.enable_delivery_reports(flow);
                self.forwarder.observer.on_unit(created, flow, bytes);
            }
            _ => self.write_unit(flow, connection, bytes, created),
        }
    }

    fn abandon_unit(&mut self, flow: FlowId, connection: ConnectionId) {
        let endpoint = self.opener_mut(connection);
        let unsent = std::mem::take(&mut endpoint.unwritten);
        if let Some(unit_io) = &mut endpoint.unit_io {
            unit_io.shorten(unsent);
        }
        self.forwarder.observer.on_abandoned(flow, unsent);
    }

    fn close(&mut self, connection: ConnectionId) {
        self.close_connection(connection);
    }

    fn schedule_sender(&mut self, id: SenderId, at: Instant) {
        self.schedule_wake(self.forwarder.now.until(at), id.0);
    }

    fn schedule_sender_at_seconds(&mut self, id: SenderId, seconds: f64) {
        // The full precision decides ties with packets as ns-2's clock does.
        self.schedule_wake(Timestamp::from_seconds(seconds), id.0);
    }

    fn schedule_receiver(&mut self, id: ReceiverId, at: Instant) {
        self.schedule_wake(self.forwarder.now.until(at), FIRST_RECEIVER + id.0);
    }

    fn read_part(&mut self, receiver: ReceiverId, may_skip: bool) -> Option<Part> {
        self.read_unit_part(self.endpoint_of(receiver)?, may_skip)
    }

    fn peek_part(&self, receiver: ReceiverId) -> Option<Part> {
        let id = self.endpoint_of(receiver)?;
        let unit_io = self.endpoints[id.peer().0 as usize].unit_io.as_ref()?;
        unit_io.peek(&self.endpoints[id.0 as usize].agent)
    }

    fn received(&self, receiver: ReceiverId) -> u64 {
        self.endpoint_of(receiver).map_or(0, |id| self.endpoints[id.0 as usize].agent.received())
    }

    fn position(&self, receiver: ReceiverId) -> u64 {
        let opener = self.endpoint_of(receiver).map(|id| &self.endpoints[id.peer().0 as usize]);
        opener.and_then(|opener| opener.unit_io.as_deref()).map_or(0, UnitIo::position)
    }

    fn reply(&mut self, receiver: ReceiverId, bytes: u64, number: u64) {
        if let Some(id) = self.endpoint_of(receiver) {
            self.write_message(id, bytes, number);
        }
    }

    fn is_connected(&self, receiver: ReceiverId) -> bool {
        self.endpoint_of(receiver).is_some()
    }

    fn enable_requests(&mut self, receiver: ReceiverId) -> bool {
        let Some(id) = self.endpoint_of(receiver) else { return false };
        let opener = &mut self.endpoints[id.peer().0 as usize];
        (opener.reader, opener.auto_read) = (Reader::Requests(receiver), false);
        true
    }

    fn on_encoding(&mut self, at: Instant, flow: FlowId, event: Encoding) {
        self.forwarder.observer.on_encoding(at, flow, event);
    }

    fn on_transfer(&mut self, at: Instant, flow: FlowId, transfer: Transfer) {
        self.forwarder.observer.on_transfer(at, flow, transfer);
    }

    fn on_playout(&mut self, flow: FlowId, event: Playout) {
        self.forwarder.observer.on_playout(self.forwarder.now.at, flow, event);
    }
}
