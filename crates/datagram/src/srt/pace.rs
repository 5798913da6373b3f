//! The rate at which packets may leave: live congestion control (§5.1).

use earlybird_units::{Duration, Instant};

/// Spaces packets by their mean size at the largest rate.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    overhead: Option<f64>,
    /// Mean payload of a packet (`AvgPayloadSize`).
    payload: f64,
    input: InputRate,
    next_send: Instant,
}

/// Bytes of the header of every packet (§3).
const HEADER: f64 = 16.0;
/// Largest rate in bytes per second, if none follows from the input (`MAX_BW`, §5.1.1): 1 Gb/s.
const LARGEST_RATE: f64 = 125e6;

impl Pace {
    pub(crate) fn new(overhead: Option<f64>, mss: u16) -> Self {
        Self { overhead, payload: f64::from(mss), input: InputRate::default(), next_send: Instant::ZERO }
    }

    /// Records a packet that the application wrote.
    pub(crate) fn on_written(&mut self, now: Instant, len: u16) {
        // The rate estimate follows the application's input, not the retransmissions.
        self.input.count(now, f64::from(len) + HEADER);
    }

    /// Records a transmission or retransmission.
    pub(crate) fn on_sent(&mut self, now: Instant, len: u16) {
        // The weight is the draft's (§5.1.2); Haivision's implementation has 1/128 (`LiveCC::updatePayloadSize`).
        self.payload += (f64::from(len) - self.payload) / 8.0;
        let rate = self.overhead.map_or(LARGEST_RATE, |overhead| self.input.rate * (1.0 + overhead));
        self.next_send = now + Duration::from_secs_f64((self.payload + HEADER) / rate);
    }

    /// Returns the time of the next packet.
    pub(crate) fn next_send(&self) -> Instant {
        self.next_send
    }
}

/// The rate at which the application writes, measured over whole periods. The draft only requires a moving average
/// (§5.1.1); the periods are those of Haivision's implementation (`INPUTRATE_FAST_START_US`, `INPUTRATE_RUNNING_US`), which also
/// ends the first one after 2000 packets. The first value, 10 Mb/s, is that of its versions before 1.3.3
/// (`SND_INPUTRATE_INITIAL_BPS`); later ones begin with 1 Gb/s.
#[derive(Clone, Debug)]
struct InputRate {
    /// Bytes per second.
    rate: f64,
    since: Option<Instant>,
    bytes: f64,
    period: Duration,
}

impl Default for InputRate {
    fn default() -> Self {
        Self { rate: 1.25e6, since: None, bytes: 0.0, period: Duration::from_millis(500) }
    }
}

impl InputRate {
    fn count(&mut self, now: Instant, bytes: f64) {
        let Some(since) = self.since else {
            self.since = Some(now);
            return;
        };
        self.bytes += bytes;
        if now - since > self.period {
            self.rate = self.bytes / (now - since).as_secs_f64();
            *self = Self { rate: self.rate, since: Some(now), bytes: 0.0, period: Duration::from_secs(1) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn repairs_fit_into_a_quarter_of_the_measured_rate() {
        let mut pace = Pace::new(Some(0.25), 84);
        for packet in 0..100 {
            pace.on_written(at(packet * 20), 84);
        }
        pace.on_sent(at(2000), 84);
        // 100 bytes every 20 ms, and room for one more in four: 16 ms apart.
        assert_eq!(pace.next_send(), at(2016));
    }

    #[test]
    fn without_an_overhead_packets_leave_at_a_gigabit_per_second() {
        let mut pace = Pace::new(None, 1234);
        pace.on_sent(at(5), 1234);
        assert_eq!(pace.next_send() - at(5), Duration::from_micros(10));
    }
}
