//! What applications can do in a world.

use super::World;
use crate::endpoint::Endpoint;
use crate::events::{Event, Kind};
use crate::ids::{AppId, EndpointId};
use crate::moment::Moment;
use crate::observer::Observer;
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

    fn wake_at_moment(&mut self, moment: Moment) {
        self.world.apps[self.app.0 as usize].wake = moment.at;
        self.world.transit.events.appoint(Event::new(moment, Kind::Wake, self.app.0));
    }

    fn endpoint(&mut self, id: ConnectionId) -> &mut Endpoint {
        &mut self.world.endpoints[id.0 as usize * 2]
    }
}

impl<O: Observer> Io for AppIo<'_, O> {
    fn now(&self) -> Instant {
        self.world.transit.now.at
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
        self.world.note_units(flow);
        self.world.transit.observer.on_unit(made, flow, bytes);
    }

    fn is_blocked(&self, connection: ConnectionId) -> bool {
        self.world.endpoints[connection.0 as usize * 2].unwritten > 0
    }

    fn tell(&mut self, event: Encoding) {
        let flow = self.world.apps[self.app.0 as usize].flow;
        self.world.transit.observer.on_encoding(self.world.transit.now.at, flow, event);
    }

    fn close(&mut self, connection: ConnectionId) {
        self.touched = Some(connection);
        self.world.close(connection);
    }

    fn wake_at(&mut self, at: Instant) {
        self.wake_at_moment(self.world.transit.now.until(at));
    }

    fn wake_at_seconds(&mut self, seconds: f64) {
        self.wake_at_moment(Moment::at_seconds(seconds));
    }

    fn mss(&self) -> u64 {
        let flow = self.world.apps[self.app.0 as usize].flow;
        u64::from(self.world.flows[flow.0 as usize].carrier.mss())
    }
}
