//! Invariants that hold whatever a peer sends, and the work of a driver after every call. Hostile experiments use it too.

use earlybird_tcp::{Config, Connection};
use earlybird_units::Instant;
use earlybird_wire::{Options, SkipNotice, Timestamps};

/// Options of a SYN that has all a connection may be offered.
pub(crate) fn every_offer() -> Options {
    Options {
        mss: core::num::NonZeroU16::new(1000),
        window_scale: Some(1),
        sack_permitted: true,
        timestamps: Some(Timestamps::default()),
        skip_notice: Some(SkipNotice::Offer),
        ..Options::default()
    }
}

/// Takes everything that a connection has to tell.
pub(crate) fn drain(connection: &mut Connection) {
    while connection.poll_event().is_some() {}
    while connection.poll_abandoned().is_some() {}
    while let Some(skipped) = connection.poll_skipped() {
        assert!(skipped.start < skipped.end);
    }
}

/// Checks that a connection's measures are within their bounds, and that it is not late.
pub(crate) fn check(connection: &Connection, config: &Config, now: Instant) {
    let (cwnd, ssthresh) = (connection.cwnd(), connection.ssthresh());
    assert!((0.0..1e4).contains(&cwnd), "cwnd is {cwnd}");
    assert!(ssthresh >= f64::from(config.window.max.min(2)), "ssthresh is {ssthresh}");
    let outstanding = connection.outstanding();
    assert!(outstanding <= u64::from(config.window.max), "{outstanding} outstanding exceed the largest window");
    assert!(connection.timer().timeout <= config.timers.rto.ceiling, "the timeout is beyond its ceiling");
    let deadline = connection.poll_timeout();
    assert!(deadline.is_none_or(|deadline| deadline > now), "{deadline:?} has passed at {now:?}");
}
