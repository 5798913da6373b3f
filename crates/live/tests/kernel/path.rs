//! What lies between the two: a delay, and fates by number.

use earlybird_units::{Duration, Instant};
use earlybird_wire::{Checksums, Segment, parse};
use std::collections::VecDeque;

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The kernel.
    Kernel,
    /// The endpoint.
    Ours,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives in its turn.
    Arrives,
    /// It never arrives.
    Lost,
    /// It takes half the delay more, and others overtake it.
    Late,
}

/// A segment on its way, as it was seen before it could be lost.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    /// When.
    pub(crate) at: Instant,
    /// Who sent it.
    pub(crate) from: Side,
    /// What it was.
    pub(crate) segment: Segment,
}

/// A path with one delay, and fates by number.
#[derive(Debug)]
pub(crate) struct Path {
    delay: Duration,
    /// Says what becomes of the so-manieth data segment (from 1) of a side.
    fate: fn(Side, u64) -> Fate,
    sent: [u64; 2],
    on_its_way: VecDeque<(Instant, Side, Vec<u8>)>,
    /// Everything that came by.
    pub(crate) seen: Vec<Sighting>,
}

impl Path {
    /// Makes a path that holds each packet back for `delay`; `fate` says which data segments are lost or late.
    pub(crate) fn new(delay: Duration, fate: fn(Side, u64) -> Fate) -> Self {
        Self { delay, fate, sent: [0; 2], on_its_way: VecDeque::new(), seen: Vec::new() }
    }

    /// Takes a packet.
    pub(crate) fn send(&mut self, now: Instant, from: Side, packet: Vec<u8>) {
        let delay = match self.fate_of(now, from, &packet) {
            Fate::Arrives => self.delay,
            Fate::Late => self.delay + self.delay / 2,
            Fate::Lost => return,
        };
        let at = now + delay;
        let place = self.on_its_way.partition_point(|(other, ..)| *other <= at);
        self.on_its_way.insert(place, (at, from, packet));
    }

    /// Takes note of a packet, and says what becomes of it.
    fn fate_of(&mut self, now: Instant, from: Side, packet: &[u8]) -> Fate {
        let Ok(parsed) = parse(packet, Checksums::Ignore) else { return Fate::Arrives };
        let count = &mut self.sent[from as usize];
        let has_data = parsed.segment.len > 0;
        *count += u64::from(has_data);
        let fate = if has_data { (self.fate)(from, *count) } else { Fate::Arrives };
        self.seen.push(Sighting { at: now, from, segment: parsed.segment });
        fate
    }

    /// Returns the next packet that has arrived.
    pub(crate) fn next_arrival(&mut self, now: Instant) -> Option<(Side, Vec<u8>)> {
        let (_, from, packet) = self.on_its_way.pop_front_if(|(at, ..)| *at <= now)?;
        Some((from, packet))
    }

    /// Returns the time of the next arrival.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.on_its_way.front().map(|(at, ..)| *at)
    }

    /// Returns how many data segments a side sent in each span of so much time, from its first one on.
    pub(crate) fn segments_per(&self, from: Side, span: Duration) -> Vec<usize> {
        let sent = self.seen.iter().filter(|seen| seen.from == from && seen.segment.len > 0);
        let times: Vec<Instant> = sent.map(|seen| seen.at).collect();
        let Some(first) = times.first().copied() else { return Vec::new() };
        let index = |at: &Instant| ((*at - first).as_nanos() / span.as_nanos()) as usize;
        let mut counts = vec![0; times.last().map_or(0, |last| index(last) + 1)];
        for at in &times {
            counts[index(at)] += 1;
        }
        counts
    }
}
