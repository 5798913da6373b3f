//! Flows of datagrams from the scenario's text to tables and files.

mod common;

use common::{real, run_once, scenario_of, texts, whole};
use earlybird_experiment::{Outputs, Report};
use pcap_file::pcapng::{Block, PcapNgReader};
use std::path::PathBuf;

/// Returns the description of a clip of two frames a second, one of them of three datagrams, over a link that loses the given
/// packets.
fn scenario(endpoint: &str, drops: &str) -> String {
    format!(
        r#"
duration = "10s"
measure = {{ deliveries = true, start-up-delays = ["1s"], series = "1s", warm-up = "0s" }}
endpoint = {endpoint}
[[network.links]]
from = "a"
to = "b"
rate = "1Mb/s"
delay = "50ms"
loss = [{{ list = {{ packets = {drops} }} }}]
[[flows]]
name = "clip"
endpoint = {{ mss = 1000 }}
from = "a"
to = "b"
application = {{ media = {{ times = [0, 0.5], sizes = [100, 2500], length = 1 }} }}
"#
    )
}

fn report(text: &str, outputs: &Outputs) -> Report {
    run_once(&scenario_of(text, &[]), outputs)
}

fn count(report: &Report, table: &str, name: &str) -> i64 {
    whole(report, table, name)[0]
}

#[test]
fn a_lost_datagram_of_a_frame_loses_the_frame_and_no_other() {
    // Datagram 2 is the middle of the second frame.
    let report = report(&scenario(r#"{ transport = "udp" }"#, "[2]"), &Outputs::default());
    let [written, delivered, sent, dropped] = ["units_written", "units_delivered", "packets_sent", "packets_dropped"]
        .map(|name| count(&report, "flows", name));
    assert_eq!([written, delivered, sent, dropped], [20, 19, 40, 1]);
    assert_eq!(count(&report, "lateness", "late"), 1);
    let times = real(&report, "deliveries", "delivered_s");
    assert!(times[1].is_infinite() && times.iter().filter(|time| time.is_finite()).count() == 19);
    // 100 bytes with 28 of headers take 1.024 ms, then 50 ms of propagation.
    assert!((times[0] - 0.051_024).abs() < 1e-9, "{}", times[0]);
}

#[test]
fn tfrc_delivers_the_clip_and_shows_its_rate() {
    let report = report(&scenario(r#"{ transport = "tfrc" }"#, "[]"), &Outputs::default());
    let [written, delivered] = ["units_written", "units_delivered"].map(|name| count(&report, "flows", name));
    assert_eq!([written, delivered], [20, 20]);
    assert!(texts(&report, "series", "quantity").iter().any(|name| name == "allowed_rate_bps"));
}

#[test]
fn srt_repairs_a_lost_datagram_if_its_latency_allows_and_releases_all_at_their_time() {
    for (srt, delivered) in
        [(r#"latency = "150ms""#, 20), (r#"latency = "100ms""#, 19), ("latency-round-trips = 4", 20)]
    {
        let endpoint = format!(r#"{{ transport = "srt", srt = {{ {srt} }} }}"#);
        let report = report(&scenario(&endpoint, "[2]"), &Outputs::default());
        let counts = ["units_written", "units_delivered", "packets_sent", "retransmissions"];
        assert_eq!(counts.map(|name| count(&report, "flows", name)), [20, delivered, 41, 1], "{srt}");
        let times = real(&report, "deliveries", "delivered_s");
        let delays: Vec<f64> = times
            .iter()
            .zip(0..)
            .map(|(time, unit)| time - f64::from(unit) * 0.5)
            .filter(|delay| delay.is_finite())
            .collect();
        assert!(delays.iter().all(|delay| (delay - delays[0]).abs() < 1e-9), "{srt}: {delays:?}");
    }
}

#[test]
fn quic_repairs_as_its_mapping_of_units_requires() {
    // A packet with data is lost: streams repair it, and datagrams do not.
    for (transport, delivered) in [("quic", 20), ("quic-streams", 20), ("quic-datagrams", 19)] {
        let text =
            scenario(&format!(r#"{{ transport = "{transport}" }}"#), "[20]").replace("endpoint = { mss = 1000 }", "");
        let report = report(&text, &Outputs::default());
        let counts = ["units_written", "units_delivered", "packets_dropped"].map(|name| count(&report, "flows", name));
        assert_eq!(counts, [20, delivered, 1], "{transport}");
        assert!(texts(&report, "series", "quantity").iter().any(|name| name == "srtt_s"), "{transport}");
    }
}

#[test]
fn traces_have_the_datagrams_and_captures_are_udp() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let outputs = Outputs {
        trace: Some(folder.join("datagrams.csv")),
        capture: Some(folder.join("datagrams.pcapng")),
        ..Outputs::default()
    };
    report(&scenario(r#"{ transport = "udp" }"#, "[2]"), &outputs);
    let trace = std::fs::read_to_string(folder.join("datagrams.csv")).expect("a trace");
    let lines: Vec<&str> = trace.lines().skip(1).take(5).collect();
    assert_eq!(lines[..2], ["0,snd,0,,,,", "0.051024,dlv,0,,,,"]);
    assert_eq!(trace.lines().filter(|line| line.contains(",drp,2,")).count(), 1);
    let capture = std::fs::read(folder.join("datagrams.pcapng")).expect("a capture");
    let packet = first_packet(&capture);
    // IPv4 without options, UDP, 128 bytes.
    assert_eq!((packet[0], packet[9], u16::from_be_bytes([packet[2], packet[3]])), (0x45, 17, 128));
}

fn first_packet(capture: &[u8]) -> Vec<u8> {
    let mut reader = PcapNgReader::new(capture).expect("a section");
    loop {
        let block = reader.next_block().expect("a packet").expect("a whole block");
        if let Block::EnhancedPacket(packet) = block {
            return packet.data.into_owned();
        }
    }
}
