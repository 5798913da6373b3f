//! The live backend: our endpoints on both sides.

use crate::setup::{bulk, column, completed, scenario, scenario_over, simulated, summary};
use earlybird_experiment::{Outputs, Report, RunError};
use earlybird_scenario::Scenario;

/// Runs it over our own endpoints; nothing where that is not allowed.
fn live(scenario: &Scenario) -> Option<Report> {
    completed(earlybird_backends::live::run(scenario, 1, &Outputs::default(), &mut |_| true))
}

fn of(report: &Report, name: &str) -> f64 {
    column(report, "flows", name)[0]
}

/// 50 units a second, each of four packets, for a viewer who plays them 200 ms after they were written.
fn video(transport: &str) -> String {
    format!(
        r#"
        [[flows]]
        name = "video"
        from = "a"
        to = "b"
        transport = "{transport}"
        application.cbr = {{ rate = "2Mbps", packet = 5000 }}
        client.deadline = {{ playback-delay = "200ms" }}
        "#
    )
}

#[test]
fn bulk_transfers_have_the_size_of_the_scenario() {
    for transport in ["cubic-rack", "pert-er", "sack-fg"] {
        let Some(report) = live(&scenario(&bulk(transport), "")) else { return };
        let throughput = of(&report, "throughput_bps");
        assert!(throughput >= 5e6, "{transport}: {throughput}");
        // 10 Mb/s for 4 s.
        assert!(column(&report, "links", "bytes_out")[0] <= 5e6, "{transport}");
        assert!((40.0..60.0).contains(&of(&report, "min_rtt_ms")), "{transport}: {}", of(&report, "min_rtt_ms"));
        // Packets on the link are those of the scenario, without what carries them: nearly all are full, and none is larger.
        let [bytes, packets] = ["bytes_out", "packets_out"].map(|name| column(&report, "links", name)[0]);
        assert!((1490.0..=1500.0).contains(&(bytes / packets)), "{transport}: {}", bytes / packets);
        // The packets of the reverse path carried no data.
        let acks = column(&report, "links", "bytes_out")[1] / column(&report, "links", "packets_out")[1];
        assert!((52.0..80.0).contains(&acks), "{transport}: {acks}");
        assert_eq!(of(&report, "packets_dropped"), column(&report, "drops", "data_packets").iter().sum::<f64>());
        assert!(of(&report, "retransmissions") >= of(&report, "packets_dropped") * 0.9, "{transport}");
        let packets = column(&report, "links", "packets_in")[0];
        assert!((of(&report, "packets_sent") - packets).abs() <= 0.02 * packets, "{transport}: {packets}");
        assert!(summary(&report, "added_delay_p50_us") < 1e5);
    }
}

#[test]
fn every_transport_for_frames_brings_every_unit_over_a_sound_link() {
    for transport in ["mtcp", "tcp-rtm", "tltcp", "tcp-rc", "mtp", "limited-buffer", "hollywood", "earlybird-rt"] {
        let scenario = scenario(&video(transport), "");
        let Some(real) = live(&scenario) else { return };
        let simulated = simulated(&scenario);
        for name in ["units_written", "frames_written"] {
            assert_eq!(of(&real, name), of(&simulated, name), "{transport}: {name}");
        }
        let [played, lost] = ["units_played", "units_lost"].map(|name| of(&real, name));
        assert!(played >= 180.0 && played + lost <= 200.0, "{transport}: {played}, {lost}");
        assert!(lost <= 5.0, "{transport}: {lost}");
        let [real_delay, simulated_delay] = [&real, &simulated].map(|report| of(report, "delay_p50_ms"));
        assert!(
            (simulated_delay - 1.0..simulated_delay + 15.0).contains(&real_delay),
            "{transport}: {real_delay}, {simulated_delay}"
        );
    }
}

#[test]
fn losses_are_skipped_in_time() {
    for transport in ["mtcp", "earlybird-rt"] {
        let link = "loss = [{ bernoulli = { probability = 0.05 } }]";
        let Some(report) = live(&scenario_over(link, &video(transport), "")) else { return };
        let [played, lost] = ["units_played", "units_lost"].map(|name| of(&report, name));
        assert!(played + lost >= 180.0, "{transport}: {played}, {lost}");
        // Our own mode has time to repair everything twice; the other skips holes, and reduces its window for them.
        assert!(transport == "mtcp" || lost <= 20.0, "{transport}: {lost}");
        assert!(of(&report, "random_losses") > 10.0 && of(&report, "retransmissions") > 0.0, "{transport}");
        let received = of(&report, "snacks_received");
        assert!(received <= of(&report, "snacks_sent") && of(&report, "invalid_snacks") == 0.0, "{transport}");
        assert!(received == 0.0 || of(&report, "segments_skipped") > 0.0, "{transport}");
    }
}

#[test]
fn decisions_of_a_sender_are_reported() {
    let loss = "loss = [{ bernoulli = { probability = 0.3 } }]";
    let Some(report) = live(&scenario_over(loss, &bulk("sack"), "")) else { return };
    let timeouts = of(&report, "rto_count");
    assert!(timeouts > 0.0 && of(&report, "frozen_s") > 0.2, "{timeouts}");
    let times = column(&report, "timeouts", "time_s");
    assert_eq!(times.len() as f64, timeouts);
    assert!(times.iter().all(|time| (0.0..4.0).contains(time)), "{times:?}");
    let freezes: f64 = column(&report, "timeouts", "frozen_s").iter().sum();
    assert!((freezes - of(&report, "frozen_s")).abs() < 1e-6, "{freezes}");
}

#[test]
fn a_transfer_that_ends_is_whole() {
    let scenario = scenario(&bulk("bbr-rack").replace("bulk = {}", "bulk = { bytes = 300000 }"), "");
    let Some(report) = live(&scenario) else { return };
    assert_eq!(column(&report, "flows", "bytes_delivered"), [300_000.0]);
}

#[test]
fn flows_of_every_kind_share_a_link_and_are_counted_separately() {
    let flows = format!("{}{}{}", bulk("cubic-rack"), video("mtcp"), bulk("sack").replace("\"bulk\"", "\"other\""));
    let Some(report) = live(&scenario(&flows, "endpoint.ecn = \"off\"")) else { return };
    let delivered = column(&report, "flows", "bytes_delivered");
    assert!(delivered.len() == 3 && delivered.iter().all(|bytes| *bytes > 1e5), "{delivered:?}");
    let groups = column(&report, "link_groups", "bytes_out");
    assert!(groups[..3].iter().all(|bytes| *bytes > 1e5), "{groups:?}");
}

#[test]
fn a_run_ends_when_its_caller_stops_it() {
    let outcome = earlybird_backends::live::run(&scenario(&bulk("cubic"), ""), 1, &Outputs::default(), &mut |_| false);
    match outcome {
        Err(RunError::Namespace(_)) => {}
        outcome => assert!(matches!(outcome, Err(RunError::Interrupted)), "{outcome:?}"),
    }
}

#[test]
fn what_our_endpoints_cannot_do_is_refused_with_the_key() {
    let datagrams = bulk("udp").replace("bulk = {}", "cbr = { rate = \"1Mbps\", packet = 1000 }");
    let cases = [
        (bulk("sack"), "endpoint.profile = \"ns2\"", "endpoint.profile: `ns2`"),
        (bulk("sack"), "endpoint.mss = 20", "endpoint.mss: `20`"),
        (bulk("sack"), "measure.transmissions = true", "measure.transmissions: "),
        // It was accepted, and the summary had no harm.
        (
            bulk("sack") + &bulk("sack").replace("bulk\"", "other\""),
            "measure.harm-by = \"other\"",
            "measure.harm-by: `other`",
        ),
        (bulk("sack").replace("from =", "count = 129\nfrom ="), "", "flows: `129`"),
        (bulk("sack").replace("bulk = {}", "webtraf = {}"), "", "flows.bulk.application: "),
        (datagrams, "", "flows.bulk.transport: `udp`"),
        (bulk("quic"), "", "flows.bulk.transport: `quic`"),
    ];
    for (flows, extra, start) in cases {
        let message = match earlybird_backends::live::check(&scenario(&flows, extra)) {
            Err(error) => error.to_string(),
            Ok(()) => panic!("{flows}{extra} is not refused"),
        };
        assert!(message.starts_with(start) && message.contains("in the `live` backend"), "{start}: {message}");
    }
    for transport in ["pert-er", "sack-fg", "tahoe", "bbr-rack"] {
        assert!(earlybird_backends::live::check(&scenario(&bulk(transport), "measure.duplicates = true")).is_ok());
    }
}
