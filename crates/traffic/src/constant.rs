use crate::{Application, ConnectionId, Io, PathId};
use earlybird_units::{Instant, Rate};

/// A camera of constant bit rate: one packet per period, into a queue without limit.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    path: PathId,
    spacing: Spacing,
    packet: u64,
    /// Packets still to write.
    packets: u64,
    connection: Option<ConnectionId>,
}

/// When the next packet comes.
#[derive(Clone, Copy, Debug)]
enum Spacing {
    /// When the rate has sent the one before, in whole nanoseconds that lose no time.
    Rate { rate: Rate, next: Instant, remainder: u64 },
    /// So many intervals after the start, in seconds as ns-2's scripts count.
    Interval { seconds: f64, start: f64, written: u64 },
}

impl ConstantRate {
    /// Makes a source of packets with `packet` payload bytes at `rate` payload bits per second.
    pub const fn new(path: PathId, rate: Rate, packet: u64) -> Self {
        let spacing = Spacing::Rate { rate, next: Instant::ZERO, remainder: 0 };
        Self { path, spacing, packet, packets: u64::MAX, connection: None }
    }

    /// Writes packet number k at k times `seconds` after the start, in double precision, whatever the rate.
    #[must_use]
    pub const fn with_interval(self, seconds: f64) -> Self {
        Self { spacing: Spacing::Interval { seconds, start: 0.0, written: 0 }, ..self }
    }

    /// Stops after so many packets.
    #[must_use]
    pub const fn with_packets(self, packets: u64) -> Self {
        Self { packets, ..self }
    }

    fn wake_for_next(&mut self, io: &mut dyn Io) {
        match &mut self.spacing {
            Spacing::Rate { rate, next, remainder } => {
                *next += rate.transmission_time(self.packet, remainder);
                io.wake_at(*next);
            }
            Spacing::Interval { seconds, start, written } => {
                *written += 1;
                io.wake_at_seconds(*start + *written as f64 * *seconds);
            }
        }
    }
}

impl Spacing {
    fn begin(&mut self, now: Instant) {
        match self {
            Self::Rate { next, .. } => *next = now,
            Self::Interval { start, .. } => *start = now.as_secs_f64(),
        }
    }
}

impl Application for ConstantRate {
    fn on_wake(&mut self, io: &mut dyn Io) {
        let connection = *self.connection.get_or_insert_with(|| {
            self.spacing.begin(io.now());
            io.open(self.path)
        });
        io.write_unit(connection, self.packet);
        self.packets = self.packets.saturating_sub(1);
        if self.packets > 0 {
            self.wake_for_next(io);
        }
    }
}
