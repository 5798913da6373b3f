//! The receiving side.

use super::Latency;
use super::acks::Acks;
use super::round_trip::RoundTrip;
use super::window::{Arrived, Window};
use crate::transmit::Transmit;
use crate::units::Inbox;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Datagram, DatagramHeader, SrtAck, SrtData, SrtNak};

/// The receiver of a flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    latency: Latency,
    window: Window,
    inbox: Inbox,
    acks: Acks,
    round_trip: RoundTrip,
    first_rtt: Option<Duration>,
    /// From a packet's writing to its arrival on an empty path (`TsbpdTimeBase`).
    one_way: Option<Duration>,
    /// Losses from this number on are to be reported.
    report_from: Option<u32>,
    /// The time of the next periodic loss report.
    report_at: Instant,
    now: Instant,
}

/// Smallest time between two reports of all losses (§4.8.2).
const SHORTEST_REPORT_INTERVAL: Duration = Duration::from_millis(20);

impl Receiver {
    pub(crate) fn new(latency: Latency) -> Self {
        Self {
            latency,
            window: Window::default(),
            inbox: Inbox::default(),
            acks: Acks::default(),
            round_trip: RoundTrip::default(),
            first_rtt: None,
            one_way: None,
            report_from: None,
            report_at: Instant::NEVER,
            now: Instant::ZERO,
        }
    }

    pub(crate) fn on_datagram(&mut self, now: Instant, datagram: &Datagram) {
        self.now = now;
        match datagram.header {
            DatagramHeader::SrtData(header) => self.on_data(&header, datagram),
            DatagramHeader::SrtAckAck(number) => self.on_ack_ack(number),
            _ => {}
        }
    }

    fn on_data(&mut self, header: &SrtData, datagram: &Datagram) {
        // First: the ticks of the report below count from the first arrival.
        self.acks.on_arrival(self.now);
        // Of the first packet only, which replaces the handshake (§4.5.1.1): it does not include a queue that grows later.
        self.one_way.get_or_insert(self.now - header.written);
        let had_holes = self.window.has_holes();
        let arrived = Arrived { datagram: *datagram, written: header.written };
        if let Some(gap) = self.window.insert(header.sequence, arrived) {
            // A report that is only partly sent continues, and will include this gap.
            self.report_from = Some(self.report_from.map_or(gap, |from| from.min(gap)));
            // Another gap does not put off the periodic report of earlier ones.
            if !had_holes {
                self.report_at = self.next_report();
            }
        }
        self.acks.on_progress(self.now, self.window.next_missing());
    }

    fn on_ack_ack(&mut self, number: u32) {
        if let Some(sample) = self.acks.on_answer(self.now, number) {
            self.first_rtt.get_or_insert(sample);
            self.round_trip.update(sample);
        }
    }

    /// Returns the first tick after (RTT + 4·RTTVar) / 2, but 20 ms at least (§4.8.2). Without ticks two reports would take
    /// exactly the round trip of a repair if there is no jitter, and request a packet again that is about to arrive.
    fn next_report(&self) -> Instant {
        self.acks.tick_after(self.now + (self.round_trip.longest() / 2).max(SHORTEST_REPORT_INTERVAL))
    }

    /// Returns the time at which a packet is released (`PktTsbpdTime`, §4.5.1); `None` before the latency is known.
    fn release_time(&self, written: Instant) -> Option<Instant> {
        let latency = match self.latency {
            Latency::Fixed(latency) => latency,
            Latency::RoundTrips(_) => self.latency.over(self.first_rtt?),
            // Never before a packet can arrive over an empty path.
            Latency::FromWriting(delay) => return Some(written + delay.max(self.one_way?)),
        };
        Some(written + self.one_way? + latency)
    }

    fn next_release(&self) -> Option<Instant> {
        self.release_time(self.window.front()?.written)
    }

    /// Releases due packets, up to one that completes a unit. Missing packets before them are skipped (§4.6). A
    /// packet that arrives after its time is released at once, unless a later one was: Haivision's implementation discards only
    /// what lies before the start of its buffer (`CUDT::tsbpd`, `handleSocketPacketReception`).
    pub(crate) fn take_completed(&mut self) -> Option<u32> {
        while self.next_release().is_some_and(|time| time <= self.now) {
            let arrived = self.window.pop()?;
            self.acks.on_progress(self.now, self.window.next_missing());
            let unit = self.inbox.take(&arrived.datagram);
            if unit.is_some() {
                return unit;
            }
        }
        None
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let report = self.window.has_holes().then_some(self.report_at);
        [self.next_release(), report, self.acks.deadline()].into_iter().flatten().min()
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.now = now;
        if self.window.has_holes() && self.report_at <= now {
            self.report_from = Some(0);
            self.report_at = self.next_report();
        }
    }

    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.now = now;
        // Losses first: a repair takes a round trip, an ACK only empties a buffer.
        self.loss_report().or_else(|| self.ack()).map(Transmit::control)
    }

    /// Returns the next part of the report that is due.
    fn loss_report(&mut self) -> Option<DatagramHeader> {
        let nak = SrtNak::new(self.window.holes_from(self.report_from?));
        self.report_from = nak.losses().last().map(|losses| losses.last + 1);
        self.report_from.map(|_| DatagramHeader::SrtNak(nak))
    }

    fn ack(&mut self) -> Option<DatagramHeader> {
        let (number, next) = self.acks.take_due(self.now, &self.round_trip)?;
        let RoundTrip { rtt, variance } = self.round_trip;
        Some(DatagramHeader::SrtAck(SrtAck { number, next, rtt, variance }))
    }

    pub(crate) fn kept(&self) -> usize {
        self.window.len()
    }

    pub(crate) fn received(&self) -> u64 {
        self.inbox.received()
    }
}
