//! The first hour of a simulated day; the program `soak` runs the rest.

use earlybird_interop_and_soak::soak::{Growth, Soak, Stream, StreamProgress};
use earlybird_units::Duration;

#[test]
fn connections_that_come_and_go_leave_nothing_behind() {
    let mut growth = Growth::default();
    let soak = Soak::lasting(3_600, 1.0);
    let progress = soak
        .simulate(Duration::from_secs(120), |_, _| {
            growth.sample();
        })
        .expect("descriptors");
    assert_eq!(growth.has_grown(), Some(false), "{growth:?}");
    assert_eq!(progress.broken.get(), 0);
    assert_eq!(progress.complete.get() + progress.aborted.get(), progress.opened.get());
    assert!(progress.opened.get() > 3_000 && progress.aborted.get() > 100, "{progress:?}");
}

#[test]
fn a_long_encrypted_stream_loses_nothing_and_takes_no_more_memory() {
    let (mut growth, mut stream) = (Growth::default(), Stream::new("earlybird-rt").expect("a transport"));
    let mut progress = StreamProgress::default();
    // Five minutes: past the end of clocks of 32 bits, and two renewals of the keys.
    for _ in 0..20 {
        progress = stream.run(Duration::from_secs(15)).expect("memory");
        growth.sample();
    }
    assert_eq!(growth.has_grown(), Some(false), "{growth:?}");
    assert_eq!(progress.lost, 0, "{progress:?}");
    assert!(progress.sent > 110_000 && progress.sent - progress.received < 200, "{progress:?}");
}
