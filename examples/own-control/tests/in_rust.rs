//! Two endpoints in memory, one of them with a window of its own.

use earlybird_tcp::{Config, Connection, Control, Cx};
use earlybird_units::{Instant, SeedTree};
use own_control::Aimd;

const GENTLE: Aimd = Aimd { increase: 0.2, decrease: 0.125 };

/// Lets the client's segment number `lost` get lost, a round trip of 10 ms, and gives the windows at its loss and after it.
fn windows(control: Control, lost: u64) -> (f64, f64) {
    let config = Config::rfc().with_control(control);
    assert_eq!(config.check(), Ok(()));
    let mut client = Connection::connect(&config, SeedTree::new(1));
    let mut server = Connection::listen(&config, SeedTree::new(2));
    let _ = client.write(200_000);
    let (mut sent, mut largest, mut smallest_after) = (0, 0.0_f64, f64::INFINITY);
    for round in 0..100 {
        let cx = &mut Cx { now: Instant::from_nanos(round * 10_000_000), trace: &mut () };
        while let Some(transmit) = client.poll_transmit(cx) {
            sent += 1;
            if sent != lost {
                server.on_segment(cx, &transmit.segment);
            }
        }
        while let Some(transmit) = server.poll_transmit(cx) {
            client.on_segment(cx, &transmit.segment);
        }
        server.read(u64::MAX);
        if client.statistics().fast_retransmits == 0 {
            largest = largest.max(client.cwnd());
        } else {
            smallest_after = smallest_after.min(client.cwnd());
        }
    }
    assert_eq!(server.received(), 200_000);
    (largest, smallest_after)
}

#[test]
fn a_connection_shrinks_its_window_by_the_share_that_the_control_says() {
    let (before, after) = windows(GENTLE.control(), 40);
    let (renos_before, renos_after) = windows(Control::Reno, 40);
    assert!(after > 0.7 * before, "{before} → {after}");
    assert!(renos_after < 0.7 * renos_before, "{renos_before} → {renos_after}");
}
