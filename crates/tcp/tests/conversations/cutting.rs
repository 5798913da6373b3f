//! Segmentation of a stream: options, PSH, FIN, Nagle's algorithm, corks and records.

use crate::host::Host;
use crate::{connected, plain, real};
use earlybird_tcp::Event::{Drained, Established, Writable};
use earlybird_tcp::{Config, IpVersion, RfcState, Segmentation};
use rstest::rstest;

/// Opens a connection of packets of up to 1500 bytes over IPv4, answered by a peer with these options.
fn opened(config: &Config, options: &str) -> Host {
    let mut host = Host::connect(&config.with_mss(1460));
    host.at(100).receives(&format!("S. 0:0(0) ack 1 <{options}>")).forget_sent();
    host
}

/// RFC 9293 §3.7.1, RFC 6691: the option counts what follows bare headers, so options take their room from it.
#[rstest]
#[case::both("mss 1460,sackOK,TS 700/0", 1448)]
#[case::the_peer_has_no_timestamps("mss 1460,sackOK", 1460)]
#[case::the_peer_takes_less("mss 1000,TS 700/0", 988)]
#[case::it_tells_nothing("TS 700/0", 524)]
fn a_segment_with_timestamps_is_no_larger_than_the_path_carries(#[case] options: &str, #[case] payload: u64) {
    let mut host = opened(&Config::rfc(), options);
    assert_eq!(host.connection.effective_mss(), payload);
    host.write(payload + 1);
    let sent = host.take_texts();
    assert!(sent[0].starts_with(&format!(". 1:{}({payload})", payload + 1)), "{sent:?}");
}

/// RFC 9293 §3.7.1 (MUST-15): 1220 bytes over IPv6.
#[test]
fn a_peer_without_mss_option_gets_1220_bytes_over_ipv6() {
    let host = opened(&real().with_ip(IpVersion::V6), "sackOK");
    assert_eq!(host.connection.effective_mss(), 1220);
    assert_eq!((IpVersion::V6.mss_within(1500), IpVersion::V4.mss_within(1500)), (1440, 1460));
}

/// Linux's `TCP_MIN_SND_MSS` (CVE-2019-11479): who tells a tiny size makes us send headers.
#[rstest]
fn a_tiny_mss_of_the_peer_is_not_believed(#[values(1, 36, 47, 48)] mss: u16) {
    let effective_mss =
        |timestamps: &str| opened(&Config::rfc(), &format!("mss {mss}{timestamps}")).connection.effective_mss();
    assert_eq!((effective_mss(""), effective_mss(",TS 700/0")), (48, 36));
}

/// In simulations the largest size is payload.
#[test]
fn a_simulated_segment_carries_as_much_with_timestamps_as_without() {
    let host = opened(&plain().with_timestamps(true), "mss 1460,TS 700/0");
    assert_eq!(host.connection.effective_mss(), 1460);
}

/// SACK blocks that do not fit beside the data go alone, behind them: no packet is larger than the path carries.
#[test]
fn sack_blocks_do_not_ride_on_a_full_segment() {
    let mut host = connected(&real());
    host.receives(". 1001:2001(1000) ack 1").sends(&[". 1:1(0) ack 1 <sack 1001:2001>"]);
    host.write(1100).sends(&[". 1:1001(1000) ack 1", "P. 1001:1101(100) ack 1 <sack 1001:2001>"]);
    // The SACK block is sent at once, after the full segment.
    host.receives(". 1:1(0) ack 1101").connection.write(1000).unwrap();
    host.receives(". 3001:4001(1000) ack 1101");
    host.sends(&["P. 1101:2101(1000) ack 1", ". 2101:2101(0) ack 1 <sack 3001:4001 1001:2001>"]);
}

/// RFC 9293 §3.9.1 (MUST-61): the last segment of the written data says so, also when it is sent again.
#[test]
fn the_last_segment_of_a_write_has_psh() {
    let mut host = connected(&real());
    host.write(2500).sends(&[". 1:1001(1000) ack 1", ". 1001:2001(1000) ack 1", "P. 2001:2501(500) ack 1"]);
    host.receives(". 1:1(0) ack 2001").at(1300).sends(&["P. 2001:2501(500) ack 1"]);
}

/// RFC 9293 §3.10.4: the FIN rides on the last segment, and comes again with it.
#[test]
fn the_last_segment_takes_the_fin_along() {
    let mut host = connected(&real().with_initial_window(1));
    host.write(1500).forget_sent().shutdown();
    host.receives(". 1:1(0) ack 1001").sends(&["FP. 1001:1501(500) ack 1"]).is_in(RfcState::FinWait1);
    host.at(2000).sends(&["FP. 1001:1501(500) ack 1"]).has_events(&[Established]);
    // The data are there, the FIN is not.
    host.receives(". 1:1(0) ack 1501").has_events(&[Drained]).is_in(RfcState::FinWait1);
    assert_eq!(host.connection.acknowledged(), 1500);
    host.at(6000).sends(&["FP. 1501:1501(0) ack 1"]);
    host.receives(". 1:1(0) ack 1502").is_in(RfcState::FinWait2);
}

/// The receiver's window has room for the data, and not for the FIN.
#[test]
fn a_fin_without_room_goes_behind_the_data() {
    let mut host = Host::connect(&real());
    host.at(100).receives("S. 0:0(0) ack 1 win 500 <mss 1000,sackOK>").forget_sent();
    host.connection.write(500).unwrap();
    host.shutdown().sends(&["P. 1:501(500) ack 1 win 64000", "F. 501:501(0) ack 1"]);
}

/// Linux, `tcp_cwnd_test`: a FIN alone is no load.
#[test]
fn a_fin_without_data_does_not_wait_for_the_congestion_window() {
    let mut host = connected(&real().with_initial_window(2));
    host.write(2000).forget_sent().shutdown().sends(&["F. 2001:2001(0) ack 1"]);
    let mut host = connected(&plain().with_initial_window(2));
    host.write(2000).forget_sent().shutdown().sends_nothing();
}

/// RFC 9293 §3.7.4 (SHLD-7) in Minshall's variant: a short segment waits for another short one, not for full ones.
#[test]
fn with_nagle_one_short_segment_is_outstanding_at_a_time() {
    let mut host = connected(&real().with_nagle(true));
    host.write(1100).sends(&[". 1:1001(1000) ack 1", "P. 1001:1101(100) ack 1"]);
    host.write(100).write(100).sends_nothing();
    host.write(900).sends(&[". 1101:2101(1000) ack 1"]);
    assert_eq!(host.connection.notsent(), 100);
    host.receives(". 1:1(0) ack 1101").sends(&["P. 2101:2201(100) ack 1"]);
}

#[test]
fn nagle_switched_off_sends_what_waits_and_switched_on_keeps_it() {
    let mut host = connected(&real());
    host.connection.set_nagle(true);
    host.write(100).write(100).forget_sent();
    host.connection.set_nagle(false);
    host.at(100).write(10).sends(&["P. 101:211(110) ack 1"]);
    host.write(10).sends(&["P. 211:221(10) ack 1"]);
}

/// Linux, `TCP_NODELAY`: it overcomes a cork.
#[test]
fn nagle_switched_off_overcomes_a_cork_and_switched_on_does_not() {
    let mut host = connected(&real());
    host.connection.cork(true);
    host.write(300).sends_nothing();
    host.connection.set_nagle(true);
    host.write(10).sends_nothing();
    host.connection.set_nagle(false);
    host.write(0).sends(&["P. 1:311(310) ack 1"]);
}

/// RFC 9293 §3.7.4: only what is short waits.
#[test]
fn with_nagle_a_full_segment_leaves_though_nothing_is_behind_it() {
    let mut host = connected(&real().with_nagle(true));
    host.write(100).forget_sent().write(1000).sends(&["P. 101:1101(1000) ack 1"]);
}

/// Linux, `tcp_nagle_check`: only what more can be added to is kept back.
#[test]
fn a_cork_does_not_keep_back_a_record_that_others_follow() {
    let mut host = connected(&real());
    host.connection.cork(true);
    host.write(300);
    host.connection.end_record();
    host.write(100).sends(&["P. 1:301(300) ack 1"]);
}

/// Linux, `tcp_nagle_test`: nobody will write more.
#[test]
fn with_nagle_the_last_bytes_leave_with_the_fin() {
    let mut host = connected(&real().with_nagle(true));
    host.write(100).write(100).forget_sent().shutdown().sends(&["FP. 101:201(100) ack 1"]);
}

/// Linux, `TCP_CORK`: nothing short leaves, for 200 ms.
#[test]
fn a_cork_keeps_back_what_fills_no_segment_for_200_ms() {
    let mut host = connected(&real());
    host.connection.cork(true);
    host.write(300).sends_nothing();
    host.at(150).write(800).sends(&[". 1:1001(1000) ack 1"]);
    host.at(349).sends_nothing();
    host.at(350).sends(&["P. 1001:1101(100) ack 1"]);
    host.write(10).sends_nothing();
    host.connection.cork(false);
    host.at(360).sends_nothing();
    host.write(0).sends(&["P. 1101:1111(10) ack 1"]);
}

#[test]
fn a_cork_on_an_idle_connection_starts_no_other_timer() {
    let mut host = connected(&real());
    host.connection.cork(true);
    host.write(300).sends_nothing();
    assert_eq!(host.deadline(), Some(300));
    host.at(300).sends(&["P. 1:301(300) ack 1"]).receives(". 1:1(0) ack 301");
    assert_eq!((host.deadline(), host.connection.statistics().window_probes), (None, 0));
}

/// Data behind the end of a record goes into segments of its own (`MSG_EOR`).
#[test]
fn no_segment_goes_beyond_the_end_of_a_record() {
    let mut host = connected(&real());
    for bytes in [1500, 100, 300] {
        host.connection.write(bytes).unwrap();
        host.connection.end_record();
    }
    host.write(50).sends(&[
        ". 1:1001(1000) ack 1",
        "P. 1001:1501(500) ack 1",
        "P. 1501:1601(100) ack 1",
        "P. 1601:1901(300) ack 1",
    ]);
    host.receives(". 1:1(0) ack 1901").sends(&["P. 1901:1951(50) ack 1"]);
}

#[test]
fn a_full_send_buffer_takes_a_part_and_reports_when_a_third_of_it_is_free() {
    let mut host = connected(&real().with_send_buffer(Some(3000)));
    host.has_events(&[Established]);
    assert_eq!(
        (host.connection.room(), host.connection.write(2000), host.connection.write(2000)),
        (3000, Ok(2000), Ok(1000))
    );
    assert_eq!((host.connection.room(), host.connection.write(1), host.connection.notsent()), (0, Ok(0), 3000));
    host.at(200).write(0).has_events(&[]);
    host.receives(". 1:1(0) ack 501").has_events(&[]).receives(". 1:1(0) ack 1001").has_events(&[Writable]);
    assert_eq!((host.connection.room(), host.connection.acknowledged()), (1000, 1000));
    host.receives(". 1:1(0) ack 3001").has_events(&[Drained]);
    assert_eq!(host.connection.room(), 3000);
}

/// Linux, `TCP_NOTSENT_LOWAT`: no more is taken while enough waits.
#[test]
fn a_limit_of_what_was_never_sent_stops_the_writer_until_it_leaves() {
    let mut host = connected(&real().with_unsent_limit(Some(1000)).with_initial_window(2));
    host.has_events(&[Established]).write(3000);
    assert_eq!((host.connection.notsent(), host.connection.room(), host.connection.write(1)), (1000, 0, Ok(0)));
    host.has_events(&[]).receives(". 1:1(0) ack 1001").has_events(&[Writable]);
    assert_eq!(host.connection.notsent(), 0);
}

#[test]
fn without_limit_a_write_is_taken_whole() {
    let mut host = connected(&real().with_segmentation(Segmentation::Simulated));
    host.write(10_000_000_000).has_events(&[Established]);
    assert_eq!(host.connection.notsent(), 10_000_000_000 - 4000);
}

/// A cork and a closed window: once it is overcome, what waits is a matter of the window.
#[test]
fn behind_a_cork_a_closed_window_is_probed_when_the_cork_is_overcome() {
    let mut host = Host::connect(&real());
    host.at(100).receives("S. 0:0(0) ack 1 win 0 <mss 1000,sackOK>").take_texts();
    host.connection.cork(true);
    host.write(300).at(1200).sends_nothing();
    host.at(1300).sends(&[". 1:2(1) ack 1"]);
}
