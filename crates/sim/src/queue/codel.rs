//! Controlled Delay (Nichols, Jacobson, `McGregor` and Iyengar, RFC 8289): drops at the head once packets have waited
//! too long for a whole interval.

use super::fifo::Fifo;
use super::{Dropped, Queue, QueueLimit, Waiting};
use earlybird_units::{Duration, Instant};

/// What `CoDel` aims at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelSettings {
    /// How long packets may wait in a good queue (RFC 8289 §4.3: 5 ms).
    pub target: Duration,
    /// For how long they must have waited longer before anything is done: the longest usual round trip (§4.3: 100 ms).
    pub interval: Duration,
    /// Nothing is dropped while no more bytes than these wait: the largest packet (§5.4).
    pub mtu: u64,
    /// Packets of senders that understand marks are marked in place of being dropped.
    pub ecn: bool,
}

/// The state of the algorithm (RFC 8289 §5.3), apart from its queue: the flows of FQ-CoDel have one each.
#[derive(Debug, Default)]
pub(super) struct Codel {
    /// When the delay will have been above the target for an interval.
    first_above: Option<Instant>,
    drop_next: Instant,
    /// Packets dropped since the dropping state began.
    count: u32,
    /// What `count` was when it began.
    last_count: u32,
    is_dropping: bool,
}

impl Codel {
    /// Takes the next packet to send out of the queue (RFC 8289 §5.5).
    pub(super) fn dequeue(
        &mut self,
        settings: &CodelSettings,
        now: Instant,
        fifo: &mut Fifo,
        dropped: &mut Dropped,
    ) -> Option<Waiting> {
        let first = self.next(settings, now, fifo);
        if self.is_dropping {
            return self.go_on(settings, now, first, fifo, dropped);
        }
        let (packet, is_bad) = first?;
        if !is_bad {
            return Some(packet);
        }
        self.enter(settings, now);
        punish(settings, packet, dropped).or_else(|| self.next(settings, now, fifo).map(|(packet, _)| packet))
    }

    /// Gives the next packet and whether the queue is bad (RFC 8289 §5.4, `dodequeue`).
    fn next(&mut self, settings: &CodelSettings, now: Instant, fifo: &mut Fifo) -> Option<(Waiting, bool)> {
        let Some(packet) = fifo.pop() else {
            self.first_above = None;
            return None;
        };
        Some((packet, self.is_bad(settings, now, &packet, fifo)))
    }

    /// Says whether the delay has been too long for an interval.
    fn is_bad(&mut self, settings: &CodelSettings, now: Instant, packet: &Waiting, behind: &Fifo) -> bool {
        if now - packet.since < settings.target || behind.bytes() <= settings.mtu {
            self.first_above = None;
            return false;
        }
        now >= *self.first_above.get_or_insert(now + settings.interval)
    }

    /// Enters the dropping state; if the last one was not long ago, with the rate that controlled the queue then.
    fn enter(&mut self, settings: &CodelSettings, now: Instant) {
        self.is_dropping = true;
        let delta = self.count - self.last_count;
        let is_recent = now - self.drop_next < settings.interval * 16;
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(now, settings.interval, self.count);
    }

    /// Drops for as long as drops are due and the queue is bad; an empty queue is good.
    fn go_on(
        &mut self,
        settings: &CodelSettings,
        now: Instant,
        mut first: Option<(Waiting, bool)>,
        fifo: &mut Fifo,
        dropped: &mut Dropped,
    ) -> Option<Waiting> {
        while let Some((packet, true)) = first
            && now >= self.drop_next
        {
            self.count += 1;
            let marked = punish(settings, packet, dropped);
            first = marked.map(|packet| (packet, true)).or_else(|| self.next(settings, now, fifo));
            if first.is_some_and(|(_, is_bad)| is_bad) {
                self.drop_next = control_law(self.drop_next, settings.interval, self.count);
            }
            if marked.is_some() {
                return marked;
            }
        }
        self.is_dropping = first.is_some_and(|(_, is_bad)| is_bad);
        first.map(|(packet, _)| packet)
    }
}

/// Marks the packet, and gives it back, or drops it.
fn punish(settings: &CodelSettings, mut packet: Waiting, dropped: &mut Dropped) -> Option<Waiting> {
    if settings.ecn && packet.mark() {
        return Some(packet);
    }
    dropped.push_back(packet);
    None
}

/// Drops come closer with the square root of their number, which lowers TCP's rate linearly (RFC 8289 §3.3, §5.6).
fn control_law(from: Instant, interval: Duration, count: u32) -> Instant {
    from + Duration::from_secs_f64(interval.as_secs_f64() / f64::from(count).sqrt())
}

/// One queue under `CoDel`.
#[derive(Debug)]
pub(super) struct CodelQueue {
    settings: CodelSettings,
    limit: QueueLimit,
    fifo: Fifo,
    codel: Codel,
}

impl CodelQueue {
    pub(super) fn new(settings: CodelSettings, limit: QueueLimit) -> Self {
        Self { settings, limit, fifo: Fifo::default(), codel: Codel::default() }
    }
}

impl Queue for CodelQueue {
    fn enqueue(&mut self, _now: Instant, packet: Waiting, dropped: &mut Dropped) {
        if self.limit.has_room(self.fifo.len(), self.fifo.bytes(), packet.bytes) {
            self.fifo.push(packet);
        } else {
            dropped.push_back(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<Waiting> {
        self.codel.dequeue(&self.settings, now, &mut self.fifo, dropped)
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }
}
