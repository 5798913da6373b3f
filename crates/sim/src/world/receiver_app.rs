//! Applications at the other end of a connection.

use super::World;
use super::endpoint_io::Tracer;
use crate::endpoint::{Agent, Carrier, Endpoint, Reader};
use crate::events::{EventKind, SimEvent};
use crate::ids::{EndpointId, FlowId, ListenerId};
use crate::observer::Observer;
use crate::unit_map::UnitMap;
use earlybird_tcp::{Cx, WriteError};
use earlybird_traffic::{ConnectionId, Listener, ListenerIo, Part, Playout, Request};
use earlybird_units::Instant;
use std::collections::VecDeque;

/// An application, and the endpoint at which it sits.
#[derive(Debug)]
pub(super) struct Seat {
    /// Away while it runs.
    listener: Option<Box<dyn Listener>>,
    flow: FlowId,
    /// The endpoint and its user: the place may have been given to another one.
    endpoint: Option<(EndpointId, u32)>,
    wake: Instant,
    /// Messages sent back.
    messages: u64,
    /// Requests that have not come, each with the bytes sent back up to its end.
    requests: VecDeque<(u64, Request)>,
    asked: u64,
}

/// Numbers of wake-ups from here on are those of listeners.
pub(super) const FIRST_LISTENER: u32 = 1 << 31;

impl<O: Observer> World<O> {
    /// Lets an application read what a flow's first connection brings. It is woken when the opener opens.
    pub fn add_listener(&mut self, flow: FlowId, listener: Box<dyn Listener>) -> ListenerId {
        let id = ListenerId(self.listeners.len() as u32);
        let seat = Seat {
            listener: Some(listener),
            flow,
            endpoint: None,
            wake: Instant::NEVER,
            messages: 0,
            requests: VecDeque::new(),
            asked: 0,
        };
        self.listeners.push(seat);
        self.flows[flow.0 as usize].listener = Some(id);
        id
    }

    /// Says who reads at both ends of a new connection.
    pub(super) fn assign_readers(&mut self, flow: FlowId, opener: EndpointId) {
        let unit_map = match &self.flows[flow.0 as usize].carrier {
            Carrier::Tcp(settings) => UnitMap::new(&settings.opener.real_time, &settings.listener.real_time),
            Carrier::Datagrams(_) | Carrier::External(_) => UnitMap::default(),
        };
        let listener = self.attach_receiver(flow, opener.peer());
        if listener.is_none() && unit_map.is_plain() {
            return;
        }
        let impatient = if unit_map.is_plain() { Reader::Discard } else { Reader::Skipping };
        self.endpoints[opener.0 as usize].reader = impatient;
        self.endpoints[opener.0 as usize].unit_map = Some(Box::new(unit_map));
        self.endpoints[opener.peer().0 as usize].reader = listener.map_or(impatient, Reader::Listener);
        for id in [opener, opener.peer()] {
            let endpoint = &mut self.endpoints[id.0 as usize];
            endpoint.auto_read &= endpoint.reader == Reader::Discard;
        }
    }

    /// Learns that units are written to a flow: how much of it has come is told from now on.
    pub(super) fn enable_delivery_reports(&mut self, flow: FlowId) {
        if !std::mem::replace(&mut self.flows[flow.0 as usize].has_units, true) {
            let listeners = self.endpoints.iter_mut().skip(1).step_by(2);
            listeners.filter(|listener| listener.flow == flow).for_each(|listener| listener.auto_read = false);
        }
    }

    /// Returns a flow's listener its place if it has none yet.
    fn attach_receiver(&mut self, flow: FlowId, id: EndpointId) -> Option<ListenerId> {
        let listener = self.flows[flow.0 as usize].listener?;
        let seat = &mut self.listeners[listener.0 as usize];
        if seat.endpoint.is_some() {
            return None;
        }
        seat.endpoint = Some((id, self.endpoints[id.0 as usize].generation));
        self.wake_listener_at(listener, self.forwarder.now.at);
        Some(listener)
    }

    fn wake_listener_at(&mut self, id: ListenerId, at: Instant) {
        let seat = &mut self.listeners[id.0 as usize];
        if seat.wake != at {
            seat.wake = at;
            self.forwarder.events.schedule(SimEvent::new(
                self.forwarder.now.until(at),
                EventKind::Wake,
                FIRST_LISTENER + id.0,
            ));
        }
    }

    pub(super) fn on_wake_listener(&mut self, id: ListenerId) {
        let seat = &mut self.listeners[id.0 as usize];
        if seat.wake != self.forwarder.now.at {
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

    /// Returns the endpoint at which a listener sits, while its connection lasts.
    fn endpoint_of(&self, id: ListenerId) -> Option<EndpointId> {
        let (endpoint, generation) = self.listeners[id.0 as usize].endpoint?;
        (self.endpoints[endpoint.0 as usize].generation == generation).then_some(endpoint)
    }

    /// Reads, or lets read, what came. Of plain streams it is known which units are there by their length alone.
    pub(super) fn on_readable(&mut self, id: EndpointId) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        match endpoint.reader {
            Reader::Discard => {
                endpoint.agent.read_all();
                self.report_delivered(id);
            }
            Reader::Skipping => self.read_skipping(id),
            Reader::QueueServer(client) => {
                endpoint.agent.read_all();
                self.dispatch_requests(id, client);
            }
            Reader::Listener(listener) => {
                if self.endpoints[id.peer().0 as usize].unit_map.as_ref().is_some_and(|unit_map| unit_map.is_plain()) {
                    self.report_delivered(id);
                }
                self.with_listener(listener, |listener, io| listener.on_readable(io));
            }
        }
    }

    /// Tells a server which requests have come whole.
    fn dispatch_requests(&mut self, id: EndpointId, client: ListenerId) {
        let endpoint = &self.endpoints[id.0 as usize];
        let (app, received) = (endpoint.app, endpoint.agent.received());
        while let Some((_, request)) =
            self.listeners[client.0 as usize].requests.pop_front_if(|(end, _)| *end <= received)
        {
            self.with_app(app, |application, io| application.on_request(io, ConnectionId(id.0 / 2), request));
        }
    }

    fn report_delivered(&mut self, id: EndpointId) {
        let endpoint = &self.endpoints[id.0 as usize];
        if self.flows[endpoint.flow.0 as usize].has_units && !id.is_opener() {
            self.forwarder.observer.on_delivered(self.forwarder.now.at, endpoint.flow, endpoint.agent.received());
        }
    }

    /// All of a unit came as datagrams.
    pub(super) fn on_unit_arrived(&mut self, id: EndpointId, unit: u32) {
        let Endpoint { flow, reader, .. } = self.endpoints[id.0 as usize];
        self.forwarder.observer.on_unit_delivered(self.forwarder.now.at, flow, unit);
        if let Reader::Listener(listener) = reader {
            if let Some(unit_map) = &mut self.endpoints[id.peer().0 as usize].unit_map {
                unit_map.on_arrival(u64::from(unit));
            }
            self.with_listener(listener, |listener, io| listener.on_readable(io));
        }
    }

    /// Reads whatever is there, steps over what is not, and waits for more.
    pub(super) fn read_skipping(&mut self, id: EndpointId) {
        if !id.is_opener() {
            while self.read_part(id, true).is_some() {}
            return;
        }
        // What listeners send back is read and forgotten.
        let endpoint = &mut self.endpoints[id.0 as usize];
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
        if let Agent::Tcp(connection) = &mut endpoint.agent {
            while connection.read_frame(&mut Cx { now: self.forwarder.now.at, trace: &mut tracer }).is_some() {}
            connection.read(u64::MAX);
        }
    }

    /// Reads the next part of a unit at this endpoint.
    fn read_part(&mut self, id: EndpointId, may_skip: bool) -> Option<Part> {
        let mut unit_map = self.endpoints[id.peer().0 as usize].unit_map.take()?;
        let endpoint = &mut self.endpoints[id.0 as usize];
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
        let part =
            unit_map.read(&mut endpoint.agent, &mut Cx { now: self.forwarder.now.at, trace: &mut tracer }, may_skip);
        if let Some(unit) = part.and_then(|part| unit_map.complete(part))
            && !unit_map.is_plain()
        {
            self.forwarder.observer.on_unit_delivered(self.forwarder.now.at, endpoint.flow, unit as u32);
        }
        self.endpoints[id.peer().0 as usize].unit_map = Some(unit_map);
        part
    }

    /// Writes a unit at the opener's side.
    pub(super) fn write_unit(&mut self, id: EndpointId, bytes: u64) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
        match &mut endpoint.unit_map {
            Some(unit_map) => {
                let cx = &mut Cx { now: self.forwarder.now.at, trace: &mut tracer };
                let mss = self.flows[endpoint.flow.0 as usize].carrier.mss();
                endpoint.unwritten += unit_map.write_unit(&mut endpoint.agent, cx, bytes, u64::from(mss));
            }
            None => endpoint.unwritten += endpoint.agent.write_unit(bytes),
        }
    }

    /// Writes a message at the listener's side: where one write is one segment, a frame that nothing else belongs to.
    fn write_message(&mut self, id: EndpointId, bytes: u64, number: u64) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
        let Agent::Tcp(connection) = &mut endpoint.agent else {
            endpoint.agent.write(bytes);
            return;
        };
        let cx = &mut Cx { now: self.forwarder.now.at, trace: &mut tracer };
        if connection.write_frame(cx, bytes, number) == Err(WriteError::Unframed) {
            endpoint.unwritten += endpoint.agent.write(bytes);
        }
    }
}

/// A listener's view of the world.
struct SeatIo<'a, O: Observer> {
    world: &'a mut World<O>,
    id: ListenerId,
}

impl<O: Observer> ListenerIo for SeatIo<'_, O> {
    fn now(&self) -> Instant {
        self.world.forwarder.now.at
    }

    fn read_in_order(&mut self) -> Option<Part> {
        self.world.read_part(self.world.endpoint_of(self.id)?, false)
    }

    fn read(&mut self) -> Option<Part> {
        self.world.read_part(self.world.endpoint_of(self.id)?, true)
    }

    fn peek(&self) -> Option<Part> {
        let id = self.world.endpoint_of(self.id)?;
        let unit_map = self.world.endpoints[id.peer().0 as usize].unit_map.as_ref()?;
        unit_map.peek(&self.world.endpoints[id.0 as usize].agent)
    }

    fn write(&mut self, bytes: u64) {
        if let Some(id) = self.world.endpoint_of(self.id) {
            let seat = &mut self.world.listeners[self.id.0 as usize];
            seat.messages += 1;
            let number = seat.messages;
            self.world.write_message(id, bytes, number);
        }
    }

    fn received(&self) -> u64 {
        self.world.endpoint_of(self.id).map_or(0, |id| self.world.endpoints[id.0 as usize].agent.received())
    }

    fn ask(&mut self, bytes: u64, request: Request) {
        let Some(id) = self.world.endpoint_of(self.id) else { return };
        let opener = &mut self.world.endpoints[id.peer().0 as usize];
        (opener.reader, opener.auto_read) = (Reader::QueueServer(self.id), false);
        let seat = &mut self.world.listeners[self.id.0 as usize];
        seat.asked += bytes;
        seat.requests.push_back((seat.asked, request));
        self.write(bytes);
    }

    fn wake_at(&mut self, at: Instant) {
        self.world.wake_listener_at(self.id, at);
    }

    fn tell(&mut self, event: Playout) {
        let flow = self.world.listeners[self.id.0 as usize].flow;
        self.world.forwarder.observer.on_playout(self.world.forwarder.now.at, flow, event);
    }
}
