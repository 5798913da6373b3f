use crate::{Application, ConnectionId, Io, PathId};
use earlybird_units::{Instant, Rate};

/// A camera of constant bit rate: one packet per period, into a queue without limit.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    path: PathId,
    rate: Rate,
    packet: u64,
    connection: Option<ConnectionId>,
    next: Instant,
    remainder: u64,
}

impl ConstantRate {
    /// Makes a source of packets with `packet` payload bytes at `rate` payload bits per second.
    pub const fn new(path: PathId, rate: Rate, packet: u64) -> Self {
        Self { path, rate, packet, connection: None, next: Instant::ZERO, remainder: 0 }
    }
}

impl Application for ConstantRate {
    fn on_wake(&mut self, io: &mut dyn Io) {
        let connection = *self.connection.get_or_insert_with(|| {
            self.next = io.now();
            io.open(self.path)
        });
        io.write_unit(connection, self.packet);
        self.next += self.rate.transmission_time(self.packet, &mut self.remainder);
        io.wake_at(self.next);
    }
}
