//! The virtual clock's unit.

use earlybird_units::Instant;

/// Virtual time in microseconds, as packetdrill counts it.
pub(crate) type Micros = u64;

/// Converts virtual time to that of the endpoint.
pub(crate) fn instant(at: Micros) -> Instant {
    Instant::from_nanos(at * 1000)
}
