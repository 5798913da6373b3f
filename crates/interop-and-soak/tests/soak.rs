//! The first hour of a simulated day; the program `soak` runs the rest.

use earlybird_interop_and_soak::soak::{Growth, Soak};
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
