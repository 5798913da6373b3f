//! Two correct endpoints with a malicious network between them.

use crate::oracle::ReceiverOracle;
use crate::packets::{addresses, read, write};
use crate::{Totals, forge, random_config};
use arbitrary::{Result, Unstructured};
use earlybird_tcp::{Config, Connection, Cx, FastOpenOffer, RealTime, RfcState, Transmit};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Addresses, Checksums, Ecn};
use std::collections::BTreeMap;

/// Runs two connections that write, read and close, while packets are dropped, delayed, duplicated and corrupted. In some
/// conversations, the network also rewrites headers with valid checksums: everything but the position of payload.
///
/// # Panics
///
/// If an invariant is violated.
pub fn conversation(data: &[u8], totals: &mut Totals) {
    let mut data = Unstructured::new(data);
    if let Ok(mut conversation) = Conversation::new(&mut data, totals) {
        conversation.run(&mut data);
    }
}

/// More steps than a conversation without forging takes after the input bytes are used up.
const STEPS: u32 = 20_000;
/// The limit with forging, which may desynchronise the two for ever.
const STEPS_DIVERGED: u32 = 1000;
/// With at most this many losses, no endpoint times out.
const FEW_LOSSES: u32 = 3;

struct Endpoint {
    connection: Connection,
    oracle: ReceiverOracle,
    written: u64,
    /// Total bytes to write.
    to_write: u64,
    read: u64,
}

struct Conversation<'a> {
    endpoints: [Endpoint; 2],
    addresses: Addresses,
    /// Packets in flight by arrival time, then by order of sending, with their receiver.
    in_flight: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    sent: u64,
    now: Instant,
    lost: u32,
    /// Whether the network rewrites headers.
    forges: bool,
    /// Whether the SYN carries data.
    has_syn_data: bool,
    totals: &'a mut Totals,
}

/// Returns the byte at an offset of the stream of a side.
const fn byte(side: usize, place: u64) -> u8 {
    (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u8 ^ (side as u8 * 0x55)
}

impl Endpoint {
    fn new(connection: Connection, to_write: u64) -> Self {
        Self { connection, oracle: ReceiverOracle::default(), written: 0, to_write, read: 0 }
    }

    /// Writes what the send buffer accepts, and closes after the last byte.
    fn write(&mut self) {
        self.written += self.connection.write(self.to_write - self.written).unwrap_or(0);
        if self.written == self.to_write {
            self.connection.shutdown();
        }
    }
}

impl<'a> Conversation<'a> {
    fn new(data: &mut Unstructured<'_>, totals: &'a mut Totals) -> Result<Self> {
        // Without real-time mode: every byte must arrive.
        let config = |config: Config| config.with_real_time(RealTime::default());
        let configs = [config(random_config::config(data)?), config(random_config::config(data)?)];
        let seeds = SeedTree::new(data.arbitrary::<u16>()?.into());
        let connections = [
            Connection::connect(&configs[0], seeds.child("opener")),
            Connection::listen(&configs[1], seeds.child("listener")),
        ];
        let most = u64::from(configs[0].segments.mss.min(configs[1].segments.mss)) * 20;
        let mut endpoints = Vec::new();
        for connection in connections {
            endpoints.push(Endpoint::new(connection, data.int_in_range(0..=most)?));
        }
        let Ok(endpoints) = endpoints.try_into() else { unreachable!("there are two") };
        let (addresses, forges, has_syn_data) =
            (addresses(data.arbitrary()?), data.ratio(1, 3_u8)?, data.ratio(1, 4_u8)?);
        let (in_flight, now) = (BTreeMap::new(), Instant::ZERO);
        totals.connections += 2;
        Ok(Self { endpoints, addresses, in_flight, sent: 0, now, lost: 0, forges, has_syn_data, totals })
    }

    fn run(&mut self, data: &mut Unstructured<'_>) {
        // The listener has no Fast Open: it must drop the data and get it again.
        if self.has_syn_data {
            self.endpoints[0].connection.open_fast(FastOpenOffer::WithoutCookie { mss: None });
        }
        self.endpoints[0].write();
        self.serve(0, data);
        for _ in 0..if self.forges { STEPS_DIVERGED } else { STEPS } {
            if !self.step(data) {
                return self.finish();
            }
        }
        // After many losses, timers back off for a long time, and keep-alives go on for ever.
        assert!(self.forges || self.lost > FEW_LOSSES, "the conversation has no end");
    }

    /// Processes the next event. Returns whether there was one.
    fn step(&mut self, data: &mut Unstructured<'_>) -> bool {
        let arrival = self.in_flight.first_key_value().map(|((at, _), _)| *at);
        let timers = self.endpoints.each_ref().map(|side| side.connection.poll_timeout());
        let Some(next) = [arrival, timers[0], timers[1]].into_iter().flatten().min() else {
            return false;
        };
        self.now = self.now.max(next);
        if arrival == Some(next) {
            self.deliver(data);
        } else {
            let side = usize::from(timers[0] != Some(next));
            self.endpoints[side].connection.on_timeout(&mut Cx { now: self.now, trace: &mut () });
            self.serve(side, data);
        }
        true
    }

    /// With few losses and no forging, everything must have arrived.
    fn finish(&mut self) {
        // Forged ACKs may have acknowledged data that never arrived.
        if self.forges || self.lost > FEW_LOSSES {
            return;
        }
        for (side, peer) in [(0, 1), (1, 0)] {
            let (received, written) = (self.endpoints[side].connection.received(), self.endpoints[peer].to_write);
            assert_eq!(received, written, "side {side} has what the other wrote");
        }
        self.totals.completed += 1;
    }

    fn deliver(&mut self, data: &mut Unstructured<'_>) {
        let Some((_, (to, packet))) = self.in_flight.pop_first() else {
            return;
        };
        let parsed = match read(&packet, Checksums::Verify) {
            Ok(parsed) => parsed,
            Err(reason) => return self.totals.refuse(reason),
        };
        let side = &mut self.endpoints[to];
        let before = side.connection.received();
        let taken = side.connection.on_segment(&mut Cx { now: self.now, trace: &mut () }, &parsed.segment);
        self.totals.segments += 1;
        self.totals.offered += u64::from(parsed.segment.len);
        self.totals.kept += side.oracle.record(&parsed.segment, &taken);
        self.totals.delivered += side.connection.received() - before;
        let payload = packet[parsed.payload].iter().skip(taken.skip.into());
        for (place, got) in taken.stream.zip(payload) {
            assert_eq!(*got, byte(1 - to, place), "the byte at {place}, as it was sent to side {to}");
        }
        self.serve(to, data);
    }

    /// Does what a driver does after each call, and checks invariants.
    fn serve(&mut self, number: usize, data: &mut Unstructured<'_>) {
        let side = &mut self.endpoints[number];
        while side.connection.poll_event().is_some() {}
        if matches!(side.connection.state(), RfcState::Established | RfcState::CloseWait) {
            side.write();
        }
        side.read += side.connection.read(u64::MAX);
        let (received, sent) = (side.connection.received(), side.oracle.in_order());
        assert!(received <= sent, "{received} bytes were delivered to side {number}, {sent} sent");
        assert!(side.read <= received);
        let now = self.now;
        while let Some(transmit) = self.endpoints[number].connection.poll_transmit(&mut Cx { now, trace: &mut () }) {
            assert!(transmit.data.end <= self.endpoints[number].written, "more is sent than written");
            self.totals.answers += 1;
            // Without input bytes left, the network is perfect.
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
            // {
            //  =>
            0 => {
                self.totals.packet("dropped");
                self.lost += 1;
            }
            1 => {
                self.totals.packet("duplicated");
                self.send(from, transmit, data.arbitrary()?);
                self.send(from, transmit, data.arbitrary()?);
            }
            2 | 3 => {
                self.totals.packet("delayed");
                self.send(from, transmit, data.arbitrary()?);
            }
            4 => {
                self.totals.packet("corrupted");
                self.lost += 1;
                let mut packet = self.packet(from, transmit);
                // One bit only: the checksum may miss two.
                forge::flip(data, &mut packet)?;
                self.put(from, packet, 0);
            }
            5 if self.forges => {
                self.totals.packet("changed");
                self.forge(from, transmit, data)?;
            }
            _ => {
                self.totals.packet("passed on");
                self.send(from, transmit, 0);
            }
        }
        Ok(())
    }

    /// Rewrites all header fields but those that position payload.
    fn forge(&mut self, from: usize, transmit: &Transmit, data: &mut Unstructured<'_>) -> Result<()> {
        let mut changed = transmit.clone();
        let segment = &mut changed.segment;
        let expected = forge::NextExpected {
            seq: segment.seq,
            ack: segment.ack,
            timestamps: segment.options.timestamps.unwrap_or_default(),
        };
        let forged = forge::segment(data, &expected)?;
        segment.ack = forged.ack;
        segment.window = forged.window;
        segment.ecn = Ecn::from_bits(data.arbitrary()?);
        segment.options = forged.options;
        self.send(from, &changed, 0);
        Ok(())
    }

    fn send(&mut self, from: usize, transmit: &Transmit, late: u8) {
        let packet = self.packet(from, transmit);
        self.put(from, packet, late);
    }

    fn put(&mut self, from: usize, packet: Vec<u8>, late: u8) {
        self.sent += 1;
        let at = self.now + Duration::from_millis(20 + u64::from(late));
        self.in_flight.insert((at, self.sent), (1 - from, packet));
    }

    fn packet(&self, from: usize, transmit: &Transmit) -> Vec<u8> {
        let payload: Vec<u8> = transmit.data.clone().map(|place| byte(from, place)).collect();
        let addresses = if from == 0 { self.addresses } else { self.addresses.reversed() };
        let plain = || earlybird_wire::Segment { options: earlybird_wire::Options::default(), ..transmit.segment };
        // Forged options may exceed the 40 bytes of a header.
        write(&transmit.segment, &addresses, &payload)
            .or_else(|_| write(&plain(), &addresses, &payload))
            .expect("a segment without options fits")
    }
}
