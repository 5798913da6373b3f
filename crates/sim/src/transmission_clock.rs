use earlybird_units::{Duration, Rate};

/// Computes transmission times. Most packets have the size of the previous one, so that a division is rare.
#[derive(Debug)]
pub(crate) struct TransmissionClock {
    rate: Rate,
    /// Rounding remainder since the link was last idle, in units of 1 ns divided by the rate.
    remainder: u64,
    last: Transmission,
}

/// The transmission time of one size: whole nanoseconds, the remainder, and ns-2's floating-point seconds.
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

    pub(crate) fn reset(&mut self) {
        self.remainder = 0;
    }

    /// Returns the transmission time of a packet on an idle link.
    #[inline]
    pub(crate) fn send_first(&mut self, bytes: u32) -> (Duration, f64) {
        self.update_for(bytes);
        self.repeat_first()
    }

    /// Returns the transmission time of a packet that follows another one without a gap.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32) -> (Duration, f64) {
        self.update_for(bytes);
        self.repeat()
    }

    /// The same as [`Self::send_first`] for a packet of the last one's size.
    #[inline]
    pub(crate) fn repeat_first(&mut self) -> (Duration, f64) {
        // An idle link starts a new busy period: rounding of the last one does not carry over.
        self.remainder = self.last.remainder;
        (self.last.span, self.last.seconds)
    }

    /// The same as [`Self::send`] for a packet of the last one's size.
    #[inline]
    pub(crate) fn repeat(&mut self) -> (Duration, f64) {
        self.remainder += self.last.remainder;
        // Carrying the remainder keeps long busy periods exact: transmission times are not multiples of 1 ns.
        if self.remainder < self.rate.bits_per_second() {
            return (self.last.span, self.last.seconds);
        }
        self.remainder -= self.rate.bits_per_second();
        (self.last.span + Duration::from_nanos(1), self.last.seconds)
    }

    fn update_for(&mut self, bytes: u32) {
        // A comparison instead of a division.
        if self.last.bytes != bytes {
            self.compute(bytes);
        }
    }

    // Not inlined, so that the common case stays short.
    #[inline(never)]
    fn compute(&mut self, bytes: u32) {
        let mut remainder = 0;
        let span = self.rate.transmission_time(u64::from(bytes), &mut remainder);
        // The same expression in the same order as ns-2's `LinkDelay::txtime`, for the same bits.
        let seconds = 8.0 * f64::from(bytes) / self.rate.bits_per_second() as f64;
        self.last = Transmission { bytes, span, remainder, seconds };
    }
}
