//! Counts and means of links: what waits at the end, what came before the warm-up ended, and who shares a link.

mod common;

use common::{real, run_text, summary, texts, whole};
use earlybird_experiment::Report;

/// A film of 20 Mb/s over a link of 10 Mb/s, with samples of the queue every 10 ms.
fn overload(queue: &str, more: &str) -> Report {
    run_text(&format!(
        r#"
duration = "10s"
endpoint = {{ transport = "udp" }}
measure = {{ series = "10ms", warm-up = "2s" }}
{more}
[network.dumbbell]
bottleneck = {{ rate = "10Mb/s", delay = "15ms" {queue} }}
access = {{ rate = "1Gb/s", delay = "5ms" }}
[[flows]]
name = "film"
from = "left"
to = "right"
application = {{ cbr = {{ rate = "20Mb/s", packet = 1000 }} }}
"#
    ))
}

const QUEUES: [&str; 6] = [
    "",
    ", queue = { packets = 100 }",
    ", queue = { fq-codel = {} }",
    ", queue = { cake = {} }",
    ", queue = { head-drop = 500 }",
    ", rate-steps = [{ at = \"5s\", rate = \"2Mb/s\" }]",
];

#[test]
fn packets_that_wait_at_the_end_were_counted_as_sent() {
    for queue in QUEUES {
        let report = overload(queue, "");
        let count = |name| whole(&report, "links", name)[0];
        assert_eq!(
            count("packets_in"),
            count("packets_out") + count("packets_dropped") + count("packets_waiting"),
            "{queue}"
        );
        // 10 Mb/s for 10 s; one packet may be in transmission.
        assert!((count("bytes_out") as f64) <= 12.5e6, "{queue}: {} bytes", count("bytes_out"));
        assert_eq!(whole(&report, "link_groups", "bytes_out"), [count("bytes_out")], "{queue}");
        assert_eq!(whole(&report, "link_groups", "packets_waiting"), [count("packets_waiting")], "{queue}");
        // 1000 of 1028 bytes are payload of half the rate; bounds of one packet at either end.
        let on_the_wire = summary(&report, "t_over_mu_wire");
        assert!(on_the_wire <= 0.5 * 1.001, "{queue}: {on_the_wire}");
        assert!((summary(&report, "bottleneck_packets") - count("packets_out") as f64).abs() < 0.5);
    }
}

#[test]
fn the_mean_queue_counted_waiting_after_the_end_of_the_run() {
    for queue in QUEUES {
        let report = overload(queue, "");
        let mean = real(&report, "links", "mean_queue_packets")[0];
        let most = whole(&report, "links", "max_queue_packets")[0] as f64;
        assert!(mean <= most, "{queue}: mean {mean}, maximum {most}");
        let rows = real(&report, "series", "time_s").into_iter().zip(texts(&report, "series", "subject"));
        let samples: Vec<f64> = rows
            .zip(real(&report, "series", "value"))
            .filter(|((at, subject), _)| *at >= 2.0 && subject == "left-right")
            .map(|(_, value)| value)
            .collect();
        let mean_of_samples = samples.iter().sum::<f64>() / samples.len() as f64;
        assert!(
            samples.len() == 800 && (mean - mean_of_samples).abs() < 0.02 * mean_of_samples + 0.5,
            "{queue}: {mean}, {mean_of_samples}"
        );
    }
}

#[test]
fn waiting_after_the_end_of_the_run_was_counted_in_the_mean_queueing_delay() {
    let report = overload("", "");
    // 20.56 Mb/s come with headers: who leaves at time t came at t / 2.056, and those of the interval leave at 6 s on average.
    let delay = real(&report, "links", "mean_queue_delay_ms")[0];
    let expected = 6e3 * (1.0 - 1.0 / 2.056);
    assert!((delay / expected - 1.0).abs() < 0.005, "{delay} ms, not {expected}");
}

#[test]
fn drops_and_utilisation_of_the_warm_up_were_counted_after_it() {
    // Nothing is sent for 5 s; then the link is full, and half of what comes is dropped once the queue is.
    let text = |warm_up: &str| {
        format!(
            r#"
duration = "20s"
endpoint = {{ transport = "udp" }}
measure = {{ warm-up = "{warm_up}" }}
[network.dumbbell]
bottleneck = {{ rate = "10Mb/s", delay = "15ms", queue = {{ packets = 10 }} }}
access = {{ rate = "1Gb/s", delay = "5ms" }}
[[flows]]
name = "film"
from = "left"
to = "right"
start = {{ at = "5s" }}
application = {{ cbr = {{ rate = "20Mb/s", packet = 1000 }} }}
"#
        )
    };
    let settled = run_text(&text("10s"));
    for table in ["flow_drop_rate", "throughput_bps"] {
        let value = real(&settled, "flows", table)[0];
        let expected = if table == "throughput_bps" { 10e6 * 1000.0 / 1028.0 } else { 0.5 };
        assert!((value / expected - 1.0).abs() < 0.03, "{table}: {value}");
    }
    assert!((real(&settled, "links", "utilisation")[0] - 1.0).abs() < 1e-3);
    assert!((real(&settled, "links", "mean_queue_packets")[0] - 8.75).abs() < 0.3);
    let early = run_text(&text("0s"));
    assert!((real(&early, "links", "utilisation")[0] - 0.75).abs() < 1e-2);
    // Counts are of the whole run whatever the warm-up.
    assert_eq!(whole(&early, "links", "packets_in"), whole(&settled, "links", "packets_in"));
    assert_eq!(whole(&early, "link_groups", "bytes_out"), whole(&settled, "link_groups", "bytes_out"));
}

/// Three links in a row; flows over one of them and over all.
const PARKING_LOT: &str = r#"
duration = "20s"
endpoint = { transport = "udp" }
measure = { warm-up = "0s", bottleneck = "b-c" }
[[network.links]]
from = "a"
to = "b"
rate = "2Mb/s"
delay = "1ms"
queue = { packets = 10 }
[[network.links]]
from = "b"
to = "c"
rate = "2Mb/s"
delay = "1ms"
queue = { packets = 10 }
[[network.links]]
from = "c"
to = "d"
rate = "2Mb/s"
delay = "1ms"
queue = { packets = 10 }
[[flows]]
name = "through"
from = "a"
to = "d"
application = { cbr = { rate = "1Mb/s", packet = 1000 } }
[[flows]]
name = "first"
from = "a"
to = "b"
start = { at = "0.3ms" }
application = { cbr = { rate = "3.7Mb/s", packet = 870 } }
[[flows]]
name = "last"
from = "c"
to = "d"
start = { at = "0.7ms" }
application = { cbr = { rate = "4.3Mb/s", packet = 930 } }
"#;

#[test]
fn flows_that_never_cross_the_bottleneck_were_counted_in_its_fair_share() {
    let report = run_text(PARKING_LOT);
    let delivered = real(&report, "flows", "throughput_bps");
    assert!(delivered[1] > 0.8e6, "the others get something: {delivered:?}");
    // Only the first flow crosses: T is its own.
    assert!((summary(&report, "t_over_mu") - delivered[0] / 1e6).abs() < 1e-9);
    assert!(report.summary.iter().all(|(name, _)| name != "first_group_rate_ratio"), "it shares the link with nobody");
    let in_the_middle = whole(&report, "link_groups", "bytes_out");
    assert_eq!((in_the_middle[1], in_the_middle[2]), (0, 0));
    let on_the_wire = summary(&report, "t_over_mu_wire");
    assert!((on_the_wire - in_the_middle[0] as f64 * 8.0 / 20.0 / 1e6).abs() < 1e-9, "{on_the_wire}");
}

#[test]
fn drops_of_a_flow_were_those_of_one_link_of_its_path() {
    let report = run_text(PARKING_LOT);
    let of = |name| whole(&report, "flows", name)[0];
    let rows = texts(&report, "drops", "flow").into_iter().zip(texts(&report, "drops", "link"));
    let through: Vec<_> =
        rows.zip(whole(&report, "drops", "data_packets")).filter(|((flow, _), _)| flow == "through0").collect();
    assert!(through.len() > 1, "it is dropped at two links: {through:?}");
    let dropped: i64 = through.iter().map(|(_, packets)| packets).sum();
    assert_eq!(of("packets_dropped"), dropped);
    assert_eq!(of("packets_dropped"), of("queue_drops") + of("random_losses"));
    let rate = real(&report, "flows", "flow_drop_rate")[0];
    assert!((rate - dropped as f64 / of("packets_sent") as f64).abs() < 1e-9);
}

/// A link that only one other feeds learns of packets ahead of time; those that come to it after the end had been counted.
#[test]
fn a_link_counted_packets_that_reached_it_after_the_end_of_the_run() {
    let report = run_text(
        r#"
duration = "10s"
endpoint = { transport = "udp" }
[[network.links]]
from = "a"
to = "b"
rate = "1Mb/s"
delay = "1s"
[[network.links]]
from = "b"
to = "c"
rate = "500kb/s"
delay = "1ms"
queue = { packets = 10 }
[[flows]]
name = "film"
from = "a"
to = "c"
application = { cbr = { rate = "2Mb/s", packet = 1000 } }
"#,
    );
    let [first, second] = [0, 2];
    let count = |name, link: usize| whole(&report, "links", name)[link];
    // Packets that the first link has sent by 9 s have arrived at the second by 10 s.
    let came = (count("packets_out", first) - count("packets_in", second)) as f64;
    assert!((came - 1e6 / 8.0 / 1028.0).abs() < 2.0, "{came} packets are propagating");
    assert_eq!(
        count("packets_in", second),
        count("packets_out", second) + count("packets_dropped", second) + count("packets_waiting", second)
    );
    let reported: i64 = whole(&report, "drops", "packets").into_iter().sum();
    assert_eq!(reported, count("packets_dropped", second), "both tables have the same drops");
}

/// A file of 1 MB over 10 Mb/s with a round trip of 40 ms, in a run of 60 s.
fn file(more: &str, application: &str) -> Report {
    run_text(&format!(
        r#"
duration = "60s"
{more}
[[network.links]]
from = "server"
to = "client"
rate = "10Mb/s"
delay = "20ms"
queue = {{ packets = 60 }}
[[flows]]
name = "file"
from = "server"
to = "client"
start = {{ at = "1s" }}
application = {{ {application} }}
"#
    ))
}

#[test]
fn a_file_that_ended_before_the_warm_up_had_a_throughput_of_a_few_kilobits() {
    let report = file("endpoint = { transport = \"cubic-rack\", profile = \"linux\" }", "bulk = { bytes = 1000000 }");
    let [time, rate] = ["completion_time_s", "throughput_bps"].map(|name| real(&report, "flows", name)[0]);
    // The handshake takes a round trip, and the last byte another one until it is acknowledged.
    assert!((0.8 + 0.08..3.0).contains(&time), "{time} s");
    assert!((rate - 8e6 / time).abs() < 1.0, "{rate} b/s");
    let endless = file("endpoint = { transport = \"cubic-rack\", profile = \"linux\" }", "bulk = {}");
    assert!(real(&endless, "flows", "completion_time_s")[0].is_nan());
    assert!(real(&endless, "flows", "throughput_bps")[0] > 9e6);
}

#[test]
fn a_stream_of_a_given_length_was_measured_long_after_its_end() {
    let report =
        file("endpoint = { transport = \"udp\" }", r#"cbr = { rate = "1Mb/s", packet = 1250, packets = 101 }"#);
    // The last of 101 packets is written 1 s after the first.
    let time = real(&report, "flows", "completion_time_s")[0];
    assert!((1.02..1.03).contains(&time), "{time} s");
    let rate = real(&report, "flows", "throughput_bps")[0];
    assert!((0.97e6..1e6).contains(&rate), "{rate} b/s");
}

#[test]
fn web_pages_had_no_completion_times() {
    let web = r#"http-simple = { sessions = 3, pairs = 2, page = 20000, objects = 4, object = 10000, parallel = 2, think = "1s" }"#;
    let network = r#"
duration = "60s"
[network.dumbbell]
bottleneck = { rate = "10Mb/s", delay = "15ms", queue = { packets = 60 } }
access = { rate = "1Gb/s", delay = "5ms" }
[[flows]]
name = "web"
from = "left"
to = "right"
"#;
    let report = run_text(&format!("{network}application = {{ {web} }}"));
    let [objects, pages] = ["objects_completed", "pages_completed"].map(|name| whole(&report, "flows", name)[0]);
    assert!(pages > 50 && (objects - 5 * pages).abs() <= 5 * 3, "{objects} objects, {pages} pages");
    let time = |name| real(&report, "flows", name)[0];
    // A page of five objects, four of them two at a time, takes at least six round trips of 50 ms.
    assert!(time("page_time_p50_s") > 0.3 && time("page_time_p50_s") < 2.0, "{} s", time("page_time_p50_s"));
    assert!(time("object_time_p50_s") < time("page_time_p50_s") && time("object_time_p50_s") > 0.1);
    assert!(time("page_time_p95_s") >= time("page_time_p50_s"));
}
