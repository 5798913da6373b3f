//! Applications at the other end of a connection.

use super::World;
use crate::endpoint::Agent;
use crate::events::{Event, Kind};
use crate::ids::{EndpointId, FlowId, ListenerId};
use crate::observer::Observer;
use earlybird_traffic::{Listener, ListenerIo, Part, Playout};
use earlybird_units::Instant;

/// An application, and the endpoint at which it sits.
#[derive(Debug)]
pub(super) struct Seat {
    /// Away while it runs.
    listener: Option<Box<dyn Listener>>,
    flow: FlowId,
    /// The endpoint and its user: the place may have been given to another one.
    endpoint: Option<(EndpointId, u32)>,
    wake: Instant,
}

/// Numbers of wake-ups from here on are those of listeners.
pub(super) const FIRST_LISTENER: u32 = 1 << 31;

impl<O: Observer> World<O> {
    /// Lets an application read what a flow's first connection brings. It is woken when the opener opens.
    pub fn add_listener(&mut self, flow: FlowId, listener: Box<dyn Listener>) -> ListenerId {
        let id = ListenerId(self.listeners.len() as u32);
        self.listeners.push(Seat { listener: Some(listener), flow, endpoint: None, wake: Instant::NEVER });
        self.flows[flow.0 as usize].listener = Some(id);
        id
    }

    /// Gives a flow's listener its place if it has none yet.
    pub(super) fn seat_listener(&mut self, flow: FlowId, id: EndpointId) {
        let Some(listener) = self.flows[flow.0 as usize].listener else { return };
        let endpoint = &mut self.endpoints[id.0 as usize];
        let seat = &mut self.listeners[listener.0 as usize];
        if seat.endpoint.is_some() {
            return;
        }
        seat.endpoint = Some((id, endpoint.generation));
        endpoint.listener = Some(listener);
        self.endpoints[id.peer().0 as usize].ledger = Some(Box::default());
        self.wake_listener_at(listener, self.now.at);
    }

    fn wake_listener_at(&mut self, id: ListenerId, at: Instant) {
        let seat = &mut self.listeners[id.0 as usize];
        if seat.wake != at {
            seat.wake = at;
            self.events.push(Event::new(self.now.until(at), Kind::Wake, FIRST_LISTENER + id.0));
        }
    }

    pub(super) fn on_wake_listener(&mut self, id: ListenerId) {
        let seat = &mut self.listeners[id.0 as usize];
        if seat.wake != self.now.at {
            return;
        }
        seat.wake = Instant::NEVER;
        self.with_listener(id, |listener, io| listener.on_wake(io));
        if let Some(endpoint) = self.endpoint_of(id) {
            self.serve(endpoint);
        }
    }

    /// Lets an application act. Whoever calls serves its endpoint.
    pub(super) fn with_listener(&mut self, id: ListenerId, act: impl FnOnce(&mut dyn Listener, &mut dyn ListenerIo)) {
        let Some(mut listener) = self.listeners[id.0 as usize].listener.take() else {
            return;
        };
        act(&mut *listener, &mut SeatIo { world: self, id });
        self.listeners[id.0 as usize].listener = Some(listener);
    }

    /// Gives the endpoint at which a listener sits, while its connection lasts.
    fn endpoint_of(&self, id: ListenerId) -> Option<EndpointId> {
        let (endpoint, generation) = self.listeners[id.0 as usize].endpoint?;
        (self.endpoints[endpoint.0 as usize].generation == generation).then_some(endpoint)
    }

    /// Reads the next unit at this endpoint, or the next part of one.
    fn read_part(&mut self, id: EndpointId) -> Option<Part> {
        let mut ledger = self.endpoints[id.peer().0 as usize].ledger.take()?;
        let part = match &mut self.endpoints[id.0 as usize].agent {
            Agent::Tcp(connection) => ledger.read_stream(connection),
            Agent::Datagrams(_) => ledger.take_arrived(),
        };
        self.endpoints[id.peer().0 as usize].ledger = Some(ledger);
        part
    }
}

/// A listener's view of the world.
struct SeatIo<'a, O: Observer> {
    world: &'a mut World<O>,
    id: ListenerId,
}

impl<O: Observer> ListenerIo for SeatIo<'_, O> {
    fn now(&self) -> Instant {
        self.world.now.at
    }

    fn read_in_order(&mut self) -> Option<Part> {
        self.world.read_part(self.world.endpoint_of(self.id)?)
    }

    fn read(&mut self) -> Option<Part> {
        self.read_in_order()
    }

    fn write(&mut self, bytes: u64) {
        if let Some(id) = self.world.endpoint_of(self.id) {
            self.world.endpoints[id.0 as usize].agent.write(bytes);
        }
    }

    fn wake_at(&mut self, at: Instant) {
        self.world.wake_listener_at(self.id, at);
    }

    fn tell(&mut self, event: Playout) {
        let flow = self.world.listeners[self.id.0 as usize].flow;
        self.world.observer.on_playout(self.world.now.at, flow, event);
    }
}
