//! Two honest ends, and a network between them that is not.

use crate::packets::{addresses, read, write};
use crate::witness::Witness;
use crate::{Counts, forge, setup};
use arbitrary::{Result, Unstructured};
use earlybird_tcp::{Config, Connection, Cx, FastOpenOffer, RealTime, RfcState, Transmit};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Addresses, Checksums, Ecn};
use std::collections::BTreeMap;

/// Two connections that write, read and close, while packets between them are dropped, delayed, doubled, harmed – and, in some
/// conversations, changed so that checksums are right: everything but what payload stands where.
///
/// # Panics
///
/// Where something does not hold.
pub fn conversation(data: &[u8], counts: &mut Counts) {
    let mut data = Unstructured::new(data);
    if let Ok(mut conversation) = Conversation::new(&mut data, counts) {
        conversation.run(&mut data);
    }
}

/// More steps than an honest conversation takes whose bytes have come to their end …
const STEPS: u32 = 20_000;
/// … and as many as are worth looking at where lies may have left the two apart for ever.
const STEPS_APART: u32 = 1000;
/// So few losses that nobody gives up.
const FEW: u32 = 3;

struct Side {
    connection: Connection,
    witness: Witness,
    written: u64,
    /// What it is to write in all.
    to_write: u64,
    read: u64,
}

struct Conversation<'a> {
    sides: [Side; 2],
    addresses: Addresses,
    /// By time of arrival, then in order of sending: to which side.
    on_the_way: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    sent: u64,
    now: Instant,
    lost: u32,
    /// The network changes what segments say.
    lies: bool,
    /// The SYN carries data.
    is_fast: bool,
    counts: &'a mut Counts,
}

/// The byte at a place of the stream that a side writes.
const fn byte(side: usize, place: u64) -> u8 {
    (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u8 ^ (side as u8 * 0x55)
}

impl Side {
    fn new(connection: Connection, to_write: u64) -> Self {
        Self { connection, witness: Witness::default(), written: 0, to_write, read: 0 }
    }

    /// Writes what is left to write and fits, and then closes.
    fn write(&mut self) {
        self.written += self.connection.write(self.to_write - self.written).unwrap_or(0);
        if self.written == self.to_write {
            self.connection.shutdown();
        }
    }
}

impl<'a> Conversation<'a> {
    fn new(data: &mut Unstructured<'_>, counts: &'a mut Counts) -> Result<Self> {
        // Every byte is to arrive: nobody steps over any.
        let config = |config| Config { real_time: RealTime::default(), ..config };
        let configs = [config(setup::config(data)?), config(setup::config(data)?)];
        let seeds = SeedTree::new(data.arbitrary::<u16>()?.into());
        let connections = [
            Connection::connect(&configs[0], seeds.child("opener")),
            Connection::listen(&configs[1], seeds.child("listener")),
        ];
        let most = u64::from(configs[0].mss.min(configs[1].mss)) * 20;
        let mut sides = Vec::new();
        for connection in connections {
            sides.push(Side::new(connection, data.int_in_range(0..=most)?));
        }
        let Ok(sides) = sides.try_into() else { unreachable!("there are two") };
        let (addresses, lies, is_fast) = (addresses(data.arbitrary()?), data.ratio(1, 3_u8)?, data.ratio(1, 4_u8)?);
        let (on_the_way, now) = (BTreeMap::new(), Instant::ZERO);
        counts.connections += 2;
        Ok(Self { sides, addresses, on_the_way, sent: 0, now, lost: 0, lies, is_fast, counts })
    }

    fn run(&mut self, data: &mut Unstructured<'_>) {
        // A SYN may carry data, and meets a listener that drops it.
        if self.is_fast {
            self.sides[0].connection.open_fast(FastOpenOffer::WithoutCookie { mss: None });
        }
        self.sides[0].write();
        self.serve(0, data);
        for _ in 0..if self.lies { STEPS_APART } else { STEPS } {
            if !self.step(data) {
                return self.finish();
            }
        }
        // Who lost much may wait for long, while timers that never rest run out again and again.
        assert!(self.lies || self.lost > FEW, "the conversation has no end");
    }

    /// Goes on to the next thing that happens; says whether there is one.
    fn step(&mut self, data: &mut Unstructured<'_>) -> bool {
        let arrival = self.on_the_way.first_key_value().map(|((at, _), _)| *at);
        let timers = self.sides.each_ref().map(|side| side.connection.poll_timeout());
        let Some(next) = [arrival, timers[0], timers[1]].into_iter().flatten().min() else {
            return false;
        };
        self.now = self.now.max(next);
        if arrival == Some(next) {
            self.deliver(data);
        } else {
            let side = usize::from(timers[0] != Some(next));
            self.sides[side].connection.on_timeout(&mut Cx { now: self.now, trace: &mut () });
            self.serve(side, data);
        }
        true
    }

    /// Where little was lost and nothing forged, everything has arrived.
    fn finish(&mut self) {
        if self.lies || self.lost > FEW {
            return;
        }
        for (side, peer) in [(0, 1), (1, 0)] {
            let (received, written) = (self.sides[side].connection.received(), self.sides[peer].to_write);
            assert_eq!(received, written, "side {side} has what the other wrote");
        }
        self.counts.completed += 1;
    }

    fn deliver(&mut self, data: &mut Unstructured<'_>) {
        let Some((_, (to, packet))) = self.on_the_way.pop_first() else {
            return;
        };
        let parsed = match read(&packet, Checksums::Verify) {
            Ok(parsed) => parsed,
            Err(reason) => return self.counts.refuse(reason),
        };
        let side = &mut self.sides[to];
        let before = side.connection.received();
        let taken = side.connection.on_segment(&mut Cx { now: self.now, trace: &mut () }, &parsed.segment);
        self.counts.segments += 1;
        self.counts.offered += u64::from(parsed.segment.len);
        self.counts.kept += side.witness.keep(&parsed.segment, &taken);
        self.counts.delivered += side.connection.received() - before;
        let payload = packet[parsed.payload].iter().skip(taken.skip.into());
        for (place, got) in taken.stream.zip(payload) {
            assert_eq!(*got, byte(1 - to, place), "the byte at {place}, as it was sent to side {to}");
        }
        self.serve(to, data);
    }

    /// What a driver does after every call.
    fn serve(&mut self, number: usize, data: &mut Unstructured<'_>) {
        let side = &mut self.sides[number];
        while side.connection.poll_event().is_some() {}
        if matches!(side.connection.state(), RfcState::Established | RfcState::CloseWait) {
            side.write();
        }
        side.read += side.connection.read(u64::MAX);
        let (received, sent) = (side.connection.received(), side.witness.in_order());
        assert!(received <= sent, "{received} bytes were delivered to side {number}, {sent} sent");
        assert!(side.read <= received);
        let now = self.now;
        while let Some(transmit) = self.sides[number].connection.poll_transmit(&mut Cx { now, trace: &mut () }) {
            assert!(transmit.data.end <= self.sides[number].written, "more is sent than written");
            self.counts.answers += 1;
            // Where the bytes end, so do the faults.
            if self.carry(number, &transmit, data).is_err() {
                self.send(number, &transmit, 0);
            }
        }
    }

    fn carry(&mut self, from: usize, transmit: &Transmit, data: &mut Unstructured<'_>) -> Result<()> {
        if data.is_empty() {
            return Err(arbitrary::Error::NotEnoughData);
        }
        match data.int_in_range(0..=15_u8)? {
            0 => {
                self.counts.packet("dropped");
                self.lost += 1;
            }
            1 => {
                self.counts.packet("doubled");
                self.send(from, transmit, data.arbitrary()?);
                self.send(from, transmit, data.arbitrary()?);
            }
            2 | 3 => {
                self.counts.packet("delayed");
                self.send(from, transmit, data.arbitrary()?);
            }
            4 => {
                self.counts.packet("harmed");
                self.lost += 1;
                let mut packet = self.packet(from, transmit);
                // Of two, the checksum may miss both.
                forge::flip(data, &mut packet)?;
                self.put(from, packet, 0);
            }
            5 if self.lies => {
                self.counts.packet("changed");
                self.lie(from, transmit, data)?;
            }
            _ => {
                self.counts.packet("passed on");
                self.send(from, transmit, 0);
            }
        }
        Ok(())
    }

    /// Changes everything that does not say where which payload stands.
    fn lie(&mut self, from: usize, transmit: &Transmit, data: &mut Unstructured<'_>) -> Result<()> {
        let mut told = transmit.clone();
        let segment = &mut told.segment;
        let expected = forge::Expected {
            seq: segment.seq,
            ack: segment.ack,
            timestamps: segment.options.timestamps.unwrap_or_default(),
        };
        let forged = forge::segment(data, &expected)?;
        segment.ack = forged.ack;
        segment.window = forged.window;
        segment.ecn = Ecn::from_bits(data.arbitrary()?);
        segment.options = forged.options;
        self.send(from, &told, 0);
        Ok(())
    }

    fn send(&mut self, from: usize, transmit: &Transmit, late: u8) {
        let packet = self.packet(from, transmit);
        self.put(from, packet, late);
    }

    fn put(&mut self, from: usize, packet: Vec<u8>, late: u8) {
        self.sent += 1;
        let at = self.now + Duration::from_millis(20 + u64::from(late));
        self.on_the_way.insert((at, self.sent), (1 - from, packet));
    }

    fn packet(&self, from: usize, transmit: &Transmit) -> Vec<u8> {
        let payload: Vec<u8> = transmit.data.clone().map(|place| byte(from, place)).collect();
        let addresses = if from == 0 { self.addresses } else { self.addresses.reversed() };
        let plain = || earlybird_wire::Segment { options: earlybird_wire::Options::default(), ..transmit.segment };
        // Forged options may not fit.
        write(&transmit.segment, &addresses, &payload)
            .or_else(|_| write(&plain(), &addresses, &payload))
            .expect("a segment without options fits")
    }
}
