//! A link in one direction: losses, a queue, transmission, propagation.
//!
//! With a drop-tail queue and a constant rate, the departure or drop of a packet is determined when it arrives: the queue serves in
//! order, so the time of departure is known at once and no event is needed for it. All other links are event-driven,
//! see [`event_driven`].

mod backlog;
mod delay_log;
mod event_driven;
mod queue_samples;
mod reading;

use crate::loss::Loss;
use crate::observer::DropCause;
use crate::outages::Outages;
use crate::packet::Packet;
use crate::service_schedule::{RateChanges, bits_with_outages};
use crate::timestamp::Timestamp;
use crate::transmission_clock::TransmissionClock;
use earlybird_queue::{Discipline, QueueLimit};
use earlybird_units::{Duration, Instant, Random, Rate, SeedTree};
use event_driven::QueueServer;
use queue_samples::QueueSamples;
use std::mem::offset_of;

use backlog::LinkBacklog;
use delay_log::DelayLog;
pub(crate) use event_driven::EnqueueOutcome;
pub use reading::{Arrivals, LinkCounts, LinkReading};
use reading::{Held, MeasuredInterval};

/// Settings of a link.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// The link's name in results.
    pub name: String,
    /// Bits per second; at first, or on average, if it changes.
    pub rate: Rate,
    /// Changes of the rate.
    pub changes: Option<RateChanges>,
    /// Times in which packets wait and nothing is sent. They do not apply to delivery opportunities.
    pub outages: Outages,
    /// Propagation time.
    pub delay: Duration,
    /// Capacity of the queue.
    pub limit: QueueLimit,
    /// Queue discipline.
    pub discipline: Discipline,
    /// The queue's random numbers.
    pub random: Random,
    /// Loss rules, applied before the queue.
    pub losses: Vec<Loss>,
}

impl LinkSettings {
    /// Returns settings with a constant rate, no propagation delay, an unlimited queue and no losses.
    pub fn plain(name: &str, rate: Rate, seeds: SeedTree) -> Self {
        Self {
            name: name.to_owned(),
            rate,
            changes: None,
            outages: Outages::default(),
            delay: Duration::ZERO,
            limit: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            random: seeds.child("queue").random(),
            losses: Vec::new(),
        }
    }

    /// Returns how many bits the link could send before `end`.
    pub fn bits_before(&self, end: Instant) -> f64 {
        if !self.outages.is_empty() {
            return bits_with_outages(self.rate, self.changes.as_ref(), &self.outages, end);
        }
        let constant = || self.rate.bits_per_second() as f64 * end.as_secs_f64();
        self.changes.as_ref().map_or_else(constant, |changes| changes.bits_before(end, self.rate))
    }
}

/// Packets of a link as they are counted on arrival. See [`Link::reading`] for their outcomes up to a time.
// Every packet changes the last two fields, and few packets the others: see the order of fields in `Link`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counters {
    /// Packets and bytes whose transmission has begun, on an event-driven link.
    started: (u64, u64),
    /// Packets that the queue marked with CE.
    pub packets_marked: u64,
    /// Packets that a loss rule dropped.
    pub packets_lost: u64,
    /// Packets that were dropped, by a loss rule or by the queue.
    pub packets_dropped: u64,
    /// Packets that arrived.
    pub packets_in: u64,
    /// Bytes of packets that were not dropped.
    pub bytes_accepted: u64,
}

impl Counters {
    #[inline]
    fn count(&mut self, bytes: u32, is_kept: bool) {
        self.packets_in += 1;
        if is_kept {
            self.bytes_accepted += u64::from(bytes);
        } else {
            self.packets_dropped += 1;
        }
    }

    /// Counts the drop of a packet that was accepted before.
    fn drop_later(&mut self, bytes: u32) {
        self.packets_dropped += 1;
        self.bytes_accepted -= u64::from(bytes);
    }

    fn start(&mut self, bytes: u32) {
        self.started = (self.started.0 + 1, self.started.1 + u64::from(bytes));
    }

    /// Returns the packets that were not dropped.
    pub const fn packets_accepted(&self) -> u64 {
        self.packets_in - self.packets_dropped
    }
}

/// By group, a histogram of the queue length that arriving packets found.
#[derive(Clone, Debug)]
struct QueueLengths {
    /// By group, by number of packets.
    counts: Vec<Vec<u64>>,
}

impl QueueLengths {
    #[cold]
    fn count(&mut self, packet: &Packet, waiting: usize) {
        let Some(counts) = self.counts.get_mut(packet.group.0 as usize) else { return };
        if counts.len() <= waiting {
            counts.resize(waiting + 1, 0);
        }
        counts[waiting] += 1;
    }
}

/// A link.
///
/// Each packet reads two cache lines of it, or three if it waits: from the end of `total` to the start of `waiting`, and
/// the rest of `waiting` up to `waited`. A network has many links, and most packets find them idle.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// The queue of an event-driven link.
    server: Option<Box<QueueServer>>,
    /// Bytes in the queue of an event-driven link.
    queued_bytes: u64,
    /// An idle link accepts packets that are smaller than this.
    max_bytes_when_idle: u64,
    /// Counters since the start of the run.
    pub total: Counters,
    clock: TransmissionClock,
    free_at: Timestamp,
    /// The next end of the measured interval that has not passed.
    next_reading: Instant,
    delay: Duration,
    delay_seconds: f64,
    /// The packet size for the fast path: the last packet had it, an idle link accepts it, and the link
    /// is plain. 0 disables the fast path.
    fast_path_bytes: u32,
    /// Whether `groups` has an entry.
    counts_groups: bool,
    /// Whether the link has no loss rules and counts no queue lengths.
    is_plain: bool,
    /// Whether it delays, reorders or duplicates packets; see `Network::set_impairments`.
    pub(crate) is_impaired: bool,
    has_losses: bool,
    /// Packets whose transmission has not begun, and perhaps some that were not removed yet. Empty on event-driven links.
    waiting: LinkBacklog,
    /// Below this length one more packet has room and sets no new maximum.
    usual: usize,
    /// Sum of all queueing delays of a link of the analytic model, including future ones.
    waited: Duration,
    /// Whether a loss rule dropped the last packet.
    last_was_lost: bool,
    limit: QueueLimit,
    /// By group, if [`Link::count_groups`] asked for them.
    groups: Vec<Counters>,
    /// Set by [`Link::count_queue_lengths`].
    queue_lengths: Option<Box<QueueLengths>>,
    /// The greatest queue length in packets.
    pub max_backlog: usize,
    cold: Box<ColdFields>,
}

const CACHE_LINE: usize = 64;

const _: () = {
    let first = offset_of!(Link, total) + offset_of!(Counters, packets_in);
    assert!(first.is_multiple_of(CACHE_LINE), "the fields that every packet changes begin a cache line");
    assert!(offset_of!(Link, waiting) + LinkBacklog::HOT_BYTES == first + 2 * CACHE_LINE, "and fill two");
    assert!(
        offset_of!(Link, waited) + size_of::<Duration>() == first + 3 * CACHE_LINE,
        "a queue's fields fill the third"
    );
};

/// Fields that few packets need. They are in an allocation of their own, so that the other fields of links are close together.
#[derive(Debug)]
struct ColdFields {
    settings: LinkSettings,
    measured: MeasuredInterval,
    /// Set by [`Link::keep_queueing_delays`], on a link of the analytic model.
    delays: Option<DelayLog>,
    /// Set by [`Link::sample_every`], on links of the analytic model.
    samples: Option<Box<QueueSamples>>,
}

impl Link {
    pub(crate) fn new(settings: LinkSettings) -> Self {
        let has_losses = !settings.losses.is_empty();
        Self {
            server: QueueServer::of(&settings).map(Box::new),
            queued_bytes: 0,
            max_bytes_when_idle: settings.limit.max_bytes_when_idle(),
            total: Counters::default(),
            clock: TransmissionClock::new(settings.rate),
            free_at: Timestamp::ZERO,
            next_reading: Instant::NEVER,
            delay: settings.delay,
            delay_seconds: settings.delay.as_secs_f64(),
            fast_path_bytes: 0,
            counts_groups: false,
            is_plain: !has_losses,
            is_impaired: false,
            has_losses,
            waiting: LinkBacklog::default(),
            usual: 0,
            waited: Duration::ZERO,
            last_was_lost: false,
            limit: settings.limit,
            groups: Vec::new(),
            queue_lengths: None,
            max_backlog: 0,
            cold: Box::new(ColdFields { settings, measured: MeasuredInterval::default(), delays: None, samples: None }),
        }
    }

    /// Counts the packets of each of `groups` groups.
    pub fn count_groups(&mut self, groups: usize) {
        (self.groups, self.counts_groups) = (vec![Counters::default(); groups], groups > 0);
    }

    /// Counts the queue lengths that packets of `groups` groups find in the measured interval.
    pub fn count_queue_lengths(&mut self, groups: usize) {
        (self.is_plain, self.fast_path_bytes) = (false, 0);
        // Every packet must now take the slow path, which counts.
        self.queue_lengths = Some(Box::new(QueueLengths { counts: vec![Vec::new(); groups] }));
    }

    /// Keeps the queueing delay of each packet whose transmission begins in the measured interval, which must be set
    /// before.
    pub fn keep_queueing_delays(&mut self) {
        let log = DelayLog::new(self.cold.measured.ends());
        if let Some(server) = &mut self.server {
            server.keep_delays(log);
            return;
        }
        (self.is_plain, self.fast_path_bytes) = (false, 0);
        // Every packet must now take the slow path, which keeps its delay.
        self.cold.delays = Some(log);
    }

    /// Returns the queueing delays that were kept, in the order of the packets; none unless asked for.
    pub fn queueing_delays(&self) -> &[Duration] {
        let of_server = self.server.as_ref().and_then(|server| server.delay_log());
        of_server.or(self.cold.delays.as_ref()).map_or(&[], DelayLog::delays)
    }

    /// Returns by group how many packets found 0, 1, 2 … packets waiting when they arrived at the queue, including those that it
    /// had no room for; nothing unless requested.
    pub fn queue_lengths(&self) -> &[Vec<u64>] {
        self.queue_lengths.as_ref().map_or(&[], |queue_lengths| &queue_lengths.counts)
    }

    /// Returns the link's settings.
    pub fn settings(&self) -> &LinkSettings {
        &self.cold.settings
    }

    /// Accepts a packet and turns its arrival time here into that at the far end. Returns
    /// `false` if it is dropped.
    // Called several times per packet: short, with calls only at its end.
    #[inline(never)]
    pub(crate) fn accept(&mut self, timestamp: &mut Timestamp, packet: &Packet) -> bool {
        let now = *timestamp;
        if now.at >= self.next_reading {
            self.take_readings(now.at);
        }
        // The fast path needs the usual size, and no tie with the end of a transmission, which ns-2's clock decides.
        if packet.bytes != self.fast_path_bytes || self.free_at.at == now.at {
            return self.accept_slow_path(timestamp, packet);
        }
        if self.free_at.at < now.at {
            // An idle link has no packets waiting: forget those that have left.
            self.waiting.restart(packet.bytes, packet.group);
            let time = self.clock.repeat_first();
            *timestamp = self.transmit_at(now, time);
        } else if self.waiting.len() < self.usual && self.waiting.push_if_room(now, self.free_at, packet) {
            self.waited += self.free_at.at - now.at;
            let time = self.clock.repeat();
            *timestamp = self.transmit_at(self.free_at, time);
        } else {
            return self.accept_slow_path(timestamp, packet);
        }
        self.count(packet, true);
        true
    }

    /// Accepts any packet. It may be lost, find no room, arrive just when another one leaves, or
    /// be counted.
    #[inline(never)]
    fn accept_slow_path(&mut self, timestamp: &mut Timestamp, packet: &Packet) -> bool {
        let is_lost = self.has_losses && self.is_lost(timestamp.at, packet);
        // ns-2's clock decides whether a packet that arrives at the departure of the last one finds the link idle.
        let is_idle = self.free_at.is_not_after(*timestamp);
        let is_kept = !is_lost && self.has_room(*timestamp, is_idle, packet);
        self.count(packet, is_kept);
        if is_lost {
            self.count_loss(packet);
        }
        if is_kept {
            *timestamp = self.transmit(*timestamp, is_idle, packet);
        }
        is_kept
    }

    #[cold]
    fn is_lost(&mut self, now: Instant, packet: &Packet) -> bool {
        // Every rule counts every packet, so no short cut.
        self.last_was_lost =
            self.cold.settings.losses.iter_mut().fold(false, |lost, rule| rule.is_lost(now, packet) | lost);
        self.last_was_lost
    }

    /// Returns the cause of the drop of the last packet that arrived.
    pub(crate) fn drop_cause(&self) -> DropCause {
        if self.last_was_lost { DropCause::Loss } else { DropCause::Queue }
    }

    #[inline]
    fn has_room(&mut self, now: Timestamp, is_idle: bool, packet: &Packet) -> bool {
        if is_idle {
            self.waiting.restart(packet.bytes, packet.group);
        } else if self.waiting.len() >= self.usual || self.queue_lengths.is_some() {
            self.waiting.remove_started(now);
        }
        if let Some(queue_lengths) = self.queue_lengths.as_mut().filter(|_| self.cold.measured.contains(now.at)) {
            queue_lengths.count(packet, self.waiting.len());
        }
        if is_idle {
            return u64::from(packet.bytes) < self.max_bytes_when_idle;
        }
        self.limit.has_room(self.waiting.len(), self.waiting.bytes(), packet.bytes)
    }

    /// Returns when an accepted packet arrives at the far end.
    fn transmit(&mut self, now: Timestamp, is_idle: bool, packet: &Packet) -> Timestamp {
        let bytes = packet.bytes;
        // Loss rules and histograms must see every packet, so that such links never use the fast path.
        let fits = self.is_plain && u64::from(bytes) < self.max_bytes_when_idle;
        self.fast_path_bytes = if fits { bytes } else { 0 };
        // A plain link is spared the look at a cold field.
        if !self.is_plain
            && let Some(log) = &mut self.cold.delays
        {
            let start = if is_idle { now.at } else { self.free_at.at };
            log.note(start, start - now.at);
        }
        if is_idle {
            let time = self.clock.send_first(bytes);
            self.transmit_at(now, time)
        } else {
            // The start of transmission is final: the discipline is FIFO, and no later packet can change it.
            self.waiting.push(now, self.free_at, packet);
            self.update_max_backlog();
            self.waited += self.free_at.at - now.at;
            let time = self.clock.send(bytes);
            self.transmit_at(self.free_at, time)
        }
    }

    fn update_max_backlog(&mut self) {
        // A new maximum raises the limit of the fast path: below it, one more packet cannot set a maximum.
        if self.waiting.len() > self.max_backlog {
            self.max_backlog = self.waiting.len();
            self.usual = self.limit.packets_with_room(self.max_backlog);
        }
    }

    /// Transmits a packet from `start` on. Returns when it arrives at the far end.
    #[inline]
    fn transmit_at(&mut self, start: Timestamp, (span, seconds): (Duration, f64)) -> Timestamp {
        self.free_at = start.after(span, seconds);
        start.after(span + self.delay, seconds + self.delay_seconds)
    }

    #[inline]
    fn count(&mut self, packet: &Packet, is_kept: bool) {
        self.each_counter(packet, |counters| counters.count(packet.bytes, is_kept));
    }

    #[cold]
    fn count_loss(&mut self, packet: &Packet) {
        self.each_counter(packet, |counters| counters.packets_lost += 1);
    }

    /// Returns the packets and bytes at the link at a time, of all packets or of a group's.
    fn held(&self, at: Instant, group: Option<u32>) -> Held {
        if let Some(server) = &self.server {
            return self.held_by(server, at, group);
        }
        let packets_started = self.total.packets_accepted();
        let mut held = Held { queue_time: self.waited, delay_sum: self.waited, packets_started, ..Held::default() };
        // Most links of a large network are idle.
        if self.free_at.at <= at {
            return held;
        }
        let rate = self.cold.settings.rate.bits_per_second() as f64;
        for packet in self.waiting.held(at, self.free_at.at) {
            let is_queued = packet.start.at > at;
            if is_queued {
                held.queued += 1;
                held.queue_time = held.queue_time.saturating_sub(packet.start.at - packet.came.max(at));
                held.delay_sum = held.delay_sum.saturating_sub(packet.start.at - packet.came);
            }
            held.bits_unsent +=
                if is_queued { f64::from(packet.bytes) * 8.0 } else { (packet.end - at).as_secs_f64() * rate };
            if group.is_none_or(|group| group == packet.group) {
                held.waiting = (held.waiting.0 + 1, held.waiting.1 + u64::from(packet.bytes));
            }
        }
        held.packets_started -= held.queued;
        held
    }

    /// Asks for samples from a time on, which [`Self::backlog`] returns: packets may come ahead of them.
    pub fn sample_every(&mut self, first: Instant, period: Duration) {
        if self.server.is_none() {
            self.cold.samples = Some(Box::new(QueueSamples::new(first, period)));
            self.schedule_reading();
        }
    }

    /// Returns how many packets wait at the time of a sample, or at one not before the last arrival.
    pub fn backlog(&mut self, at: Instant) -> usize {
        if let Some(server) = &self.server {
            return server.len();
        }
        if at >= self.next_reading {
            self.take_readings(at);
        }
        if let Some(length) = self.cold.samples.as_mut().and_then(|samples| samples.take(at)) {
            return length;
        }
        if let Some(samples) = &mut self.cold.samples {
            samples.pass(at);
            self.schedule_reading();
        }
        self.backlog_at(at)
    }

    /// Returns how many packets wait at a time not before the last arrival.
    fn backlog_at(&mut self, at: Instant) -> usize {
        self.waiting.remove_started_by(at);
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet_pool::PacketPool;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn link(limit: QueueLimit) -> Link {
        let rate = Rate::from_bits_per_second(3_000_000).unwrap();
        let delay = Duration::from_millis(5);
        Link::new(LinkSettings { delay, limit, ..LinkSettings::plain("", rate, SeedTree::new(0)) })
    }

    fn packet(bytes: u32) -> Packet {
        let mut pool = PacketPool::default();
        let place = pool.take();
        Packet { bytes, ..pool.get(place).packet }
    }

    /// Returns the outcome of a packet.
    fn pass(link: &mut Link, now: Timestamp, packet: &Packet) -> Option<Timestamp> {
        let mut timestamp = now;
        link.accept(&mut timestamp, packet).then_some(timestamp)
    }

    proptest! {
        /// A link that counts queue lengths takes the slow path for every packet.
        #[test]
        fn the_short_way_past_a_link_ends_where_a_close_look_does(
            limit in prop_oneof![
                Just(QueueLimit::Unlimited),
                (0_u32..8).prop_map(QueueLimit::Packets),
                (0_u64..9000).prop_map(QueueLimit::Bytes),
            ],
            packets in vec((0_u64..4, 0_u64..4_000, prop_oneof![4 => Just(1040_u32), 1 => Just(40), 1 => Just(1500)]), 1..200),
        ) {
            let (mut plain, mut watched) = (link(limit), link(limit));
            watched.count_queue_lengths(1);
            let mut now = Timestamp::ZERO;
            for (kind, micros, bytes) in packets {
                // Some arrive at once, some when the link becomes idle, some before, some after an idle time.
                now = match kind {
                    0 => now,
                    1 if now.is_not_after(plain.free_at) => plain.free_at,
                    _ => now.until(now.at + Duration::from_micros(micros)),
                };
                let packet = packet(bytes);
                prop_assert_eq!(pass(&mut plain, now, &packet), pass(&mut watched, now, &packet));
                prop_assert_eq!((plain.total, plain.waited, plain.max_backlog), (watched.total, watched.waited, watched.max_backlog));
                if kind == 3 {
                    prop_assert_eq!(plain.backlog(now.at), watched.backlog(now.at));
                }
            }
        }
    }
}
