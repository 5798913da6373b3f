//! The world: everything that happens, in order.

mod impaired;
mod io;
mod listening;
mod served;

use crate::calendar::Calendar;
use crate::endpoint::{Agent, AgentEvent, Carrier, Endpoint, EndpointSettings, HeaderSize, Reader};
use crate::events::{Event, Kind};
use crate::ids::{AppId, EndpointId, FlowId, GroupId, LinkId, ListenerId, RouteId};
use crate::moment::Moment;
use crate::network::{Network, Step};
use crate::observer::{Observer, PacketEvent};
use crate::packet::Content;
use crate::slots::{Place, Slot};
use earlybird_datagram as datagram;
use earlybird_tcp::{Connection, Cx, Event as TcpEvent, Trace, TraceEvent};
use earlybird_traffic::{Application, ConnectionId, Io, PathId};
use earlybird_units::{Duration, Instant, SeedTree};
use impaired::Stragglers;
use io::AppIo;
use listening::{FIRST_LISTENER, Seat};

/// A flow and what its connections are made of: of TCP if nothing else is said.
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
struct App {
    /// Away while it runs.
    application: Option<Box<dyn Application>>,
    flow: FlowId,
    wake: Instant,
}

#[derive(Debug)]
struct Flow {
    group: GroupId,
    carrier: Carrier,
    seeds: SeedTree,
    connections: u64,
    has_units: bool,
    /// Who reads at the other end, if it is not enough to take everything at once.
    listener: Option<ListenerId>,
}

/// A network with its endpoints and applications, and the events to come.
#[derive(Debug)]
pub struct World<O: Observer = ()> {
    now: Moment,
    events: Calendar,
    network: Network,
    stragglers: Stragglers,
    paths: Vec<(RouteId, RouteId)>,
    endpoints: Vec<Endpoint>,
    free: Vec<EndpointId>,
    apps: Vec<App>,
    listeners: Vec<Seat>,
    flows: Vec<Flow>,
    probe_period: Option<Duration>,
    observer: O,
}

/// The two probes.
const SAMPLE: u32 = 0;
const MARK: u32 = 1;

impl<O: Observer> World<O> {
    /// Makes a world of this network, without traffic.
    pub fn new(mut network: Network, observer: O) -> Self {
        network.settle();
        Self {
            now: Moment::ZERO,
            events: Calendar::default(),
            network,
            stragglers: Stragglers::default(),
            paths: Vec::new(),
            endpoints: Vec::new(),
            free: Vec::new(),
            apps: Vec::new(),
            listeners: Vec::new(),
            flows: Vec::new(),
            probe_period: None,
            observer,
        }
    }

    /// Adds a way to open connections: there and back.
    pub fn add_path(&mut self, there: RouteId, back: RouteId) -> PathId {
        self.paths.push((there, back));
        PathId(self.paths.len() as u32 - 1)
    }

    /// Adds a flow.
    pub fn add_flow<C: Into<Carrier>>(&mut self, settings: FlowSettings<C>) -> FlowId {
        let FlowSettings { group, endpoints, seeds } = settings;
        let carrier = endpoints.into();
        self.flows.push(Flow { group, carrier, seeds, connections: 0, has_units: false, listener: None });
        FlowId(self.flows.len() as u32 - 1)
    }

    /// Adds an application that starts at a given time.
    pub fn add_application(&mut self, flow: FlowId, application: Box<dyn Application>, start: Instant) -> AppId {
        let id = AppId(self.apps.len() as u32);
        self.apps.push(App { application: Some(application), flow, wake: start });
        self.events.appoint(Event::new(Moment::fresh(start), Kind::Wake, id.0));
        id
    }

    /// Samples every flow and link from now on.
    pub fn probe_every(&mut self, period: Duration) {
        self.probe_period = Some(period);
        self.events.appoint(Event::new(self.now, Kind::Probe, SAMPLE));
    }

    /// Tells the observer at this time how much every open connection has received.
    pub fn mark_at(&mut self, at: Instant) {
        self.events.appoint(Event::new(Moment::fresh(at), Kind::Probe, MARK));
    }

    /// Gives how many packets are on their way: waiting, being sent, or carried.
    pub fn packets_under_way(&self) -> usize {
        self.events.packets()
    }

    /// Gives the network and the observer, at the end.
    pub fn into_parts(self) -> (Network, O) {
        (self.network, self.observer)
    }

    /// Runs everything that happens before `end`, but at most `budget` events; says whether it got there.
    pub fn run_until(&mut self, end: Instant, budget: u64) -> bool {
        for _ in 0..budget {
            let Some(place) = self.events.pop_before(end) else {
                self.now = Moment::fresh(end);
                return true;
            };
            let event = self.events.slots.get(place).event;
            self.now = event.moment;
            if event.is_arrival() {
                self.forward(place);
            } else {
                self.on_appointment(place, event);
            }
        }
        false
    }

    /// Gives the time up to which events were handled.
    pub const fn now(&self) -> Instant {
        self.now.at
    }

    /// Tells the observer of every connection that is still open.
    pub fn finish(&mut self) {
        for number in (0..self.endpoints.len()).step_by(2) {
            self.tell_end(EndpointId(number as u32));
        }
    }

    fn on_appointment(&mut self, place: Place, event: Event) {
        self.events.keep_appointment(place);
        match event.kind() {
            Kind::Service => self.serve_link(LinkId(event.number())),
            Kind::Straggler => self.on_straggler(event.number()),
            Kind::Timer | Kind::ShortTimer => self.on_timer(EndpointId(event.number())),
            Kind::Wake => self.on_wake(event.number()),
            Kind::Probe if event.number() == MARK => self.on_mark(),
            Kind::Probe | Kind::Arrival => self.on_sample(),
        }
    }

    /// Lets a packet go that an endpoint has sent.
    // Apart, so that the way of the others is short.
    #[inline(never)]
    fn depart(&mut self, place: Place) {
        self.forward(place);
    }

    /// Lets a packet go on.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every packet comes by several times, so that calls cost much")]
    fn forward(&mut self, place: Place) {
        let step = self.network.first_step(self.events.slots.get(place).packet.route);
        if !step.stops() {
            self.carry(place, step);
        } else if step == Step::END {
            self.deliver(place);
        } else {
            self.queue_up(step.link(), place);
        }
    }

    /// Carries a packet over its next links as far as its fate is known now.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `forward`")]
    fn carry(&mut self, place: Place, first: Step) {
        let Slot { event: Event { moment, .. }, packet } = self.events.slots.get_mut(place);
        let mut step = first;
        *moment = self.now;
        loop {
            let entered = moment.at;
            if !self.network.link_mut(step.link()).accept(moment, packet) {
                return self.drop_at(step.link(), entered, place);
            }
            if O::PACKETS {
                self.observer.on_packet(entered, PacketEvent::Entered(step.link()), packet);
            }
            packet.route = packet.route.rest();
            if !step.goes_on() {
                break;
            }
            step = self.network.first_step(packet.route);
        }
        if self.network.link(step.link()).is_impaired {
            return self.leave_impaired(step.link(), place);
        }
        self.push_into_pipe(step.link(), place);
    }

    #[cold]
    fn drop_at(&mut self, link: LinkId, at: Instant, place: Place) {
        let cause = self.network.link(link).drop_cause();
        self.observer.on_packet(at, PacketEvent::Dropped(link, cause), self.events.slots.set_free(place));
    }

    /// Enters the arrival of a packet at the far end of a link.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `forward`")]
    fn push_into_pipe(&mut self, link: LinkId, place: Place) {
        self.events.slots.get_mut(place).event.become_arrival(link);
        self.events.push(place);
    }

    /// Gives a packet to the endpoint that it is for, which reads it in its place: packets are large to copy.
    #[inline(never)]
    fn deliver(&mut self, place: Place) {
        let packet = self.events.slots.set_free(place);
        let to = packet.to;
        let endpoint = &mut self.endpoints[to.0 as usize];
        if endpoint.generation != packet.generation {
            return;
        }
        if O::PACKETS {
            self.observer.on_packet(self.now.at, PacketEvent::Arrived, packet);
        }
        let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.observer };
        endpoint.agent.on_packet(&mut Cx { now: self.now.at, trace: &mut tracer }, &packet.content);
        if O::STATES && to.is_opener() {
            endpoint.tell_state(self.now.at, Some(packet), &mut self.observer);
        }
        self.serve(to);
    }

    fn tell_state(&mut self, id: EndpointId) {
        if O::STATES && id.is_opener() {
            self.endpoints[id.0 as usize].tell_state(self.now.at, None, &mut self.observer);
        }
    }

    /// Does what an agent asks for after it was told something: events, then segments, then its timer.
    fn serve(&mut self, id: EndpointId) {
        if !self.endpoints[id.0 as usize].agent.has_events() || self.tell_events(id) {
            self.transmit(id);
            self.arm(id);
        }
    }

    /// Hands an agent's events on; says whether it is still there.
    fn tell_events(&mut self, id: EndpointId) -> bool {
        let generation = self.endpoints[id.0 as usize].generation;
        while let Some(event) = self.endpoints[id.0 as usize].agent.poll_event() {
            match event {
                AgentEvent::Tcp(event) => self.on_tcp_event(id, event),
                AgentEvent::Datagrams(event) => self.on_datagram_event(id, event),
            }
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
            TcpEvent::PeerClosed => self.shut_down(id),
            TcpEvent::Closed
            | TcpEvent::Reset
            | TcpEvent::Refused
            | TcpEvent::TimedOut
            | TcpEvent::Aborted
            | TcpEvent::MadeWay
            | TcpEvent::Unreachable => self.release(id),
            TcpEvent::Established if self.endpoints[id.0 as usize].reader == Reader::Impatient => {
                self.read_impatiently(id);
            }
            _ => {}
        }
    }

    fn on_datagram_event(&mut self, id: EndpointId, event: datagram::Event) {
        match event {
            datagram::Event::Delivered(unit) if !id.is_opener() => self.on_unit_arrived(id, unit),
            datagram::Event::Delivered(_) => {}
            datagram::Event::Drained => self.on_drained(id),
        }
    }

    fn on_drained(&mut self, id: EndpointId) {
        let app = self.endpoints[id.0 as usize].app;
        self.with_app(app, |application, io| application.on_drained(io, ConnectionId(id.0 / 2)));
    }

    fn shut_down(&mut self, id: EndpointId) {
        if let Agent::Tcp(connection) = &mut self.endpoints[id.0 as usize].agent {
            connection.shutdown();
        }
    }

    fn transmit(&mut self, id: EndpointId) {
        while let Some((packet, is_data)) = self.next_packet(id) {
            self.depart(packet);
            if !is_data && !self.endpoints[id.0 as usize].agent.has_data() {
                // A packet without data is sent for want of anything better: nothing comes behind it.
                return;
            }
        }
    }

    /// Puts the next packet that an agent wants to be sent among those on their way; says whether it carries data.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the call costs a fifth of what it does, and comes with every packet")]
    fn next_packet(&mut self, id: EndpointId) -> Option<(Place, bool)> {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let packet = self.events.slots.next_packet();
        let (number, is_again) = match &mut endpoint.agent {
            Agent::Tcp(connection) => {
                let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.observer };
                let segment = packet.segment_mut();
                let carried =
                    connection.poll_transmit_into(&mut Cx { now: self.now.at, trace: &mut tracer }, segment)?;
                if let (Some(frame), false, Some(ledger)) = (carried.frame, carried.is_again, &mut endpoint.ledger) {
                    ledger.on_sent(frame, u64::from(segment.len));
                }
                (carried.number, carried.is_again)
            }
            Agent::Datagrams(agent) => {
                let transmit = agent.poll_transmit(self.now.at)?;
                packet.content = Content::Datagram(transmit.datagram);
                (transmit.number, transmit.is_again)
            }
        };
        endpoint.address(packet, id.peer(), number);
        if O::PACKETS {
            let event = if is_again { PacketEvent::Retransmitted } else { PacketEvent::Sent };
            self.observer.on_packet(self.now.at, event, packet);
        }
        Some((self.events.slots.take(), number.is_some()))
    }

    /// Makes sure that an event comes no later than the agent's deadline. Later deadlines wait for the event that
    /// is there: moving the timer with every ACK costs nothing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as of `next_packet`")]
    fn arm(&mut self, id: EndpointId) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let Some(deadline) = endpoint.agent.poll_timeout() else { return };
        if deadline != endpoint.deadline {
            (endpoint.deadline, endpoint.deadline_set) = (deadline, self.now);
        }
        if deadline < endpoint.armed {
            self.enter_deadline(id);
        }
    }

    #[inline(never)]
    fn enter_deadline(&mut self, id: EndpointId) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        let (deadline, set) = (endpoint.deadline, endpoint.deadline_set);
        endpoint.armed = deadline;
        let kind = if deadline - set.at <= endpoint.last_hop { Kind::ShortTimer } else { Kind::Timer };
        self.events.appoint(Event::new(set.until(deadline), kind, id.0));
    }

    fn on_timer(&mut self, id: EndpointId) {
        let endpoint = &mut self.endpoints[id.0 as usize];
        if endpoint.armed != self.now.at || !endpoint.is_in_use {
            return;
        }
        endpoint.armed = Instant::NEVER;
        if endpoint.agent.poll_timeout().is_some_and(|deadline| deadline <= self.now.at) {
            let mut tracer = Tracer { flow: endpoint.flow, observer: &mut self.observer };
            endpoint.agent.on_timeout(&mut Cx { now: self.now.at, trace: &mut tracer });
            self.tell_state(id);
            self.serve(id);
        } else {
            self.arm(id);
        }
    }

    fn on_wake(&mut self, number: u32) {
        if let Some(listener) = number.checked_sub(FIRST_LISTENER) {
            return self.on_wake_listener(ListenerId(listener));
        }
        let id = AppId(number);
        if self.apps[id.0 as usize].wake == self.now.at {
            self.with_app(id, |application, io| application.on_wake(io));
        }
    }

    /// Lets an application act, then serves the connections it touched.
    fn with_app(&mut self, id: AppId, act: impl FnOnce(&mut dyn Application, &mut dyn Io)) {
        let Some(mut application) = self.apps[id.0 as usize].application.take() else {
            return;
        };
        let mut io = AppIo::new(self, id);
        act(&mut *application, &mut io);
        let touched = io.touched();
        self.apps[id.0 as usize].application = Some(application);
        if let Some(connection) = touched {
            self.tell_state(EndpointId(connection.0 * 2));
            self.serve(EndpointId(connection.0 * 2));
        }
    }

    fn on_mark(&mut self) {
        let open = self.endpoints.chunks_exact(2).filter(|pair| pair[0].is_in_use);
        let received: Vec<_> = open.map(|pair| (pair[0].flow, pair[1].agent.received())).collect();
        self.observer.on_mark(&received);
    }

    fn on_sample(&mut self) {
        if let Some(period) = self.probe_period {
            self.events.appoint(Event::new(self.now.until(self.now.at + period), Kind::Probe, SAMPLE));
        }
        for endpoint in self.endpoints.iter().step_by(2).filter(|endpoint| endpoint.is_in_use) {
            match &endpoint.agent {
                Agent::Tcp(connection) => self.observer.on_flow_probe(self.now.at, endpoint.flow, connection),
                Agent::Datagrams(sender) => self.observer.on_datagrams_probe(self.now.at, endpoint.flow, sender),
            }
        }
        for (number, link) in self.network.links.iter_mut().enumerate() {
            self.observer.on_link_probe(self.now.at, LinkId(number as u32), link.backlog(self.now.at));
        }
    }

    fn open(&mut self, app: AppId, path: PathId) -> ConnectionId {
        let flow_id = self.apps[app.0 as usize].flow;
        let flow = &mut self.flows[flow_id.0 as usize];
        let seeds = flow.seeds.nth(flow.connections);
        flow.connections += 1;
        let group = flow.group;
        let (opener, listener, headers) = agents(&flow.carrier, seeds);
        let (there, back) = self.paths[path.0 as usize];
        let place = self.place_for_two();
        for (id, agent, route, coming) in [(place, opener, there, back), (place.peer(), listener, back, there)] {
            let generation = self.endpoints.get(id.0 as usize).map_or(0, |old| old.generation + 1);
            let endpoint = Endpoint {
                agent,
                flow: flow_id,
                group,
                app,
                route,
                generation,
                headers,
                armed: Instant::NEVER,
                deadline: Instant::NEVER,
                deadline_set: Moment::ZERO,
                last_hop: self.network.last_hop(coming),
                is_in_use: true,
                reader: Reader::Anyone,
                ledger: None,
            };
            self.put(id, endpoint);
        }
        self.seat_readers(flow_id, place);
        ConnectionId(place.0 / 2)
    }

    fn place_for_two(&mut self) -> EndpointId {
        self.free.pop().unwrap_or(EndpointId(self.endpoints.len() as u32))
    }

    fn put(&mut self, id: EndpointId, endpoint: Endpoint) {
        match self.endpoints.get_mut(id.0 as usize) {
            Some(place) => *place = endpoint,
            None => self.endpoints.push(endpoint),
        }
    }

    fn close(&mut self, connection: ConnectionId) {
        let id = EndpointId(connection.0 * 2);
        match &self.flows[self.endpoints[id.0 as usize].flow.0 as usize].carrier {
            Carrier::Tcp(settings) if settings.closes_with_fin => self.shut_down(id),
            Carrier::Tcp(_) => {
                self.release(id);
                self.release(id.peer());
            }
            // Nobody tells the receiver that this was the last datagram: both places are kept to the end.
            Carrier::Datagrams(_) => {}
        }
    }

    /// Gives an endpoint's place back once both ends are done.
    fn release(&mut self, id: EndpointId) {
        if !self.endpoints[id.0 as usize].is_in_use {
            return;
        }
        if self.endpoints[id.peer().0 as usize].is_in_use {
            self.tell_end(EndpointId(id.0 & !1));
        }
        self.endpoints[id.0 as usize].is_in_use = false;
        if !self.endpoints[id.peer().0 as usize].is_in_use {
            self.endpoints[id.0 as usize].generation += 1;
            self.endpoints[id.peer().0 as usize].generation += 1;
            self.free.push(EndpointId(id.0 & !1));
        }
    }

    fn tell_end(&mut self, opener: EndpointId) {
        let [opener, listener] = [opener, opener.peer()].map(|id| &self.endpoints[id.0 as usize]);
        match (&opener.agent, &listener.agent) {
            _ if !opener.is_in_use => {}
            (Agent::Tcp(sender), Agent::Tcp(receiver)) => {
                self.observer.on_end(self.now.at, opener.flow, sender, receiver);
            }
            (Agent::Datagrams(sender), receiver) => {
                self.observer.on_datagrams_end(opener.flow, sender, receiver.received());
            }
            (Agent::Tcp(_), Agent::Datagrams(_)) => {}
        }
    }
}

/// Makes both ends of a flow's next connection; `seeds` are its own.
fn agents(carrier: &Carrier, seeds: SeedTree) -> (Agent, Agent, HeaderSize) {
    match carrier {
        Carrier::Tcp(settings) => {
            let opener = Connection::connect(&settings.opener, seeds.child("opener"));
            let listener = Connection::listen(&settings.listener, seeds.child("listener"));
            (Agent::Tcp(opener), Agent::Tcp(listener), settings.headers)
        }
        Carrier::Datagrams(settings) => {
            let [sender, receiver] = datagram::Endpoint::pair(settings.config);
            (Agent::Datagrams(sender), Agent::Datagrams(receiver), settings.headers)
        }
    }
}

/// Passes a connection's decisions on with the name of its flow.
struct Tracer<'a, O> {
    flow: FlowId,
    observer: &'a mut O,
}

impl<O: Observer> Trace for Tracer<'_, O> {
    fn record(&mut self, at: Instant, event: TraceEvent) {
        self.observer.on_trace(at, self.flow, event);
    }
}
