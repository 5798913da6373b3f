//! A listener and clients that it serves at the same time, over links that lose, repeat and reorder.

use super::link::{Faults, Link, faults};
use earlybird_tcp::{
    AcceptedRange, Config, Connection, Cx, Event, FastOpenOffer, FastOpenServer, Identity, ListenConfig, Listener,
    Opened, Response, RfcState, SynCookies,
};
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{Addresses, FastOpen, Segment};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// The kind of handshake of a client.
#[derive(Clone, Copy, Debug)]
enum Opening {
    Plain,
    Asking,
    /// With the right cookie, or a wrong one.
    Cookie(bool),
    WithoutCookie,
}

#[derive(Clone, Debug)]
struct Plan {
    opening: Opening,
    bytes: u64,
    faults: Faults,
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let opening = prop_oneof![
        Just(Opening::Plain),
        Just(Opening::Asking),
        any::<bool>().prop_map(Opening::Cookie),
        Just(Opening::WithoutCookie)
    ];
    vec((opening, 0_u64..8000, faults()).prop_map(|(opening, bytes, faults)| Plan { opening, bytes, faults }), 1..6)
}

fn settings() -> impl Strategy<Value = ListenConfig> {
    let cookies = prop_oneof![Just(SynCookies::Never), Just(SynCookies::WhenFull), Just(SynCookies::Always)];
    (1_usize..4, 1_usize..4, cookies, 0_usize..3, any::<bool>()).prop_map(|bounds| {
        let (backlog, half_open, syn_cookies, max_pending, needs_cookie) = bounds;
        let fast_open = FastOpenServer { key: [3; 16], backup_key: None, max_pending, needs_cookie };
        ListenConfig { backlog, half_open, syn_cookies, fast_open: Some(fast_open), ..ListenConfig::default() }
    })
}

/// The bytes of a stream that were taken: what came behind a hole may come, and be taken, again.
#[derive(Debug, Default)]
struct Bytes(BTreeMap<u64, u64>);

impl Bytes {
    fn take(&mut self, taken: &AcceptedRange) {
        let end = self.0.entry(taken.stream.start).or_default();
        *end = taken.stream.end.max(*end);
    }

    /// Returns whether these are the first `count` bytes, and no others.
    fn are_first(&self, count: u64) -> bool {
        let mut next = 0;
        let is_gapless = self.0.iter().all(|(start, end)| {
            let follows = *start <= next;
            next = next.max(*end);
            follows
        });
        is_gapless && next == count
    }
}

struct Client {
    connection: Connection,
    link: Link,
    bytes: u64,
    events: Vec<Event>,
}

struct Served {
    connection: Connection,
    taken: Bytes,
    is_fast_open: bool,
    was_accepted: bool,
    has_given_up: bool,
}

/// A host with one port, and its clients.
struct Town {
    now: Instant,
    listener: Listener,
    served: BTreeMap<usize, Served>,
    clients: Vec<Client>,
    opened: BTreeMap<usize, u32>,
}

fn addresses(number: usize) -> Addresses {
    let source = Ipv4Addr::new(10, 0, 0, 1).into();
    Addresses {
        source,
        destination: Ipv4Addr::new(192, 0, 2, 1).into(),
        source_port: number as u16,
        destination_port: 80,
    }
}

fn client(number: usize, plan: &Plan, server: &FastOpenServer) -> Client {
    let seeds = SeedTree::new(number as u64);
    let mut connection = Connection::connect_as(&Config::rfc(), Identity::drawn(seeds), seeds);
    let cookie = |is_right| {
        let wrong = FastOpen::cookie(&[9; 8]).expect("eight bytes");
        if is_right { server.cookie(&addresses(number)) } else { wrong }
    };
    match plan.opening {
        Opening::Plain => {}
        Opening::Asking => connection.open_fast(FastOpenOffer::Request { is_experimental: false }),
        Opening::Cookie(is_right) => {
            connection.open_fast(FastOpenOffer::Cookie { cookie: cookie(is_right), mss: None });
        }
        Opening::WithoutCookie => connection.open_fast(FastOpenOffer::WithoutCookie { mss: None }),
    }
    assert_eq!(connection.write(plan.bytes), Ok(plan.bytes));
    connection.shutdown();
    Client { connection, link: Link::new(plan.faults.clone()), bytes: plan.bytes, events: Vec::new() }
}

impl Town {
    fn new(settings: ListenConfig, plans: &[Plan]) -> Self {
        let server = settings.fast_open.expect("it has");
        let clients = plans.iter().enumerate().map(|(number, plan)| client(number, plan, &server)).collect();
        let listener = Listener::new(&Config::rfc(), settings, [5; 16], SeedTree::new(1));
        Self { now: Instant::ZERO, listener, served: BTreeMap::new(), clients, opened: BTreeMap::new() }
    }

    fn next(&self) -> Option<Instant> {
        let clients = self.clients.iter().flat_map(|client| [client.connection.poll_timeout(), client.link.next()]);
        let served = self.served.values().map(|served| served.connection.poll_timeout());
        clients.chain(served).chain([self.listener.poll_timeout()]).flatten().min()
    }

    /// Does everything that is due, and all that follows from it.
    fn serve(&mut self) {
        for number in 0..self.clients.len() {
            self.serve_client(number);
        }
        let answers: Vec<_> = std::iter::from_fn(|| self.listener.poll_transmit(self.now)).collect();
        for (to, answer) in answers {
            self.clients[usize::from(to.source_port)].link.carry(self.now, 1, answer);
        }
        for number in 0..self.clients.len() {
            self.serve_served(number);
        }
    }

    fn serve_client(&mut self, number: usize) {
        let (cx, client) = (&mut Cx { now: self.now, trace: &mut () }, &mut self.clients[number]);
        if client.connection.poll_timeout().is_some_and(|at| at <= self.now) {
            client.connection.on_timeout(cx);
        }
        while let Some(transmit) = client.connection.poll_transmit(cx) {
            client.link.carry(self.now, 0, transmit.segment);
        }
        client.events.extend(std::iter::from_fn(|| client.connection.poll_event()));
    }

    fn serve_served(&mut self, number: usize) {
        let Some(served) = self.served.get_mut(&number) else { return };
        let (cx, connection) = (&mut Cx { now: self.now, trace: &mut () }, &mut served.connection);
        if connection.poll_timeout().is_some_and(|at| at <= self.now) {
            connection.on_timeout(cx);
        }
        while let Some(event) = connection.poll_event() {
            if event == Event::PeerClosed {
                connection.shutdown();
            }
            served.has_given_up |= event == Event::TimedOut;
        }
        connection.read(u64::MAX);
        if served.is_fast_open && connection.state() != RfcState::SynReceived {
            served.is_fast_open = false;
            self.listener.on_settled(self.now, &addresses(number), false);
        }
        while let Some(transmit) = connection.poll_transmit(cx) {
            self.clients[number].link.carry(self.now, 1, transmit.segment);
        }
    }

    fn arrive(&mut self, number: usize, to: usize, segment: &Segment) {
        let cx = &mut Cx { now: self.now, trace: &mut () };
        if to == 0 {
            self.clients[number].connection.on_segment(cx, segment);
        } else if let Some(served) = self.served.get_mut(&number) {
            let taken = served.connection.on_segment(cx, segment);
            served.taken.take(&taken);
        } else {
            match self.listener.on_segment(cx, &addresses(number), segment) {
                Response::Nothing => {}
                Response::Answer(answer) => self.clients[number].link.carry(self.now, 1, answer),
                Response::Opened(opened) => self.keep(number, opened),
            }
        }
    }

    fn keep(&mut self, number: usize, opened: Opened) {
        *self.opened.entry(number).or_default() += 1;
        let mut taken = Bytes::default();
        taken.take(&opened.taken);
        let (connection, is_fast_open) = (*opened.connection, opened.is_fast_open);
        let (was_accepted, has_given_up) = (false, false);
        self.served.insert(number, Served { connection, taken, is_fast_open, was_accepted, has_given_up });
    }

    /// Returns whether a client has nothing left to do. One that has closed its half may wait for ever if its server, which
    /// heard no answer to its own FIN, gave up without a word (RFC 9293 §3.5.1, half-open connections).
    fn is_over(&self, number: usize) -> bool {
        match self.clients[number].connection.state() {
            RfcState::Closed | RfcState::TimeWait => true,
            RfcState::FinWait2 => self.served[&number].has_given_up,
            _ => false,
        }
    }

    /// Goes on until nothing happens any more. The application accepts one connection with each step.
    fn run(&mut self, bounds: &ListenConfig) {
        self.serve();
        for _ in 0..20_000 {
            let Some(next) = self.next() else { return };
            self.now = next;
            for number in 0..self.clients.len() {
                while self.clients[number].link.next().is_some_and(|at| at <= next) {
                    let (to, segment) = self.clients[number].link.arrive().expect("it is due");
                    self.arrive(number, to, &segment);
                }
            }
            self.serve();
            assert!(self.listener.half_open() <= bounds.half_open && self.listener.waiting() <= bounds.backlog);
            if let Some(accepted) = self.listener.accept() {
                let served = self.served.get_mut(&usize::from(accepted.source_port)).expect("it was opened");
                assert!(!std::mem::replace(&mut served.was_accepted, true), "it is accepted once");
            }
        }
        panic!("no end");
    }
}

proptest! {
    /// Whatever becomes of the segments of the handshake, and however short the queues are.
    #[test]
    fn every_client_is_served_once_with_its_bytes_exactly_or_told(settings in settings(), plans in plans()) {
        let mut town = Town::new(settings, &plans);
        town.run(&settings);
        for (number, client) in town.clients.iter().enumerate() {
            prop_assert!(town.is_over(number), "client {} is in {:?}", number, client.connection.state());
            let is_told = !client.events.contains(&Event::Closed);
            if !is_told {
                let served = town.served.get(&number).expect("a connection");
                prop_assert!(served.taken.are_first(client.bytes), "{:?} of {}", served.taken, client.bytes);
                prop_assert!(served.was_accepted && town.opened[&number] == 1);
            }
        }
        prop_assert_eq!((town.listener.half_open(), town.listener.waiting()), (0, 0));
    }
}

/// Its FIN is acknowledged, and then nothing of the server arrives any more.
#[test]
fn a_client_that_has_closed_its_half_gets_nothing_from_a_server_that_aborted() {
    use crate::link::Fate::{Arrives as A, IsLost as L};
    let fast_open = FastOpenServer { key: [3; 16], backup_key: None, max_pending: 1, needs_cookie: false };
    let settings = ListenConfig { fast_open: Some(fast_open), ..ListenConfig::default() };
    let fates = [vec![], [&[L, A, A, L, A][..], &[L; 8]].concat()];
    let plan = Plan { opening: Opening::Cookie(false), bytes: 1485, faults: Faults { delay: 1, fates } };
    let mut town = Town::new(settings, &[plan]);
    town.run(&settings);
    assert_eq!(town.clients[0].connection.state(), RfcState::FinWait2);
    assert!(town.served[&0].has_given_up && town.is_over(0));
}
