use earlybird_units::{Duration, Instant};
use earlybird_wire::{Checksums, Segment, parse};
use std::collections::VecDeque;

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The kernel.
    Kernel,
    /// The endpoint.
    Ours,
}

/// A segment on its way, as it was seen before it could be lost.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// When.
    pub at: Instant,
    /// Who sent it.
    pub from: Side,
    /// What it was.
    pub segment: Segment,
    /// It was lost.
    pub is_lost: bool,
}

/// A path with one delay, and losses by number.
#[derive(Debug)]
pub struct Path {
    delay: Duration,
    /// Says, of the so-manieth data segment (from 1) of a side, whether it is lost.
    loses: fn(Side, u64) -> bool,
    sent: [u64; 2],
    on_its_way: VecDeque<(Instant, Side, Vec<u8>)>,
    /// Everything that came by.
    pub seen: Vec<Sighting>,
}

impl Path {
    /// Makes a path that holds each packet back for `delay`, and loses the data segments that `loses` names.
    pub fn new(delay: Duration, loses: fn(Side, u64) -> bool) -> Self {
        Self { delay, loses, sent: [0; 2], on_its_way: VecDeque::new(), seen: Vec::new() }
    }

    /// Takes a packet.
    pub fn send(&mut self, now: Instant, from: Side, packet: Vec<u8>) {
        if let Ok(parsed) = parse(&packet, Checksums::Ignore) {
            let count = &mut self.sent[from as usize];
            *count += u64::from(parsed.segment.len > 0);
            let is_lost = parsed.segment.len > 0 && (self.loses)(from, *count);
            self.seen.push(Sighting { at: now, from, segment: parsed.segment, is_lost });
            if is_lost {
                return;
            }
        }
        self.on_its_way.push_back((now + self.delay, from, packet));
    }

    /// Gives the next packet that has arrived.
    pub fn next_arrival(&mut self, now: Instant) -> Option<(Side, Vec<u8>)> {
        let (_, from, packet) = self.on_its_way.pop_front_if(|(at, ..)| *at <= now)?;
        Some((from, packet))
    }

    /// Gives the time of the next arrival.
    pub fn next_at(&self) -> Option<Instant> {
        self.on_its_way.front().map(|(at, ..)| *at)
    }

    /// Gives how many data segments a side sent in each span of so much time, from its first one on.
    pub fn segments_per(&self, from: Side, span: Duration) -> Vec<usize> {
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
