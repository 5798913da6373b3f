//! PERT among others and alone.

mod common;

use common::{report, summary};
use earlybird_conformance::{Area, conforms};

/// The first seconds, in which all start slowly, cost most of the drops: so the run is as long as described.
#[test]
fn twenty_homogeneous_perts_keep_the_queue_short_and_the_link_busy() {
    let homogeneous = report("pert-homogeneous.toml", &[]);
    let (drops, wait, use_) = (
        summary(&homogeneous, "drop_rate"),
        summary(&homogeneous, "mean_queue_delay_ms"),
        summary(&homogeneous, "utilisation"),
    );
    assert!(drops < 0.005 && wait < 20.0 && use_ > 0.85, "{drops} {wait} {use_}");
    conforms(
        Area::Control,
        "PERT",
        "none: own bounds for a high use at a short queue",
        "20 long homogeneous PERT flows, 25 Mb/s, RTT 50 ms, 320 packets, 300 s: drops < 0.5 %, wait < 20 ms, use > 85 %",
        &format!("{:.2} %, {wait:.1} ms, {:.1} %", 100.0 * drops, 100.0 * use_),
    );
}

/// X-4, the corners with the smallest shares. The public ports' rules and fixed thresholds starve.
#[test]
fn the_default_pert_does_not_starve_among_ten_sack_flows() {
    let share = |preset: &str, buffer: &str, delay: &str| {
        let changes = [("preset", preset), ("buffer", buffer), ("delay", delay), ("duration", "150s")];
        summary(&report("pert-starvation.toml", &changes), "first_group_rate_ratio")
    };
    let shares = [share("default", "80", "10ms"), share("default", "640", "100ms")];
    assert!(shares.iter().all(|share| *share >= 0.2), "{shares:?}");
    let starving = [share("port", "640", "100ms"), share("h", "640", "10ms")];
    assert!(starving.iter().all(|share| *share < 0.2), "{starving:?}");
    conforms(
        Area::Control,
        "PERT",
        "none: how a delay-based sender lives among others",
        "one PERT flow among ten SACK flows, share of the mean rate: default at 80 packets and 20 ms, at 640 and 200 ms ≥ 0.2",
        &format!("{:.2} and {:.2}; starving: port {:.2}, h {:.2}", shares[0], shares[1], starving[0], starving[1]),
    );
}
