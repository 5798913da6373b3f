//! Each measure at its boundary: the last event that counts, and the first that does not.

mod common;

use common::{real, run_text, summary, whole};

/// One flow over a link of 1 Mb/s with a round trip of 100 ms.
fn scenario(more: &str, link: &str, flow: &str) -> String {
    format!(
        r#"
duration = "40s"
{more}
[[network.links]]
from = "server"
to = "viewer"
rate = "1Mb/s"
delay = "50ms"
{link}
[[flows]]
name = "film"
from = "server"
to = "viewer"
{flow}
"#
    )
}

const FILM: &str = r#"application = { cbr = { rate = "200kb/s", packet = 1000 } }"#;

#[test]
fn bytes_of_the_warm_up_were_counted_as_throughput_after_it() {
    let report = run_text(&scenario("measure = { warm-up = \"20s\" }", "", FILM));
    // All bytes sent after the warm-up arrive, so that T is µ; with the bytes sent before, T would be twice µ.
    assert!((summary(&report, "t_over_mu") - 1.0).abs() < 0.01, "{}", summary(&report, "t_over_mu"));
    let throughput = real(&report, "flows", "throughput_bps")[0];
    assert!((throughput - 200e3).abs() < 2e3, "{throughput} b/s");
    // On the wire there are 40 bytes of headers to 1000 of payload, or a few more with options.
    let on_the_wire = summary(&report, "t_over_mu_wire");
    assert!((1.03..1.06).contains(&on_the_wire), "{on_the_wire}");
}

#[test]
fn the_idle_time_before_a_packet_was_counted_as_frozen() {
    // A packet every ten seconds, of which the third, at 20 s, is lost; nothing else is there to tell but the timer of 1 s.
    let flow = r#"application = { cbr = { rate = "1kb/s", packet = 100, interval = 10.0 } }"#;
    let loss = "loss = [{ list = { packets = [3] } }]";
    let report = run_text(&scenario("endpoint = { profile = \"rfc\", rack.tail-loss-probe = false }", loss, flow));
    let timeouts = whole(&report, "flows", "rto_count")[0];
    let frozen = real(&report, "flows", "frozen_s")[0];
    assert_eq!(timeouts, 1);
    assert!((0.9..2.0).contains(&frozen), "frozen for {frozen} s");
    assert!((frozen - real(&report, "timeouts", "frozen_s")[0]).abs() < 1e-9);
}

#[test]
fn drops_of_acknowledgements_were_counted_as_those_of_data() {
    // The acknowledgements of an upload take the direction that is measured.
    let text = r#"
duration = "40s"
measure = { bottleneck = "left-right" }
[network.dumbbell]
bottleneck = { rate = "1Mb/s", delay = "15ms", loss = [{ bernoulli = { probability = 0.05 } }] }
access = { rate = "10Mb/s", delay = "5ms" }
reverse = { rate = "1Mb/s" }
[[flows]]
name = "upload"
from = "right"
to = "left"
application = { bulk = {} }
"#;
    let report = run_text(text);
    let dropped = (summary(&report, "drop_rate") > 0.0, whole(&report, "drops", "packets")[0] > 20);
    assert_eq!(dropped, (true, true));
    assert_eq!(whole(&report, "drops", "data_packets"), [0]);
    for counted in ["packets_dropped", "queue_drops", "random_losses"] {
        assert_eq!(whole(&report, "flows", counted), [0], "{counted}");
    }
}

#[test]
fn a_share_of_the_rate_counted_what_came_before_the_warm_up() {
    // The first is alone for 20 s; then both are limited by what they play.
    let flows = format!(
        r#"{}
[[flows]]
name = "late"
from = "server"
to = "viewer"
start = {{ at = "20s" }}
{FILM}"#,
        r#"application = { cbr = { rate = "100kb/s", packet = 1000 } }"#
    );
    let share = |measure| summary(&run_text(&scenario(measure, "", &flows)), "first_group_rate_ratio");
    let (whole, after) = (share("measure = { warm-up = \"0s\" }"), share("measure = { warm-up = \"20s\" }"));
    assert!((whole - 1.0).abs() < 0.01, "{whole}");
    assert!((after - 2.0 / 3.0).abs() < 0.01, "{after}");
}
