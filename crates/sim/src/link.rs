//! A link in one direction: losses, a drop-tail queue, transmission, propagation.
//!
//! What happens to a packet is decided when it arrives: a drop-tail queue serves in order, so the moment of departure
//! is known at once and no event is needed for it.

use crate::loss::Loss;
use crate::moment::Moment;
use crate::packet::{Packet, PacketId};
use earlybird_units::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// The most that may wait in front of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything may.
    Unlimited,
    /// As in ns-2, a limit of L packets lets L − 1 wait while one more is being sent.
    Packets(u32),
    /// Bytes, with the same rule.
    Bytes(u64),
}

/// What a link is made of.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// The link's name in results.
    pub name: String,
    /// Bits per second.
    pub rate: Rate,
    /// Propagation time.
    pub delay: Duration,
    /// The most that may wait.
    pub limit: QueueLimit,
    /// What gets lost in front of the queue.
    pub losses: Vec<Loss>,
}

/// What passed a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that came.
    pub packets_in: u64,
    /// Packets that got lost or found the queue full.
    pub packets_dropped: u64,
    /// Bytes of the packets that went on.
    pub bytes_out: u64,
}

impl Counters {
    fn count(&mut self, bytes: u32, is_kept: bool) {
        self.packets_in += 1;
        if is_kept {
            self.bytes_out += u64::from(bytes);
        } else {
            self.packets_dropped += 1;
        }
    }

    /// Gives the packets that went on.
    pub const fn packets_out(&self) -> u64 {
        self.packets_in - self.packets_dropped
    }
}

/// A link with what is on it.
#[derive(Debug)]
pub struct Link {
    /// Apart, so that what every packet needs lies close together.
    settings: Box<LinkSettings>,
    has_losses: bool,
    limit: QueueLimit,
    delay: Duration,
    /// One link alone feeds this one, in order: then arrivals need no event, they are known beforehand.
    pub(crate) is_private: bool,
    /// Packets may leave it out of order or twice; see `Network::impair`.
    pub(crate) is_impaired: bool,
    clock: Serialiser,
    free_at: Moment,
    delay_seconds: f64,
    /// Start of transmission and size of each packet that has not begun it.
    waiting: VecDeque<(Moment, u32)>,
    waiting_bytes: u64,
    /// Packets on the way with their times of arrival; used where the far end must be an event.
    pipe: VecDeque<(Moment, PacketId)>,
    /// Everything since the start.
    pub total: Counters,
    /// By group, as [`Link::count_groups`] asked.
    pub groups: Vec<Counters>,
    /// From when on groups are counted.
    counts_from: Instant,
    /// Sum of all waiting times.
    pub waited: Duration,
    /// The most packets that ever waited.
    pub most_waiting: usize,
}

impl Link {
    pub(crate) fn new(settings: LinkSettings) -> Self {
        let delay_seconds = settings.delay.as_secs_f64();
        Self {
            clock: Serialiser::new(settings.rate),
            has_losses: !settings.losses.is_empty(),
            limit: settings.limit,
            delay: settings.delay,
            settings: Box::new(settings),
            delay_seconds,
            is_private: false,
            is_impaired: false,
            free_at: Moment::ZERO,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            pipe: VecDeque::new(),
            total: Counters::default(),
            groups: Vec::new(),
            counts_from: Instant::ZERO,
            waited: Duration::ZERO,
            most_waiting: 0,
        }
    }

    /// Counts the packets of each of `groups` groups from a given time on.
    pub fn count_groups(&mut self, groups: usize, from: Instant) {
        self.groups = vec![Counters::default(); groups];
        self.counts_from = from;
    }

    /// Gives what the link is made of.
    pub fn settings(&self) -> &LinkSettings {
        &self.settings
    }

    /// Takes a packet at its entrance, and gives its time of arrival at the far end, or `None` if it is dropped.
    #[inline]
    pub(crate) fn accept(&mut self, now: Moment, packet: &Packet) -> Option<Moment> {
        let is_kept = !(self.has_losses && self.is_lost(packet)) && self.has_room(now, packet.bytes);
        self.count(now.at, packet, is_kept);
        if is_kept { Some(self.transmit(now, packet.bytes)) } else { None }
    }

    fn is_lost(&mut self, packet: &Packet) -> bool {
        // Every rule counts every packet, so no short cut.
        self.settings.losses.iter_mut().fold(false, |lost, rule| rule.is_lost(packet) | lost)
    }

    #[inline]
    fn has_room(&mut self, now: Moment, bytes: u32) -> bool {
        if !self.waiting.is_empty() {
            self.serve_until(now);
        }
        match self.limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.waiting.len() + 1 < limit as usize,
            QueueLimit::Bytes(limit) => self.waiting_bytes + u64::from(bytes) < limit,
        }
    }

    fn serve_until(&mut self, now: Moment) {
        while let Some((_, bytes)) = self.waiting.pop_front_if(|(start, _)| start.is_by(now)) {
            self.waiting_bytes -= u64::from(bytes);
        }
    }

    /// Gives the time at which the packet arrives at the far end.
    fn transmit(&mut self, now: Moment, bytes: u32) -> Moment {
        let start = if self.free_at.is_by(now) {
            self.clock.rest();
            now
        } else {
            self.wait(now, bytes);
            self.free_at
        };
        let (span, seconds) = self.clock.send(bytes);
        self.free_at = start.after(span, seconds);
        start.after(span + self.delay, seconds + self.delay_seconds)
    }

    fn wait(&mut self, now: Moment, bytes: u32) {
        self.waiting.push_back((self.free_at, bytes));
        self.waiting_bytes += u64::from(bytes);
        self.waited += self.free_at.at - now.at;
        self.most_waiting = self.most_waiting.max(self.waiting.len());
    }

    fn count(&mut self, at: Instant, packet: &Packet, is_kept: bool) {
        self.total.count(packet.bytes, is_kept);
        if at >= self.counts_from
            && let Some(group) = self.groups.get_mut(packet.group.0 as usize)
        {
            group.count(packet.bytes, is_kept);
        }
    }

    /// Puts a packet into the pipe; gives whether it is the only one.
    pub(crate) fn push(&mut self, arrival: Moment, packet: PacketId) -> bool {
        self.pipe.push_back((arrival, packet));
        self.pipe.len() == 1
    }

    /// Takes the first packet out of the pipe, with its arrival and that of the next one.
    pub(crate) fn pop(&mut self) -> (Option<(Moment, PacketId)>, Option<Moment>) {
        (self.pipe.pop_front(), self.pipe.front().map(|(arrival, _)| *arrival))
    }

    /// Gives how many packets wait at a time not before the last arrival.
    pub fn backlog(&mut self, at: Instant) -> usize {
        self.serve_until(Moment::fresh(at));
        self.waiting.len()
    }
}

/// Computes how long packets take on the wire. Most are as large as the one before, so that a division is rarely due.
#[derive(Debug)]
struct Serialiser {
    rate: Rate,
    /// What whole nanoseconds have left over since the link was last idle, in units of a nanosecond over the rate.
    remainder: u64,
    last: Transmission,
}

/// The time for one size: whole nanoseconds, what is left over, and ns-2's floating-point seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Transmission {
    bytes: u32,
    span: Duration,
    remainder: u64,
    seconds: f64,
}

impl Serialiser {
    fn new(rate: Rate) -> Self {
        Self { rate, remainder: 0, last: Transmission::default() }
    }

    fn rest(&mut self) {
        self.remainder = 0;
    }

    fn send(&mut self, bytes: u32) -> (Duration, f64) {
        if self.last.bytes != bytes {
            self.last = self.transmission(bytes);
        }
        self.remainder += self.last.remainder;
        if self.remainder < self.rate.bits_per_second() {
            return (self.last.span, self.last.seconds);
        }
        self.remainder -= self.rate.bits_per_second();
        (self.last.span + Duration::from_nanos(1), self.last.seconds)
    }

    fn transmission(&self, bytes: u32) -> Transmission {
        let mut remainder = 0;
        let span = self.rate.transmission_time(u64::from(bytes), &mut remainder);
        let seconds = 8.0 * f64::from(bytes) / self.rate.bits_per_second() as f64;
        Transmission { bytes, span, remainder, seconds }
    }
}
