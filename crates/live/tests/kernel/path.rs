//! The path between stack and kernel: a delay and chosen impairments.

use earlybird_units::{Duration, Instant};
use earlybird_wire::{Checksums, Segment, parse};
use std::collections::VecDeque;

/// The sender of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The kernel.
    Kernel,
    /// The endpoint.
    Ours,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Delivered in order.
    Arrives,
    /// Lost.
    Lost,
    /// Delayed by half the delay more, so that others overtake it.
    Late,
}

/// A segment, as recorded before a possible loss.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    /// Time of sending.
    pub(crate) at: Instant,
    /// Its sender.
    pub(crate) from: Side,
    /// The segment.
    pub(crate) segment: Segment,
}

/// A path with a fixed delay and scripted fates.
#[derive(Debug)]
pub(crate) struct Path {
    delay: Duration,
    /// Returns the fate of the n-th data segment (from 1) of a side.
    fate: fn(Side, u64) -> Fate,
    sent: [u64; 2],
    in_flight: VecDeque<(Instant, Side, Vec<u8>)>,
    /// All segments.
    pub(crate) seen: Vec<Sighting>,
}

impl Path {
    /// Creates a path with a delay; `fate` selects the data segments that are lost or late.
    pub(crate) fn new(delay: Duration, fate: fn(Side, u64) -> Fate) -> Self {
        Self { delay, fate, sent: [0; 2], in_flight: VecDeque::new(), seen: Vec::new() }
    }

    /// Sends a packet.
    pub(crate) fn send(&mut self, now: Instant, from: Side, packet: Vec<u8>) {
        let delay = match self.fate_of(now, from, &packet) {
            Fate::Arrives => self.delay,
            Fate::Late => self.delay + self.delay / 2,
            Fate::Lost => return,
        };
        let at = now + delay;
        let place = self.in_flight.partition_point(|(other, ..)| *other <= at);
        self.in_flight.insert(place, (at, from, packet));
    }

    /// Records a packet and returns its fate.
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
        let (_, from, packet) = self.in_flight.pop_front_if(|(at, ..)| *at <= now)?;
        Some((from, packet))
    }

    /// Returns the time of the next arrival.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.in_flight.front().map(|(at, ..)| *at)
    }

    /// Returns the number of data segments that a side sent in each interval of `span`, from its first one on.
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
