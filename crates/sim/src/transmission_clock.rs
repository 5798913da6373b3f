use earlybird_units::{Duration, Rate};

/// Computes how long packets take on the wire. Most are as large as the one before, so that a division is rarely due.
#[derive(Debug)]
pub(crate) struct TransmissionClock {
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

impl TransmissionClock {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, remainder: 0, last: Transmission::default() }
    }

    pub(crate) fn rest(&mut self) {
        self.remainder = 0;
    }

    /// Sends a packet after a rest.
    #[inline]
    pub(crate) fn send_first(&mut self, bytes: u32) -> (Duration, f64) {
        self.look_at(bytes);
        self.repeat_first()
    }

    /// Sends a packet right behind the last one.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32) -> (Duration, f64) {
        self.look_at(bytes);
        self.repeat()
    }

    /// Sends a packet as large as the last one, after a rest.
    #[inline]
    pub(crate) fn repeat_first(&mut self) -> (Duration, f64) {
        self.remainder = self.last.remainder;
        (self.last.span, self.last.seconds)
    }

    /// Sends a packet as large as the last one, right behind it.
    #[inline]
    pub(crate) fn repeat(&mut self) -> (Duration, f64) {
        self.remainder += self.last.remainder;
        if self.remainder < self.rate.bits_per_second() {
            return (self.last.span, self.last.seconds);
        }
        self.remainder -= self.rate.bits_per_second();
        (self.last.span + Duration::from_nanos(1), self.last.seconds)
    }

    fn look_at(&mut self, bytes: u32) {
        if self.last.bytes != bytes {
            self.compute(bytes);
        }
    }

    // Apart, so that the way of the others is short.
    #[inline(never)]
    fn compute(&mut self, bytes: u32) {
        let mut remainder = 0;
        let span = self.rate.transmission_time(u64::from(bytes), &mut remainder);
        let seconds = 8.0 * f64::from(bytes) / self.rate.bits_per_second() as f64;
        self.last = Transmission { bytes, span, remainder, seconds };
    }
}
