//! The receiving side: measures, and reports once per round trip (RFC 5348 §6).

use super::equation::loss_event_rate_for;
use super::history::LossHistory;
use crate::transmit::Transmit;
use crate::units::Inbox;
use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Datagram, DatagramHeader, Ecn, TfrcData, TfrcFeedback};

/// The receiver of a flow.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    inbox: Inbox,
    completed: Option<u32>,
    losses: LossHistory,
    /// The sender's estimate of the round-trip time.
    rtt: Option<Duration>,
    /// The times at which the newest datagram was sent and arrived.
    last: Option<(Instant, Instant)>,
    /// Arrivals of the last round trip, with their payload bytes.
    recent: VecDeque<(Instant, u16)>,
    recent_bytes: u64,
    /// Mean payload of a datagram.
    segment: f64,
    has_news: bool,
    deadline: Option<Instant>,
    is_due: bool,
}

impl Receiver {
    pub(crate) fn on_datagram(&mut self, now: Instant, datagram: &Datagram) {
        let DatagramHeader::TfrcData(header) = datagram.header else { return };
        self.completed = self.inbox.take(datagram);
        // The sender measures; the receiver only uses its value (RFC 5348 §3.2.1).
        self.rtt = header.rtt.or(self.rtt);
        self.count(now, datagram.len);
        self.last = Some((header.sent, now));
        self.has_news = true;
        let is_worse = self.note_losses(now, &header, datagram.ecn == Ecn::Congested);
        match self.rtt {
            // The sender cannot do anything before it knows the round-trip time.
            None => self.is_due = true,
            Some(rtt) if self.deadline.is_none() => self.deadline = Some(now + rtt),
            Some(_) => {}
        }
        // A new loss event is reported at once (RFC 5348 §6.1).
        self.is_due |= is_worse;
    }

    fn count(&mut self, now: Instant, len: u16) {
        // RFC 5348 leaves the way of averaging open; it is the sender's here.
        let len_now = f64::from(len);
        self.segment = if self.last.is_none() { len_now } else { self.segment + (len_now - self.segment) / 16.0 };
        self.recent.push_back((now, len));
        self.recent_bytes += u64::from(len);
        self.forget(now);
    }

    /// Removes arrivals that are more than a round trip old.
    fn forget(&mut self, now: Instant) {
        let Some(rtt) = self.rtt else { return };
        while let Some((_, len)) = self.recent.pop_front_if(|(at, _)| *at + rtt <= now) {
            self.recent_bytes -= u64::from(len);
        }
    }

    /// Returns whether losses have become more frequent.
    fn note_losses(&mut self, now: Instant, header: &TfrcData, is_marked: bool) -> bool {
        let before = self.losses.loss_event_rate();
        let (segment, rate) = (self.segment, self.received_rate());
        let rtt = self.rtt.unwrap_or_default();
        // The interval that would give the rate received so far, by the inverse of the equation (RFC 5348 §6.3.1).
        let first_interval = || (1.0 / loss_event_rate_for(segment, rtt.as_secs_f64(), rate)) as u64;
        self.losses.on_arrival((header.sequence, now), is_marked, rtt, first_interval);
        self.losses.loss_event_rate() > before
    }

    /// Returns the payload bytes per second of the last round trip (RFC 5348 §6.2); 0 before that time is known.
    fn received_rate(&self) -> f64 {
        self.rtt.map_or(0.0, |rtt| self.recent_bytes as f64 / rtt.as_secs_f64())
    }

    pub(crate) fn take_completed(&mut self) -> Option<u32> {
        self.completed.take()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    /// The feedback timer ran out: reports if there is anything new (RFC 5348 §6.2).
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            // Without new data no report is sent (RFC 5348 §6.2).
            self.is_due = self.has_news;
            self.deadline = self.rtt.map(|rtt| now + rtt);
        }
    }

    /// Returns the report that is due.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let (echo, arrived) = self.last.filter(|_| self.is_due)?;
        self.forget(now);
        self.is_due = false;
        self.has_news = false;
        self.deadline = self.rtt.map(|rtt| now + rtt);
        let header = DatagramHeader::TfrcFeedback(TfrcFeedback {
            echo,
            delay: now - arrived,
            received_rate: self.received_rate(),
            loss_event_rate: self.losses.loss_event_rate(),
        });
        Some(Transmit::control(header))
    }

    pub(crate) fn received(&self) -> u64 {
        self.inbox.received()
    }
}
