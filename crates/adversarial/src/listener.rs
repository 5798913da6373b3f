//! A port that strangers flood, some of whom finish what they began.

use crate::forge::{self, Expected};
use crate::packets::write;
use crate::{Counts, packets, setup};
use arbitrary::{Result, Unstructured};
use earlybird_tcp::{Connection, Cx, FastOpenServer, ListenConfig, Listener, Opened, Response, RfcState, SynCookies};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Addresses, Flags, Segment, SeqNum, Timestamps};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

/// SYNs, ACKs, resets and anything else from a handful of peers, and an application that accepts now and then.
///
/// # Panics
///
/// Where something does not hold.
pub fn listener(data: &[u8], counts: &mut Counts) {
    let mut data = Unstructured::new(data);
    // Where the bytes end, so does the experiment.
    if let Ok(mut port) = Port::new(&mut data, counts) {
        while !data.is_empty() && port.suffer(&mut data).is_ok() {}
    }
}

struct Port<'a> {
    listener: Listener,
    settings: ListenConfig,
    now: Instant,
    /// Those that are open, as a driver keeps them.
    connections: BTreeMap<Addresses, Connection>,
    /// What peers were told last; a peer's addresses are those of what it sends.
    told: Vec<(Addresses, Segment)>,
    counts: &'a mut Counts,
}

/// So many answers are remembered.
const MEMORY: usize = 16;

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
        repeats: data.int_in_range(0..=5)?,
        fast_open: data.ratio(1, 2_u8)?.then_some(fast_open),
    })
}

fn peer(data: &mut Unstructured<'_>) -> Result<Addresses> {
    let host = Ipv4Addr::new(198, 51, 100, data.int_in_range(0..=5)?);
    let addresses = Addresses { source: IpAddr::V4(host), ..packets::addresses(false) };
    Ok(Addresses { source_port: data.int_in_range(1000..=1003)?, ..addresses })
}

impl<'a> Port<'a> {
    fn new(data: &mut Unstructured<'_>, counts: &'a mut Counts) -> Result<Self> {
        let (config, settings) = (setup::config(data)?, settings(data)?);
        let listener = Listener::new(&config, settings, [3; 16], SeedTree::new(1));
        let (connections, told) = (BTreeMap::new(), Vec::new());
        Ok(Self { listener, settings, now: Instant::ZERO, connections, told, counts })
    }

    fn suffer(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
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
        let syn = forge::segment(data, &Expected::default())?;
        self.counts.packet("SYN");
        self.take(peer(data)?, &Segment { flags: syn.flags | Flags::SYN, ..syn });
        Ok(())
    }

    /// Who was answered answers, rightly or almost.
    fn take_answer(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let Some((addresses, told)) = self.told.get(data.choose_index(MEMORY)?).copied() else {
            return Ok(());
        };
        let stamp = told.options.timestamps.unwrap_or_default();
        let timestamps = Timestamps { value: stamp.echo, echo: stamp.value };
        let expected = Expected { seq: told.ack, ack: told.seq.at(told.sequence_len()), timestamps };
        let forged = forge::segment(data, &expected)?;
        let mut options = forged.options;
        options.timestamps = told.options.timestamps.map(|_| timestamps);
        let right = Segment { seq: expected.seq, ack: expected.ack, flags: Flags::ACK, options, ..forged };
        self.counts.packet("answer");
        self.take(addresses, if data.ratio(3, 4_u8)? { &right } else { &forged });
        Ok(())
    }

    fn take_forged(&mut self, data: &mut Unstructured<'_>) -> Result<()> {
        let expected = Expected { ack: SeqNum(data.arbitrary()?), ..Expected::default() };
        let segment = forge::segment(data, &expected)?;
        self.counts.packet("stranger");
        self.take(peer(data)?, &segment);
        Ok(())
    }

    /// Does with a segment what a driver does.
    fn take(&mut self, addresses: Addresses, segment: &Segment) {
        self.counts.segments += 1;
        self.counts.offered += u64::from(segment.len);
        let cx = &mut Cx { now: self.now, trace: &mut () };
        if let Some(connection) = self.connections.get_mut(&addresses) {
            connection.on_segment(cx, segment);
            return;
        }
        match self.listener.on_segment(cx, &addresses, segment) {
            Response::Nothing => {}
            Response::Answer(answer) => {
                assert!(!segment.flags.contains(Flags::RST), "a reset is answered");
                self.tell(addresses, answer);
            }
            Response::Opened(Opened { connection, taken, .. }) => {
                self.counts.connections += 1;
                assert!(taken.stream.end - taken.stream.start <= u64::from(segment.len));
                self.connections.insert(addresses, *connection);
            }
        }
    }

    fn tell(&mut self, addresses: Addresses, answer: Segment) {
        self.counts.answers += 1;
        assert_eq!(answer.len, 0, "what the listener says has no payload");
        assert!(
            write(&answer, &addresses.reversed(), &[]).is_ok(),
            "the answer does not fit into a packet: {answer:?}"
        );
        if answer.flags.contains(Flags::SYN) {
            self.told.insert(0, (addresses, answer));
            self.told.truncate(MEMORY);
        }
    }

    /// The application takes a connection and gives it up.
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
        let most = self.settings.half_open * (usize::from(self.settings.repeats) + 1);
        for count in 0.. {
            let Some((addresses, answer)) = self.listener.poll_transmit(self.now) else {
                break;
            };
            assert!(count <= most, "the listener sends without end");
            self.tell(addresses, answer);
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
