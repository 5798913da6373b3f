//! The kernel's backend.

use crate::setup::{bulk, column, completed, scenario, simulated, summary};
use earlybird_experiment::{Column, Outputs, Report, RunError};
use earlybird_scenario::Scenario;

/// Runs it over the kernel; nothing where that is not allowed.
fn kernel(scenario: &Scenario) -> Option<Report> {
    completed(earlybird_backends::kernel::run(scenario, 1, &Outputs::default(), &mut |_| true))
}

#[test]
fn bulk_transfers_fill_the_link_and_no_more() {
    for transport in ["sack", "cubic", "bbr1"] {
        let Some(report) = kernel(&scenario(&bulk(transport), "")) else { return };
        let of_flow = |name| column(&report, "flows", name)[0];
        let throughput = of_flow("throughput_bps");
        // Headers of 52 bytes go with 1448 of payload. Both ends of the measured time are when this process was woken, a millisecond
        // or a few late: of 3000 that is less than the half percent allowed.
        assert!((7e6..=1.005 * 10e6 * 1448.0 / 1500.0).contains(&throughput), "{transport}: {throughput}");
        // Two times 20 ms, and 1.2 ms for a segment; an emulator that is late by more than it should be is said to be.
        assert!((40.0..60.0).contains(&of_flow("min_rtt_ms")), "{transport}: {}", of_flow("min_rtt_ms"));
        // The bottleneck carried the bytes that the receiver has, and duplicates.
        let carried = column(&report, "links", "bytes_out")[0];
        let delivered = of_flow("bytes_delivered");
        assert!(
            delivered * 1500.0 / 1448.0 <= carried && delivered > 0.8 * carried,
            "{transport}: {delivered} of {carried}"
        );
        assert_eq!(of_flow("packets_dropped"), column(&report, "drops", "data_packets").iter().sum::<f64>());
        assert!(of_flow("retransmissions") >= of_flow("packets_dropped") * 0.9, "{transport}");
        let packets = column(&report, "links", "packets_in")[0];
        assert!((of_flow("packets_sent") - packets).abs() <= 0.02 * packets, "{transport}: {packets}");
        assert!(summary(&report, "added_delay_p50_us") < 1e5);
    }
}

#[test]
fn a_series_has_samples_of_flows_and_links_in_order_of_time() {
    let Some(report) = kernel(&scenario(&bulk("cubic"), "")) else { return };
    let times = column(&report, "series", "time_s");
    assert!(times.is_sorted() && times.last().is_some_and(|last| *last > 3.5 && *last <= 4.0), "{times:?}");
    let (_, series) = report.tables.iter().find(|(name, _)| *name == "series").unwrap();
    let Column::String(quantities) = &series.columns[2].1 else { panic!("{series:?}") };
    let values = column(&report, "series", "value");
    let of = |name: &str| -> Vec<f64> {
        quantities.iter().zip(&values).filter(|(quantity, _)| *quantity == name).map(|(_, value)| *value).collect()
    };
    for quantity in ["cwnd", "srtt_s", "rto_s", "in_flight", "queue_packets"] {
        assert!(of(quantity).len() >= 30, "{quantity}: {:?}", of(quantity));
    }
    assert!(of("srtt_s")[2..].iter().all(|rtt| (0.04..0.2).contains(rtt)), "{:?}", of("srtt_s"));
    assert!(of("queue_packets").iter().any(|packets| *packets > 10.0));
}

#[test]
fn every_unit_of_a_stream_comes_and_is_judged_and_played() {
    let video = r#"
        [[flows]]
        name = "video"
        from = "a"
        to = "b"
        transport = "cubic"
        application.cbr = { rate = "2Mbps", packet = 5000 }
        client.deadline = { playback-delay = "200ms" }
        "#;
    let scenario = scenario(video, "");
    let Some(real) = kernel(&scenario) else { return };
    let simulated = simulated(&scenario);
    let of = |report: &Report, name| column(report, "flows", name)[0];
    // 50 units a second for 4 s, of which the last are under way at the end.
    assert_eq!(of(&real, "units_written"), of(&simulated, "units_written"));
    assert!(of(&real, "units_written") - of(&real, "units_delivered") <= 5.0);
    // Four packets of at most 1.2 ms and 20 ms of the link, and what a busy machine adds.
    let [real_delay, simulated_delay] = [&real, &simulated].map(|report| of(report, "delay_p50_ms"));
    assert!((simulated_delay - 1.0..simulated_delay + 15.0).contains(&real_delay), "{real_delay}, {simulated_delay}");
    assert_eq!(column(&real, "lateness", "due"), column(&simulated, "lateness", "due"));
    assert!(of(&real, "units_played") + of(&real, "units_lost") >= 180.0, "{}", of(&real, "units_played"));
    assert_eq!(of(&real, "units_lost"), summary(&real, "units_lost"));
}

#[test]
fn queues_mark_instead_of_dropping_if_the_scenario_enables_ecn() {
    let red = r#"
        [[network.links]]
        from = "c"
        to = "d"
        rate = "5Mbps"
        delay = "10ms"
        queue = { codel = { limit = 200, ecn = true } }
        "#;
    let flows = format!("{}{red}", bulk("cubic").replace(r#""a""#, r#""c""#).replace(r#""b""#, r#""d""#));
    for (ecn, marks) in [("classic", true), ("off", false)] {
        let Some(report) = kernel(&scenario(&flows, &format!("endpoint.ecn = \"{ecn}\""))) else { return };
        let marked: f64 = column(&report, "links", "packets_marked").iter().sum();
        assert_eq!(marked > 0.0, marks, "{ecn}: {marked}");
    }
}

#[test]
fn a_transfer_that_ends_is_whole() {
    let scenario = scenario(&bulk("cubic").replace("bulk = {}", "bulk = { bytes = 300000 }"), "");
    let Some(report) = kernel(&scenario) else { return };
    assert_eq!(column(&report, "flows", "bytes_delivered"), [300_000.0]);
}

#[test]
fn a_run_ends_when_its_caller_stops_it() {
    let mut asked = 0;
    let outcome = earlybird_backends::kernel::run(&scenario(&bulk("cubic"), ""), 1, &Outputs::default(), &mut |done| {
        asked += 1;
        assert!((0.0..1.0).contains(&done));
        asked < 5
    });
    match outcome {
        Err(RunError::Namespace(_)) => {}
        outcome => assert!(matches!(outcome, Err(RunError::Interrupted)), "{outcome:?}"),
    }
}

/// Returns the message of a refusal: the key, and what is wrong with it.
fn refusal(flows: &str, extra: &str) -> String {
    match earlybird_backends::kernel::check(&scenario(flows, extra)) {
        Err(error) => error.to_string(),
        Ok(()) => panic!("{flows}{extra} is not refused"),
    }
}

/// It is what `earlybird kernel load pert` brings, so that both may be on a machine that runs this.
#[test]
fn pert_is_taken_where_it_is_loaded_and_else_refused_with_the_command_that_loads_it() {
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    if known.split_whitespace().any(|name| name == "pert") {
        assert!(earlybird_backends::kernel::check(&scenario(&bulk("pert-rack"), "")).is_ok());
    } else {
        let message = refusal(&bulk("pert-rack"), "");
        assert!(
            message.starts_with("flows.bulk.transport: `pert-rack`") && message.contains("kernel load pert`"),
            "{message}"
        );
    }
}

#[test]
fn what_the_kernel_cannot_do_is_refused_with_the_key() {
    let cases = [
        (bulk("pert-er"), "", "flows.bulk.transport: `pert-er`"),
        (bulk("sack-fg"), "", "flows.bulk.transport: `sack-fg`"),
        (bulk("tahoe"), "", "flows.bulk.transport: `tahoe`"),
        (bulk("cubic"), "endpoint.profile = \"ns2\"", "endpoint.profile: `ns2`"),
        (bulk("cubic"), "endpoint.initial-window = 3", "endpoint.initial-window: `3`"),
        (bulk("cubic"), "endpoint.rto = { ceiling = \"10s\" }", "endpoint.rto: "),
        (
            bulk("cubic")
                + &bulk("cubic").replace(
                    "bulk\"",
                    "other\"
endpoint.ecn = \"classic\"",
                ),
            "",
            "flows.other.endpoint.ecn: `classic`",
        ),
        (bulk("cubic"), "endpoint.mss = 50", "endpoint.mss: `50`"),
        (bulk("cubic"), "measure.transmissions = true", "measure.transmissions: "),
        // It was accepted, and the summary had no harm.
        (
            bulk("cubic") + &bulk("cubic").replace("bulk\"", "other\""),
            "measure.harm-by = \"other\"",
            "measure.harm-by: ",
        ),
        (bulk("cubic").replace("from =", "count = 129\nfrom ="), "", "flows: `129`"),
        (bulk("cubic").replace("bulk = {}", "webtraf = {}"), "", "flows.bulk.application: "),
        (
            bulk("udp").replace("bulk = {}", "cbr = { rate = \"1Mbps\", packet = 1000 }"),
            "",
            "flows.bulk.transport: `udp`",
        ),
        (bulk("quic-streams"), "", "flows.bulk.transport: `quic-streams`"),
        (
            bulk("mtcp").replace("bulk = {}", "cbr = { rate = \"1Mbps\", packet = 1000 }"),
            "",
            "flows.bulk.transport: `mtcp`",
        ),
    ];
    for (flows, extra, start) in cases {
        let message = refusal(&flows, extra);
        assert!(message.starts_with(start) && message.contains("in the `kernel` backend"), "{start}: {message}");
    }
    assert!(earlybird_backends::kernel::check(&scenario(&bulk("sack-rack"), "endpoint.mss = 1000")).is_ok());
}
