//! A link in one direction: losses, a drop-tail queue, transmission, propagation.
//!
//! What happens to a packet is decided when it arrives: a drop-tail queue serves in order, so the moment of departure
//! is known at once and no event is needed for it.

use crate::loss::Loss;
use crate::packet::Packet;
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
    settings: LinkSettings,
    remainder: u64,
    free_at: Instant,
    /// Start of transmission and size of each packet that has not begun it.
    waiting: VecDeque<(Instant, u32)>,
    waiting_bytes: u64,
    /// Packets on the way with their times of arrival; used where the far end must be an event.
    pipe: VecDeque<(Instant, Packet)>,
    /// Everything since the start.
    pub total: Counters,
    /// By group, as [`Link::count_groups`] asked.
    pub groups: Vec<Counters>,
    /// From when on groups are counted.
    settle: Instant,
    /// Sum of all waiting times.
    pub waited: Duration,
    /// The most packets that ever waited.
    pub most_waiting: usize,
}

impl Link {
    pub(crate) fn new(settings: LinkSettings) -> Self {
        Self {
            settings,
            remainder: 0,
            free_at: Instant::ZERO,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            pipe: VecDeque::new(),
            total: Counters::default(),
            groups: Vec::new(),
            settle: Instant::ZERO,
            waited: Duration::ZERO,
            most_waiting: 0,
        }
    }

    /// Counts the packets of each of `groups` groups from `settle` on.
    pub fn count_groups(&mut self, groups: usize, settle: Instant) {
        self.groups = vec![Counters::default(); groups];
        self.settle = settle;
    }

    /// Gives what the link is made of.
    pub fn settings(&self) -> &LinkSettings {
        &self.settings
    }

    /// Takes a packet at its entrance, and gives its time of arrival at the far end, or `None` if it is dropped.
    pub(crate) fn accept(&mut self, at: Instant, packet: &Packet) -> Option<Instant> {
        let is_kept = !self.is_lost(packet) && self.has_room(at, packet.bytes);
        self.count(at, packet, is_kept);
        is_kept.then(|| self.transmit(at, packet.bytes) + self.settings.delay)
    }

    fn is_lost(&mut self, packet: &Packet) -> bool {
        // Every rule counts every packet, so no short cut.
        self.settings.losses.iter_mut().fold(false, |lost, rule| rule.is_lost(packet) | lost)
    }

    fn has_room(&mut self, at: Instant, bytes: u32) -> bool {
        self.serve_until(at);
        match self.settings.limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.waiting.len() + 1 < limit as usize,
            QueueLimit::Bytes(limit) => self.waiting_bytes + u64::from(bytes) < limit,
        }
    }

    fn serve_until(&mut self, at: Instant) {
        while let Some((_, bytes)) = self.waiting.pop_front_if(|(start, _)| *start <= at) {
            self.waiting_bytes -= u64::from(bytes);
        }
    }

    /// Gives the time at which the packet has left the queue for good.
    fn transmit(&mut self, at: Instant, bytes: u32) -> Instant {
        if self.free_at <= at {
            self.free_at = at;
            self.remainder = 0;
        } else {
            self.waiting.push_back((self.free_at, bytes));
            self.waiting_bytes += u64::from(bytes);
            self.waited += self.free_at - at;
            self.most_waiting = self.most_waiting.max(self.waiting.len());
        }
        self.free_at += self.settings.rate.transmission_time(u64::from(bytes), &mut self.remainder);
        self.free_at
    }

    fn count(&mut self, at: Instant, packet: &Packet, is_kept: bool) {
        self.total.count(packet.bytes, is_kept);
        if at >= self.settle
            && let Some(group) = self.groups.get_mut(packet.group.0 as usize)
        {
            group.count(packet.bytes, is_kept);
        }
    }

    /// Puts a packet into the pipe; gives whether it is the only one.
    pub(crate) fn push(&mut self, arrival: Instant, packet: Packet) -> bool {
        self.pipe.push_back((arrival, packet));
        self.pipe.len() == 1
    }

    /// Takes the first packet out of the pipe, with the arrival time of the next one.
    pub(crate) fn pop(&mut self) -> (Option<Packet>, Option<Instant>) {
        let packet = self.pipe.pop_front().map(|(_, packet)| packet);
        (packet, self.pipe.front().map(|(arrival, _)| *arrival))
    }

    /// Gives how many packets wait at a time not before the last arrival.
    pub fn backlog(&mut self, at: Instant) -> usize {
        self.serve_until(at);
        self.waiting.len()
    }
}
