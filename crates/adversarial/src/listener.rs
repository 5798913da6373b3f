//! A listener under a flood of SYNs, some of which complete their handshake.

use crate::forge::{self, NextExpected};
use crate::packets::write;
use crate::{Totals, packets, random_config};
use arbitrary::{Result, Unstructured};
use earlybird_tcp::{Connection, Cx, FastOpenServer, ListenConfig, Listener, Opened, Response, RfcState, SynCookies};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Addresses, Flags, Segment, SeqNum, Timestamps};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

/// Sends SYNs, ACKs, resets and forged segments from a few peers to a listener whose application accepts now and then.
///
/// # Panics
///
/// If an invariant is violated.
pub fn listener(data: &[u8], totals: &mut Totals) {
    let mut data = Unstructured::new(data);
    // The experiment ends with its input.
    if let Ok(mut test) = ListenerUnderTest::new(&mut data, totals) {
        while !data.is_empty() && test.step(&mut data).is_ok() {}
    }
}

struct ListenerUnderTest<'a> {
    listener: Listener,
    settings: ListenConfig,
    now: Instant,
    /// Open connections, as a driver keeps them.
    connections: BTreeMap<Addresses, Connection>,
    /// The latest replies; the addresses are those of the peer's segments.
    replies: Vec<(Addresses, Segment)>,
    totals: &'a mut Totals,
}

/// The number of replies that are kept.
const REPLY_LIMIT: usize = 16;

fn settings(data: &mut Unstructured<'_>) -> Result<ListenConfig> {
    let fast_open = FastOpenServer {
        key: [7; 16],
        backup_key: data.arbitrary()?,
        max_pending: data.int_in_range(0..=4)?,
        needs_cookie: data.arbitrary()?,
    };
    Ok(ListenConfig {
        backlog: data.int_in_range(0..=6)?,
        half_open: data.int_in_range(1..=8)?,
        syn_cookies: *data.choose(&[SynCookies::Never, SynCookies::WhenFull, SynCookies::Always])?,
        synack_retries: data.int_in_range(0..=5)?,
        fast_open: data.ratio(1, 2_u8)?.then_some(fast_open),
    })
}

fn peer(data: &mut Unstructured<'_>) -> Result<Addresses> {
    // TEST-NET-2 (RFC 5737): few hosts and ports, so that flows collide.
    let host = Ipv4Addr::new(198, 51, 100, data.int_in_range(0..=5)?);
    let addresses = Addresses { source: IpAddr::V4(host), ..packets::addresses(false) };
    Ok(Addresses { source_port: data.int_in_range(1000..=1003)?, ..addresses })
}

impl<'a> ListenerUnderTest<'a> {
    fn new(data: &mut Unstructured<'_>, totals: &'a mut Totals) -> Result<Self> {
        let (config, settings) = (random_config::config(data)?, settings(data)?);
        let listener = Listener::new(&config, settings, [3; 16], SeedTree::new(1));
        let (connections, replies) = (BTreeMap::new(), Vec::new());
        Ok(Self { listener, settings, now: Instant::ZERO, connections, replies, totals })
    }

    fn step(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        match data.int_in_range(0..=15_u8)? {
            0..=5 => self.take_syn(data)?,
            6..=9 => self.take_answer(data)?,
            10..=12 => self.take_forged(data)?,
            13 => self.pause(data)?,
            _ => self.accept(),
        }
        self.serve();
        Ok(())
    }

    fn take_syn(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let syn = forge::segment(data, &NextExpected::default())?;
        self.totals.packet("SYN");
        self.take(peer(data)?, &Segment { flags: syn.flags | Flags::SYN, ..syn });
        Ok(())
    }

    /// A peer answers a reply, correctly or almost.
    fn take_answer(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let Some((addresses, reply)) = self.replies.get(data.choose_index(REPLY_LIMIT)?).copied() else {
            return Ok(());
        };
        let stamp = reply.options.timestamps.unwrap_or_default();
        let timestamps = Timestamps { value: stamp.echo, echo: stamp.value };
        let expected = NextExpected { seq: reply.ack, ack: reply.seq.at(reply.sequence_len()), timestamps };
        let forged = forge::segment(data, &expected)?;
        let mut options = forged.options;
        options.timestamps = reply.options.timestamps.map(|_| timestamps);
        let right = Segment { seq: expected.seq, ack: expected.ack, flags: Flags::ACK, options, ..forged };
        self.totals.packet("answer");
        self.take(addresses, if data.ratio(3, 4_u8)? { &right } else { &forged });
        Ok(())
    }

    fn take_forged(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let expected = NextExpected { ack: SeqNum(data.arbitrary()?), ..NextExpected::default() };
        let segment = forge::segment(data, &expected)?;
        self.totals.packet("unmatched");
        self.take(peer(data)?, &segment);
        Ok(())
    }

    /// Processes a segment like a driver.
    fn take(&mut self, addresses: Addresses, segment: &Segment) {
        self.totals.segments += 1;
        self.totals.offered += u64::from(segment.len);
        let cx = &mut Cx { now: self.now, trace: &mut () };
        if let Some(connection) = self.connections.get_mut(&addresses) {
            connection.on_segment(cx, segment);
            return;
        }
        match self.listener.on_segment(cx, &addresses, segment) {
            Response::Nothing => {}
            Response::Answer(answer) => {
                assert!(!segment.flags.contains(Flags::RST), "a reset must not be answered");
                self.record_reply(addresses, answer);
            }
            Response::Opened(Opened { connection, taken, .. }) => {
                self.totals.connections += 1;
                assert!(taken.stream.end - taken.stream.start <= u64::from(segment.len));
                self.connections.insert(addresses, *connection);
            }
        }
    }

    fn record_reply(&mut self, addresses: Addresses, answer: Segment) {
        self.totals.answers += 1;
        assert_eq!(answer.len, 0, "replies of a listener have no payload");
        assert!(
            write(&answer, &addresses.reversed(), &[]).is_ok(),
            "the answer does not fit into a packet: {answer:?}"
        );
        if answer.flags.contains(Flags::SYN) {
            self.replies.insert(0, (addresses, answer));
            self.replies.truncate(REPLY_LIMIT);
        }
    }

    /// The application accepts and drops a connection.
    fn accept(&mut self) {
        if let Some(addresses) = self.listener.accept() {
            self.connections.remove(&addresses);
            self.listener.on_settled(self.now, &addresses, false);
        }
    }

    fn pause(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        self.now += Duration::from_millis(u64::from(data.arbitrary::<u8>()?) << data.int_in_range(0..=10_u8)?);
        Ok(())
    }

    fn serve(&mut self) {
        // Each half-open connection may send its SYN-ACK and all retransmissions at once.
        let most = self.settings.half_open * (usize::from(self.settings.synack_retries) + 1);
        for count in 0.. {
            let Some((addresses, answer)) = self.listener.poll_transmit(self.now) else {
                break;
            };
            assert!(count <= most, "the listener sends without end");
            self.record_reply(addresses, answer);
        }
        let cx = &mut Cx { now: self.now, trace: &mut () };
        for connection in self.connections.values_mut() {
            if connection.poll_timeout().is_some_and(|deadline| deadline <= self.now) {
                connection.on_timeout(cx);
            }
            while connection.poll_transmit(cx).is_some() {}
            while connection.poll_event().is_some() {}
        }
        self.connections.retain(|_, connection| connection.state() != RfcState::Closed);
        self.check();
    }

    fn check(&self) {
        let (half_open, waiting) = (self.listener.half_open(), self.listener.waiting());
        assert!(half_open <= self.settings.half_open, "{half_open} handshakes are kept");
        assert!(waiting <= self.settings.backlog, "{waiting} connections wait");
        let deadline = self.listener.poll_timeout();
        assert!(deadline.is_none_or(|deadline| deadline > self.now), "{deadline:?} has passed at {:?}", self.now);
    }
}
