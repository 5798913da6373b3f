//! What applications can do in a world.

use super::World;
use crate::endpoint::Endpoint;
use crate::events::{EventKind, SimEvent};
use crate::ids::{AppId, EndpointId};
use crate::observer::Observer;
use crate::timestamp::Timestamp;
use earlybird_traffic::{ConnectionId, Encoding, Io, PathId};
use earlybird_units::Instant;

/// An application's view of the world.
pub(super) struct AppIo<'a, O: Observer> {
    world: &'a mut World<O>,
    app: AppId,
    /// The connection last written to, opened or closed. Applications touch one at a time.
    touched: Option<ConnectionId>,
}

impl<'a, O: Observer> AppIo<'a, O> {
    pub(super) fn new(world: &'a mut World<O>, app: AppId) -> Self {
        Self { world, app, touched: None }
    }

    pub(super) fn touched(&self) -> Option<ConnectionId> {
        self.touched
    }

    fn wake_at_timestamp(&mut self, timestamp: Timestamp) {
        self.world.apps[self.app.0 as usize].wake = timestamp.at;
        self.world.forwarder.events.schedule(SimEvent::new(timestamp, EventKind::Wake, self.app.0));
    }

    fn endpoint(&mut self, id: ConnectionId) -> &mut Endpoint {
        &mut self.world.endpoints[id.0 as usize * 2]
    }
}

impl<O: Observer> Io for AppIo<'_, O> {
    fn now(&self) -> Instant {
        self.world.forwarder.now.at
    }

    fn open(&mut self, path: PathId) -> ConnectionId {
        let id = self.world.open(self.app, path);
        self.touched = Some(id);
        id
    }

    fn write(&mut self, connection: ConnectionId, bytes: u64) {
        self.touched = Some(connection);
        let endpoint = self.endpoint(connection);
        endpoint.unwritten += endpoint.agent.write(bytes);
    }

    fn write_unit_made(&mut self, connection: ConnectionId, bytes: u64, made: Instant) {
        self.touched = Some(connection);
        self.world.write_unit(EndpointId(connection.0 * 2), bytes);
        let flow = self.world.apps[self.app.0 as usize].flow;
        self.world.enable_delivery_reports(flow);
        self.world.forwarder.observer.on_unit(made, flow, bytes);
    }

    fn is_blocked(&self, connection: ConnectionId) -> bool {
        self.world.endpoints[connection.0 as usize * 2].unwritten > 0
    }

    fn tell(&mut self, event: Encoding) {
        let flow = self.world.apps[self.app.0 as usize].flow;
        self.world.forwarder.observer.on_encoding(self.world.forwarder.now.at, flow, event);
    }

    fn close(&mut self, connection: ConnectionId) {
        self.touched = Some(connection);
        self.world.close(connection);
    }

    fn wake_at(&mut self, at: Instant) {
        self.wake_at_timestamp(self.world.forwarder.now.until(at));
    }

    fn wake_at_seconds(&mut self, seconds: f64) {
        self.wake_at_timestamp(Timestamp::from_seconds(seconds));
    }

    fn mss(&self) -> u64 {
        let flow = self.world.apps[self.app.0 as usize].flow;
        u64::from(self.world.flows[flow.0 as usize].carrier.mss())
    }
}
