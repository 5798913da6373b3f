//! Events of agents over UDP. No code of this file is on the path of TCP's packets.

use super::World;
use crate::agent::Agent;
use crate::external_stack::ExternalEvent;
use crate::ids::EndpointId;
use crate::observer::Observer;
use crate::udp_agent::UdpEvent;
use earlybird_datagram as datagram;
use earlybird_tcp::TraceEvent;

impl<O: Observer> World<O> {
    /// Serves an agent over UDP. Unlike a connection, it exists to the end of the run.
    #[cold]
    pub(super) fn serve_udp(&mut self, id: EndpointId) {
        while let Agent::Udp(agent) = &mut self.endpoints[id.0 as usize].agent
            && let Some(event) = agent.poll_event()
        {
            match event {
                UdpEvent::Own(event) => self.on_datagram_event(id, event),
                UdpEvent::External(event) => self.on_external_event(id, event),
            }
        }
        self.endpoints[id.0 as usize].send_datagrams(id, &mut self.forwarder);
    }

    fn on_datagram_event(&mut self, id: EndpointId, event: datagram::Event) {
        match event {
            datagram::Event::Delivered(unit) if !id.is_opener() => self.on_unit_arrived(id, unit),
            // An opener reads nothing: its peer sends only reports.
            datagram::Event::Delivered(_) => {}
            datagram::Event::Drained => self.on_drained(id),
        }
    }

    fn on_external_event(&mut self, id: EndpointId, event: ExternalEvent) {
        match event {
            ExternalEvent::Readable => self.on_readable(id),
            ExternalEvent::Delivered(unit) if !id.is_opener() => self.on_unit_arrived(id, unit),
            ExternalEvent::Timeout { timer, frozen_for } if id.is_opener() => {
                let flow = self.endpoints[id.0 as usize].flow;
                self.forwarder.observer.on_trace(
                    self.forwarder.now.at,
                    flow,
                    TraceEvent::Timeout { timer, frozen_for },
                );
            }
            // A sender gets no notifications from itself, and a receiver needs nothing from the application.
            ExternalEvent::Delivered(_) | ExternalEvent::Timeout { .. } => {}
        }
    }
}
