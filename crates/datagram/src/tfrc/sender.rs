//! The sending side: computes the rate and keeps to it (RFC 5348 §4).

use super::equation::throughput;
use super::limits::{DataLimit, ReceiveRates};
use crate::transmit::Transmit;
use crate::units::Outbox;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Datagram, DatagramHeader, Ecn, TfrcData, TfrcFeedback};

/// The sender of a flow.
#[derive(Clone, Debug)]
pub struct Sender {
    outbox: Outbox,
    /// The ECN field of datagrams.
    ecn: Ecn,
    mss: f64,
    /// Mean payload of a datagram (`s`).
    segment: f64,
    /// Allowed rate in bytes per second (`X`).
    rate: f64,
    /// Smoothed round-trip time (`R`).
    rtt: Option<Duration>,
    /// Loss events per datagram as reported last (`p`).
    loss_event_rate: f64,
    /// The equation's rate (`X_Bps`).
    equation_rate: f64,
    reports: ReceiveRates,
    data_limit: DataLimit,
    /// The time of the last doubling of the rate (`tld`).
    doubled: Instant,
    sequence: u64,
    last_sent: Option<(Instant, u16)>,
    /// The nofeedback timer.
    deadline: Option<Instant>,
    /// Whether nothing was sent since that timer was set.
    is_idle: bool,
    drained: bool,
}

/// Values of a sender for time series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauges {
    /// Allowed rate in bytes per second.
    pub rate: f64,
    /// Loss events per datagram as reported last.
    pub loss_event_rate: f64,
    /// Smoothed round-trip time.
    pub rtt: Option<Duration>,
}

/// Weight of the old value in the smoothed round-trip time (`q`, RFC 5348 §4.3).
const OLD_RTT_SHARE: f64 = 0.9;
/// The longest time between two datagrams (`t_mbi`, RFC 5348 §4.3).
const LONGEST_INTERVAL: f64 = 64.0;
/// The nofeedback timer before the first report (RFC 5348 §4.2).
const FIRST_TIMEOUT: Duration = Duration::from_secs(2);
/// The factor for a report's rate after a loss while the application limited the sender (RFC 5348 §4.3).
const DATA_LIMITED_SHARE: f64 = 0.85;

impl Sender {
    pub(crate) fn new(mss: u16, ecn: bool) -> Self {
        let segment = f64::from(mss);
        Self {
            outbox: Outbox::new(mss),
            ecn: if ecn { Ecn::Capable0 } else { Ecn::NotCapable },
            mss: segment,
            segment,
            // One datagram per second (RFC 5348 §4.2).
            rate: segment,
            rtt: None,
            loss_event_rate: 0.0,
            equation_rate: f64::INFINITY,
            reports: ReceiveRates::unbounded(Instant::ZERO),
            data_limit: DataLimit::default(),
            doubled: Instant::ZERO,
            sequence: 0,
            last_sent: None,
            deadline: None,
            is_idle: true,
            drained: false,
        }
    }

    pub(crate) fn write_unit(&mut self, bytes: u64) {
        self.outbox.write_unit(bytes);
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.outbox.write_stream(bytes);
    }

    /// Returns the time of the next datagram: after the last one's length at the present rate.
    fn next_send(&self) -> Instant {
        let interval = |len: u16| Duration::from_secs_f64(f64::from(len) / self.rate);
        self.last_sent.map_or(Instant::ZERO, |(at, len)| at + interval(len))
    }

    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if self.next_send() > now {
            return None;
        }
        let datagram = self.outbox.pop()?;
        // Timers start with the first datagram, not when the endpoint is made.
        if self.last_sent.is_none() {
            self.reports = ReceiveRates::unbounded(now);
            self.segment = f64::from(datagram.len).max(1.0);
            self.deadline = Some(now + FIRST_TIMEOUT);
        }
        self.on_sent(now, datagram.len);
        let header = TfrcData { sequence: self.sequence, sent: now, rtt: self.rtt };
        let number = Some(self.sequence);
        self.sequence += 1;
        let datagram = Datagram { header: DatagramHeader::TfrcData(header), ecn: self.ecn, ..datagram };
        Some(Transmit { datagram, number, is_retransmission: false })
    }

    fn on_sent(&mut self, now: Instant, len: u16) {
        // RFC 5348 §4.1 leaves the way of averaging open; an empty datagram still takes its turn.
        self.segment = (self.segment + (f64::from(len) - self.segment) / 16.0).max(1.0);
        // An empty datagram would take no time at any rate.
        self.last_sent = Some((now, len.max(1)));
        self.is_idle = false;
        if self.outbox.is_empty() {
            self.drained = true;
        } else {
            self.data_limit.on_full_use(now);
        }
    }

    pub(crate) fn take_drained(&mut self) -> bool {
        core::mem::take(&mut self.drained)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let next = (!self.outbox.is_empty()).then(|| self.next_send());
        [next, self.deadline].into_iter().flatten().min()
    }

    /// Takes a report (RFC 5348 §4.3).
    pub(crate) fn on_datagram(&mut self, now: Instant, datagram: &Datagram) {
        let DatagramHeader::TfrcFeedback(report) = datagram.header else { return };
        // The receiver's delay is not part of the path.
        let sample = (now - report.echo).saturating_sub(report.delay);
        let is_first = self.rtt.is_none();
        let rtt = self.rtt.map_or(sample, |rtt| rtt.mul_f64(OLD_RTT_SHARE) + sample.mul_f64(1.0 - OLD_RTT_SHARE));
        self.rtt = Some(rtt);
        let limit = self.receive_limit(now, &report, rtt);
        self.loss_event_rate = report.loss_event_rate;
        if is_first {
            self.rate = self.initial_rate(rtt);
            self.doubled = now;
        } else if self.loss_event_rate > 0.0 {
            self.equation_rate = throughput(self.segment, rtt.as_secs_f64(), self.loss_event_rate);
            self.rate = self.equation_rate.min(limit).max(self.smallest_rate());
        // Slow start: doubles once per round trip (RFC 5348 §4.3, step 4).
        } else if now - self.doubled >= rtt {
            self.rate = (2.0 * self.rate).min(limit).max(self.initial_rate(rtt));
            self.doubled = now;
        }
        self.restart_timer(now);
    }

    /// Returns the bound of the report: twice the received rate, but not after a loss while little was sent.
    fn receive_limit(&mut self, now: Instant, report: &TfrcFeedback, rtt: Duration) -> f64 {
        if !self.data_limit.on_report(now, report.echo) {
            self.reports.update(now, report.received_rate, rtt);
            return 2.0 * self.reports.max();
        }
        if report.loss_event_rate > self.loss_event_rate {
            self.reports.halve();
            self.reports.maximise(now, DATA_LIMITED_SHARE * report.received_rate);
            return self.reports.max();
        }
        self.reports.maximise(now, report.received_rate);
        2.0 * self.reports.max()
    }

    /// Returns the rate of an initial window per round trip (RFC 5348 §4.2; RFC 3390).
    fn initial_rate(&self, rtt: Duration) -> f64 {
        // The initial window of RFC 3390, per round trip.
        (4.0 * self.mss).min((2.0 * self.mss).max(4380.0)) / rtt.as_secs_f64()
    }

    fn smallest_rate(&self) -> f64 {
        self.segment / LONGEST_INTERVAL
    }

    fn restart_timer(&mut self, now: Instant) {
        let two_datagrams = Duration::from_secs_f64(2.0 * self.segment / self.rate);
        // RFC 5348 §4.3, step 6.
        self.deadline = Some(now + self.rtt.map_or(FIRST_TIMEOUT, |rtt| rtt * 4).max(two_datagrams));
        self.is_idle = true;
    }

    /// Acts on silence (RFC 5348 §4.4).
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.on_feedback_timeout(now);
            self.restart_timer(now);
        }
    }

    fn on_feedback_timeout(&mut self, now: Instant) {
        let received = self.reports.max();
        let recovery = self.rtt.map_or(f64::INFINITY, |rtt| self.initial_rate(rtt));
        let has_losses = self.loss_event_rate > 0.0;
        let is_slow = if has_losses { received < recovery } else { self.rate < 2.0 * recovery };
        // An idle sender keeps its recovery rate (RFC 5348 §4.4).
        if self.rtt.is_some() && self.is_idle && is_slow {
            return;
        }
        if !has_losses {
            self.rate = (self.rate / 2.0).max(self.smallest_rate());
        } else if self.equation_rate > 2.0 * received {
            self.limit_reports(now, received);
        } else {
            self.limit_reports(now, self.equation_rate / 2.0);
        }
    }

    fn limit_reports(&mut self, now: Instant, limit: f64) {
        let limit = limit.max(self.smallest_rate());
        // `Update_Limits` of RFC 5348 §4.4: half, because the limit is twice the set.
        self.reports = ReceiveRates::only(now, limit / 2.0);
        self.rate = self.equation_rate.min(limit).max(self.smallest_rate());
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn gauges(&self) -> Gauges {
        Gauges { rate: self.rate, loss_event_rate: self.loss_event_rate, rtt: self.rtt }
    }
}
