//! Receiver applications, and the reading at endpoints without one.

use super::World;
use super::app_io::FIRST_RECEIVER;
use super::endpoint_io::Tracer;
use crate::agent::Agent;
use crate::endpoint::{Carrier, Endpoint, Reader};
use crate::events::{EventKind, SimEvent};
use crate::ids::{EndpointId, FlowId};
use crate::observer::Observer;
use crate::unit_io::UnitIo;
use earlybird_tcp::{Cx, WriteError};
use earlybird_traffic::{ConnectionId, Part, ReceiverApp, ReceiverId, with_receiver};

impl<O: Observer> World<O> {
    /// Adds an application that reads the first connection of a flow. It is woken when that connection is opened.
    pub fn add_receiver(&mut self, flow: FlowId, app: Box<dyn ReceiverApp>) -> ReceiverId {
        let id = self.apps.add_receiver(flow, app);
        self.flows[flow.0 as usize].receiver = Some(id);
        id
    }

    /// Sets the readers at both ends of a new connection.
    pub(super) fn assign_readers(&mut self, flow: FlowId, opener: EndpointId) {
        let unit_io = match &self.flows[flow.0 as usize].carrier {
            Carrier::Tcp(settings) => UnitIo::new(&settings.opener.real_time, &settings.listener.real_time),
            Carrier::Datagrams(_) | Carrier::External(_) => UnitIo::default(),
        };
        let receiver = self.attach_receiver(flow, opener.peer());
        if receiver.is_none() && unit_io.is_plain() {
            return;
        }
        let default_reader = if unit_io.is_plain() { Reader::Discard } else { Reader::Skipping };
        self.endpoints[opener.0 as usize].reader = default_reader;
        // Kept at the opener, whose writes fill it; the reader borrows it from there.
        self.endpoints[opener.0 as usize].unit_io = Some(Box::new(unit_io));
        self.endpoints[opener.peer().0 as usize].reader = receiver.map_or(default_reader, Reader::Receiver);
        for id in [opener, opener.peer()] {
            let endpoint = &mut self.endpoints[id.0 as usize];
            endpoint.auto_read &= endpoint.reader == Reader::Discard;
        }
    }

    /// Called when units are written to a flow: from now on its deliveries are reported.
    pub(super) fn enable_delivery_reports(&mut self, flow: FlowId) {
        if !std::mem::replace(&mut self.flows[flow.0 as usize].has_units, true) {
            let listeners = self.endpoints.iter_mut().skip(1).step_by(2);
            listeners.filter(|listener| listener.flow == flow).for_each(|listener| listener.auto_read = false);
        }
    }

    /// Attaches a flow's receiver to the listening end of a connection, if it has none yet.
    fn attach_receiver(&mut self, flow: FlowId, id: EndpointId) -> Option<ReceiverId> {
        let receiver = self.flows[flow.0 as usize].receiver?;
        let generation = self.endpoints[id.0 as usize].generation;
        if !self.apps.attach(receiver, ConnectionId(id.0 / 2), generation) {
            return None;
        }
        let now = self.forwarder.now;
        if self.apps.set_receiver_wake(receiver, now.at) {
            self.forwarder.events.schedule(SimEvent::new(
                now.until(now.at),
                EventKind::Wake,
                FIRST_RECEIVER + receiver.0,
            ));
        }
        Some(receiver)
    }

    pub(super) fn on_wake_receiver(&mut self, id: ReceiverId) {
        if !self.apps.take_due_receiver(id, self.forwarder.now.at) {
            return;
        }
        with_receiver(self, id, |receiver, io| receiver.on_wake(io));
        if let Some(endpoint) = self.endpoint_of(id) {
            self.serve(endpoint);
        }
    }

    /// Returns the endpoint at which a receiver reads, while its connection lasts.
    pub(super) fn endpoint_of(&self, id: ReceiverId) -> Option<EndpointId> {
        let (connection, generation) = self.apps.connection_of(id)?;
        let endpoint = EndpointId(connection.0 * 2).peer();
        // Endpoints are used again: another generation means another connection.
        (self.endpoints[endpoint.0 as usize].generation == generation).then_some(endpoint)
    }

    /// Handles new data at an endpoint.
    pub(super) fn on_readable(&mut self, id: EndpointId) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        match endpoint.reader {
            Reader::Discard => {
                endpoint.agent.read_all();
                self.report_delivered(id);
            }
            Reader::Skipping => self.read_skipping(id),
            Reader::Requests(client) => {
                endpoint.agent.read_all();
                self.dispatch_requests(id, client);
            }
            Reader::Receiver(receiver) => {
                if self.endpoints[id.peer().0 as usize].unit_io.as_ref().is_some_and(|unit_io| unit_io.is_plain()) {
                    self.report_delivered(id);
                }
                with_receiver(self, receiver, |receiver, io| receiver.on_readable(io));
            }
        }
    }

    /// Passes complete requests to the opener's application.
    fn dispatch_requests(&mut self, id: EndpointId, client: ReceiverId) {
        let endpoint = &self.endpoints[id.0 as usize];
        let (sender, received) = (endpoint.sender, endpoint.agent.received());
        while let Some(request) = self.apps.pop_request(client, received) {
            self.call_sender(sender, |sender, io| sender.on_request(io, ConnectionId(id.0 / 2), request));
        }
    }

    fn report_delivered(&mut self, id: EndpointId) {
        let endpoint = &self.endpoints[id.0 as usize];
        if self.flows[endpoint.flow.0 as usize].has_units && !id.is_opener() {
            self.forwarder.observer.on_delivered(self.forwarder.now.at, endpoint.flow, endpoint.agent.received());
        }
    }

    /// Handles a unit that has arrived completely as datagrams.
    pub(super) fn on_unit_arrived(&mut self, id: EndpointId, unit: u32) {
        let Endpoint { flow, reader, .. } = self.endpoints[id.0 as usize];
        self.forwarder.observer.on_unit_delivered(self.forwarder.now.at, flow, unit);
        if let Reader::Receiver(receiver) = reader {
            if let Some(unit_io) = &mut self.endpoints[id.peer().0 as usize].unit_io {
                unit_io.on_arrival(u64::from(unit));
            }
            with_receiver(self, receiver, |receiver, io| receiver.on_readable(io));
        }
    }

    /// Reads all data, skips holes, and waits for more.
    pub(super) fn read_skipping(&mut self, id: EndpointId) {
        if !id.is_opener() {
            while self.read_unit_part(id, true).is_some() {}
            return;
        }
        // Data from the listener is read and discarded.
        let endpoint = &mut self.endpoints[id.0 as usize];
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
        if let Agent::Tcp(connection) = &mut endpoint.agent {
            while connection.read_frame(&mut Cx { now: self.forwarder.now.at, trace: &mut tracer }).is_some() {}
            connection.read(u64::MAX);
        }
    }

    /// Reads the next part of a unit.
    pub(super) fn read_unit_part(&mut self, id: EndpointId, may_skip: bool) -> Option<Part> {
        // Taken out for the call: reading needs the agent of this end and the units of the other one.
        let mut unit_io = self.endpoints[id.peer().0 as usize].unit_io.take()?;
        let endpoint = &mut self.endpoints[id.0 as usize];
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
        let part =
            unit_io.read(&mut endpoint.agent, &mut Cx { now: self.forwarder.now.at, trace: &mut tracer }, may_skip);
        if let Some(unit) = part.and_then(|part| unit_io.complete(part))
            && !unit_io.is_plain()
        {
            self.forwarder.observer.on_unit_delivered(self.forwarder.now.at, endpoint.flow, unit as u32);
        }
        self.endpoints[id.peer().0 as usize].unit_io = Some(unit_io);
        part
    }

    /// Writes a unit at the opener.
    pub(super) fn write_unit_at(&mut self, id: EndpointId, bytes: u64) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
        match &mut endpoint.unit_io {
            Some(unit_io) => {
                let cx = &mut Cx { now: self.forwarder.now.at, trace: &mut tracer };
                let mss = self.flows[endpoint.flow.0 as usize].carrier.mss();
                endpoint.unwritten += unit_io.write_unit(&mut endpoint.agent, cx, bytes, u64::from(mss));
            }
            None => endpoint.unwritten += endpoint.agent.write_unit(bytes),
        }
    }

    /// Writes a message at the listener: one frame if the transport has frames, else bytes of the stream.
    pub(super) fn write_message(&mut self, id: EndpointId, bytes: u64, number: u64) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
        let Agent::Tcp(connection) = &mut endpoint.agent else {
            endpoint.agent.write(bytes);
            return;
        };
        let cx = &mut Cx { now: self.forwarder.now.at, trace: &mut tracer };
        // Connections without frames carry the message as bytes of the stream.
        if connection.write_frame(cx, bytes, number) == Err(WriteError::Unframed) {
            endpoint.unwritten += endpoint.agent.write(bytes);
        }
    }
}
