//! The simulated world: endpoints and applications over a network, and the loop that handles events in order.

mod app_io;
mod endpoint_io;
mod receiver_app;
mod udp_io;

use crate::agent::Agent;
use crate::endpoint::{Carrier, Endpoint, EndpointSettings, HeaderSize, Reader};
use crate::events::{EventKind, SimEvent};
use crate::flow_stats::FlowEnd;
use crate::forwarding::Forwarder;
use crate::ids::SlotId;
use crate::ids::{EndpointId, FlowId, GroupId, LinkId, RouteId};
use crate::network::Network;
use crate::observer::Observer;
use crate::timestamp::Timestamp;
use crate::udp_agent::{ExternalAgent, UdpAgent};
use app_io::FIRST_RECEIVER;
use earlybird_datagram as datagram;
use earlybird_tcp::{Connection, Cx, Event as TcpEvent, Trace};
use earlybird_traffic::{AppTable, ConnectionId, PathId, ReceiverId, SenderApp, SenderId, SenderIo, with_sender};
use earlybird_units::{Duration, Instant, SeedTree};
use endpoint_io::Tracer;

/// Settings of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowSettings<C = EndpointSettings> {
    /// The group it belongs to.
    pub group: GroupId,
    /// Its connections.
    pub endpoints: C,
    /// Its random numbers.
    pub seeds: SeedTree,
}

#[derive(Debug)]
struct Flow {
    group: GroupId,
    carrier: Carrier,
    seeds: SeedTree,
    connections: u64,
    has_units: bool,
    /// The application that reads the first connection.
    receiver: Option<ReceiverId>,
}

/// A network with its endpoints and applications, and the pending events.
#[derive(Debug)]
pub struct World<O: Observer = ()> {
    forwarder: Forwarder<O>,
    paths: Vec<(RouteId, RouteId)>,
    endpoints: Vec<Endpoint>,
    free: Vec<EndpointId>,
    apps: AppTable,
    flows: Vec<Flow>,
    probe_period: Option<Duration>,
}

/// Numbers of the two kinds of probe events.
const SAMPLE: u32 = 0;
const MARK: u32 = 1;

impl<O: Observer> World<O> {
    /// Makes a world with this network and no traffic.
    pub fn new(network: Network, observer: O) -> Self {
        Self {
            forwarder: Forwarder::new(network, observer),
            paths: Vec::new(),
            endpoints: Vec::new(),
            free: Vec::new(),
            apps: AppTable::default(),
            flows: Vec::new(),
            probe_period: None,
        }
    }

    /// Adds a path for connections: a forward and a reverse route.
    pub fn add_path(&mut self, there: RouteId, back: RouteId) -> PathId {
        self.paths.push((there, back));
        PathId(self.paths.len() as u32 - 1)
    }

    /// Adds a flow.
    pub fn add_flow<C: Into<Carrier>>(&mut self, settings: FlowSettings<C>) -> FlowId {
        let FlowSettings { group, endpoints, seeds } = settings;
        let carrier = endpoints.into();
        self.flows.push(Flow { group, carrier, seeds, connections: 0, has_units: false, receiver: None });
        FlowId(self.flows.len() as u32 - 1)
    }

    /// Adds an application that is woken first at `start`.
    pub fn add_sender(&mut self, flow: FlowId, app: Box<dyn SenderApp>, start: Instant) -> SenderId {
        let id = self.apps.add_sender(flow, app, start);
        self.forwarder.events.schedule(SimEvent::new(Timestamp::from_instant(start), EventKind::Wake, id.0));
        id
    }

    /// Samples every flow and link from now on.
    pub fn probe_every(&mut self, period: Duration) {
        self.probe_period = Some(period);
        let now = self.forwarder.now;
        self.forwarder.events.schedule(SimEvent::new(now, EventKind::Probe, SAMPLE));
        for link in &mut self.forwarder.network.links {
            link.sample_every(now.at, period);
        }
    }

    /// Calls [`Observer::on_warm_up_end`] at this time.
    pub fn end_warm_up_at(&mut self, at: Instant) {
        self.forwarder.events.schedule(SimEvent::new(Timestamp::from_instant(at), EventKind::Probe, MARK));
    }

    /// Returns how many packets are on their way: waiting, being sent, or carried.
    pub fn packets_in_flight(&self) -> usize {
        self.forwarder.events.packets()
    }

    /// Returns the network and the observer, at the end.
    pub fn into_parts(self) -> (Network, O) {
        (self.forwarder.network, self.forwarder.observer)
    }

    /// Handles the events before `end`, at most `budget` of them. Returns whether all were handled.
    pub fn run_until(&mut self, end: Instant, budget: u64) -> bool {
        for _ in 0..budget {
            let Some(slot) = self.forwarder.events.pop_before(end) else {
                self.forwarder.now = Timestamp::from_instant(end);
                return true;
            };
            // Copied: handling the event reuses its slot.
            let event = self.forwarder.events.pool.get(slot).event;
            self.forwarder.now = event.timestamp;
            // Arrivals are the most frequent events, and have no wake-up or timer to look up.
            if !event.is_arrival() {
                self.on_event(slot, event);
            } else if self.forwarder.forward(slot) {
                self.deliver(slot);
            }
        }
        false
    }

    /// Returns the time up to which events were handled.
    pub const fn now(&self) -> Instant {
        self.forwarder.now.at
    }

    /// Calls [`Observer::on_end`] for every connection that is still open.
    pub fn finish(&mut self) {
        for number in (0..self.endpoints.len()).step_by(2) {
            self.report_end(EndpointId(number as u32));
        }
    }

    fn on_release(&mut self, held_id: u32) {
        if let Some(slot) = self.forwarder.release_held(held_id)
            && self.forwarder.forward(slot)
        {
            self.deliver(slot);
        }
    }

    fn on_event(&mut self, slot: SlotId, event: SimEvent) {
        self.forwarder.events.free_event(slot);
        match event.kind() {
            EventKind::Service => self.forwarder.serve_link(LinkId(event.number())),
            EventKind::Release => self.on_release(event.number()),
            EventKind::Timer | EventKind::ShortTimer => self.on_timer(EndpointId(event.number())),
            EventKind::Wake => self.on_wake(event.number()),
            EventKind::Probe if event.number() == MARK => self.on_warm_up_end(),
            EventKind::Probe | EventKind::Arrival => self.on_sample(),
        }
    }

    /// Delivers a packet to its endpoint.
    #[inline(never)]
    fn deliver(&mut self, slot: SlotId) {
        let id = self.forwarder.events.pool.get(slot).packet.to;
        let endpoint = &mut self.endpoints[id.0 as usize];
        // Packets of a closed connection are still in the network when its endpoint number is used again.
        if !endpoint.take(id, slot, &mut self.forwarder) {
            return;
        }
        if endpoint.agent.has_events() {
            self.serve(id);
        } else {
            endpoint.send_pending(id, &mut self.forwarder);
        }
    }

    fn report_state(&mut self, id: EndpointId) {
        if O::STATES && id.is_opener() {
            self.endpoints[id.0 as usize].report_state(self.forwarder.now.at, None, &mut self.forwarder.observer);
        }
    }

    /// Serves an agent after an input: its events, then its packets, then its timer.
    fn serve(&mut self, id: EndpointId) {
        if let Agent::Udp(_) = self.endpoints[id.0 as usize].agent {
            self.serve_udp(id);
        } else if self.dispatch_events(id) {
            self.endpoints[id.0 as usize].send_pending(id, &mut self.forwarder);
        }
    }

    /// Handles a connection's events. Returns whether the connection still exists.
    fn dispatch_events(&mut self, id: EndpointId) -> bool {
        let generation = self.endpoints[id.0 as usize].generation;
        while let Agent::Tcp(connection) = &mut self.endpoints[id.0 as usize].agent
            && let Some(event) = connection.poll_event()
        {
            self.on_tcp_event(id, event);
            // An event may have closed the connection and opened another one with the same number.
            if self.endpoints[id.0 as usize].generation != generation {
                return false;
            }
        }
        true
    }

    fn on_tcp_event(&mut self, id: EndpointId, event: TcpEvent) {
        match event {
            TcpEvent::Readable => self.on_readable(id),
            TcpEvent::Drained if id.is_opener() => self.on_drained(id),
            TcpEvent::Writable if id.is_opener() => self.on_writable(id),
            TcpEvent::PeerClosed => self.shut_down(id),
            TcpEvent::Closed
            | TcpEvent::Reset
            | TcpEvent::Refused
            | TcpEvent::TimedOut
            | TcpEvent::Aborted
            | TcpEvent::TimeWaitReused
            | TcpEvent::Unreachable => self.release(id),
            TcpEvent::Established if self.endpoints[id.0 as usize].reader == Reader::Skipping => {
                self.read_skipping(id);
            }
            _ => {}
        }
    }

    /// Writes the bytes that had no room in the send buffer before.
    fn on_writable(&mut self, id: EndpointId) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        if endpoint.unit_io.as_ref().is_some_and(|unit_io| unit_io.writes_in_frames()) {
            endpoint.write_in_frames();
        } else {
            endpoint.unwritten = endpoint.agent.write(endpoint.unwritten);
        }
        if endpoint.unwritten == 0 {
            let sender = endpoint.sender;
            self.call_sender(sender, |sender, io| sender.on_writable(io, ConnectionId(id.0 / 2)));
        }
    }

    fn on_drained(&mut self, id: EndpointId) {
        // TCP is drained, but the application's data is not: some of it waits for room.
        if self.endpoints[id.0 as usize].unwritten > 0 {
            return;
        }
        let sender = self.endpoints[id.0 as usize].sender;
        self.call_sender(sender, |sender, io| sender.on_drained(io, ConnectionId(id.0 / 2)));
    }

    fn shut_down(&mut self, id: EndpointId) {
        if let Agent::Tcp(connection) = &mut self.endpoints[id.0 as usize].agent {
            connection.shutdown();
        }
    }

    fn on_timer(&mut self, id: EndpointId) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        // Timer events are not cancelled: one that was replaced by an earlier one is ignored.
        if endpoint.armed != self.forwarder.now.at || !endpoint.is_in_use {
            return;
        }
        endpoint.armed = Instant::NEVER;
        // The deadline may have moved while the event was pending: then the timer is set again.
        if endpoint.agent.poll_timeout().is_some_and(|deadline| deadline <= self.forwarder.now.at) {
            let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.forwarder.observer };
            // Expiries at a flow's listener, of a SYN-ACK or a report, are not those of the flow's data.
            let trace: &mut dyn Trace = if id.is_opener() { &mut tracer } else { &mut () };
            endpoint.agent.on_timeout(&mut Cx { now: self.forwarder.now.at, trace });
            self.report_state(id);
            self.serve(id);
        } else {
            endpoint.arm(id, &mut self.forwarder);
        }
    }

    fn on_wake(&mut self, number: u32) {
        if let Some(receiver) = number.checked_sub(FIRST_RECEIVER) {
            return self.on_wake_receiver(ReceiverId(receiver));
        }
        let id = SenderId(number);
        // Wake-ups are not cancelled: of those that were replaced, nothing is left but an event.
        if self.apps.sender_wake(id) == self.forwarder.now.at {
            self.call_sender(id, |sender, io| sender.on_wake(io));
        }
    }

    /// Calls a sender, then serves the connection that it used.
    fn call_sender(&mut self, id: SenderId, act: impl FnOnce(&mut dyn SenderApp, &mut dyn SenderIo)) {
        if let Some(connection) = with_sender(self, id, self.forwarder.now.at, act) {
            self.report_state(EndpointId(connection.0 * 2));
            self.serve(EndpointId(connection.0 * 2));
        }
    }

    fn on_warm_up_end(&mut self) {
        let open = self.endpoints.chunks_exact(2).filter(|pair| pair[0].is_in_use);
        let counters = open.filter_map(|pair| Some((pair[0].flow, self.counters_of(&pair[0], &pair[1])?)));
        let counters: Vec<_> = counters.collect();
        self.forwarder.observer.on_warm_up_end(&counters);
    }

    fn on_sample(&mut self) {
        if let Some(period) = self.probe_period {
            self.forwarder.events.schedule(SimEvent::new(
                self.forwarder.now.until(self.forwarder.now.at + period),
                EventKind::Probe,
                SAMPLE,
            ));
        }
        let Forwarder { now, network, observer, .. } = &mut self.forwarder;
        for endpoint in self.endpoints.iter().step_by(2).filter(|endpoint| endpoint.is_in_use) {
            match &endpoint.agent {
                Agent::Tcp(connection) => observer.on_probe(now.at, endpoint.flow, &connection.into()),
                Agent::Udp(sender) => {
                    if let Some(gauges) = sender.gauges() {
                        observer.on_probe(now.at, endpoint.flow, &gauges);
                    }
                }
            }
        }
        for (number, link) in network.links.iter_mut().enumerate() {
            observer.on_link_probe(now.at, LinkId(number as u32), link.backlog(now.at));
        }
    }

    fn open_connection(&mut self, sender: SenderId, path: PathId) -> ConnectionId {
        let flow_id = self.apps.flow_of_sender(sender);
        let flow = &mut self.flows[flow_id.0 as usize];
        let seeds = flow.seeds.nth(flow.connections);
        flow.connections += 1;
        let (group, has_units) = (flow.group, flow.has_units);
        let (opener, listener, headers) = agents(&flow.carrier, self.forwarder.now.at, seeds);
        let (there, back) = self.paths[path.0 as usize];
        let opener_id = self.alloc_endpoint_pair();
        for (id, agent, route, coming) in [(opener_id, opener, there, back), (opener_id.peer(), listener, back, there)]
        {
            // Packets and receivers of the last user of this number must not match.
            let generation = self.endpoints.get(id.0 as usize).map_or(0, |old| old.generation + 1);
            let endpoint = Endpoint {
                agent,
                flow: flow_id,
                group,
                sender,
                route,
                generation,
                headers,
                armed: Instant::NEVER,
                deadline: Instant::NEVER,
                deadline_set: Timestamp::ZERO,
                last_link_delay: self.forwarder.network.last_link_delay(coming),
                is_in_use: true,
                reader: Reader::Discard,
                auto_read: id.is_opener() || !has_units,
                unwritten: 0,
                unit_io: None,
            };
            self.put(id, endpoint);
        }
        self.assign_readers(flow_id, opener_id);
        ConnectionId(opener_id.0 / 2)
    }

    fn alloc_endpoint_pair(&mut self) -> EndpointId {
        self.free.pop().unwrap_or(EndpointId(self.endpoints.len() as u32))
    }

    fn put(&mut self, id: EndpointId, endpoint: Endpoint) {
        match self.endpoints.get_mut(id.0 as usize) {
            Some(current) => *current = endpoint,
            None => self.endpoints.push(endpoint),
        }
    }

    fn close_connection(&mut self, connection: ConnectionId) {
        let id = EndpointId(connection.0 * 2);
        match &self.flows[self.endpoints[id.0 as usize].flow.0 as usize].carrier {
            Carrier::Tcp(settings) if settings.closes_with_fin => self.shut_down(id),
            Carrier::Tcp(_) => {
                self.release(id);
                self.release(id.peer());
            }
            // UDP has no close; endpoints stay until the end. External stacks too: their pending retransmissions are not
            // visible.
            Carrier::Datagrams(_) | Carrier::External(_) => {}
        }
    }

    /// Frees an endpoint pair once both ends are done.
    fn release(&mut self, id: EndpointId) {
        if !self.endpoints[id.0 as usize].is_in_use {
            return;
        }
        // Reported once, while both connections still exist: a listener that gives up first leaves an opener that sends on.
        if id.is_opener() {
            self.report_end(id);
        }
        self.endpoints[id.0 as usize].is_in_use = false;
        if !self.endpoints[id.peer().0 as usize].is_in_use {
            self.endpoints[id.0 as usize].generation += 1;
            self.endpoints[id.peer().0 as usize].generation += 1;
            self.free.push(EndpointId(id.0 & !1));
        }
    }

    fn report_end(&mut self, opener: EndpointId) {
        let [opener, listener] = [opener, opener.peer()].map(|id| &self.endpoints[id.0 as usize]);
        // One that is not in use was reported when it was released.
        let end = self.counters_of(opener, listener).filter(|_| opener.is_in_use);
        if let Some(end) = end {
            self.forwarder.observer.on_end(opener.flow, &end);
        }
    }

    /// Returns the counters of a connection up to now.
    fn counters_of(&self, opener: &Endpoint, listener: &Endpoint) -> Option<FlowEnd> {
        match (&opener.agent, &listener.agent) {
            (Agent::Tcp(sender), Agent::Tcp(receiver)) => {
                Some(FlowEnd::of(self.forwarder.now.at, sender, Some(receiver)))
            }
            (Agent::Udp(sender), receiver) => Some(sender.flow_end(receiver.received())),
            (Agent::Tcp(_), Agent::Udp(_)) => None,
        }
    }
}

/// Makes both ends of a flow's next connection from the connection's own seeds.
fn agents(carrier: &Carrier, now: Instant, seeds: SeedTree) -> (Agent, Agent, HeaderSize) {
    match carrier {
        Carrier::Tcp(settings) => {
            let opener = Connection::connect(&settings.opener, seeds.child("opener"));
            let listener = Connection::listen(&settings.listener, seeds.child("listener"));
            (Agent::Tcp(opener), Agent::Tcp(listener), settings.headers)
        }
        Carrier::Datagrams(settings) => {
            let [sender, receiver] = datagram::Endpoint::pair(settings.config);
            let [sender, receiver] = [sender, receiver].map(|agent| Agent::Udp(Box::new(UdpAgent::Own(agent))));
            (sender, receiver, settings.headers)
        }
        Carrier::External(settings) => {
            let external =
                |connection| Agent::Udp(Box::new(UdpAgent::External(ExternalAgent::new(connection, settings.ecn))));
            let [opener, listener] = settings.stack.pair(now, seeds).map(external);
            (opener, listener, HeaderSize::Real)
        }
    }
}
