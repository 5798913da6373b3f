//! Paths that carry less than before, windows that shrink, and what routers report.

use crate::host::Host;
use crate::{connected, plain, real};
use core::num::NonZeroU16;
use earlybird_tcp::Event::{Established, Unreachable as Given};
use earlybird_tcp::{Connection, Cx, FastOpenOffer, IpVersion, Recovery, RfcState};
use earlybird_units::{Instant, SeedTree};
use earlybird_wire::{IcmpError, SeqNum, Unreachable};
use rstest::rstest;

/// Hands the connection a report of a router about the segment that starts at a stream position; says whether it is believed.
fn too_big(host: &mut Host, millis: u64, mtu: u16, position: u64) -> bool {
    let seq = host.origin().at(position);
    let cx = &mut Cx { now: Instant::from_nanos(millis * 1_000_000), trace: &mut () };
    host.connection.on_path_mtu(cx, mtu, seq)
}

/// A packet is its payload and its options.
#[test]
fn a_report_that_leaves_no_room_for_the_options_is_believed() {
    for (mtu, is_believed) in [(40 + 987 + 12, true), (40 + 988 + 12, false)] {
        let mut host = Host::connect(&real().with_timestamps(true));
        host.receives("S. 0:0(0) ack 1 <mss 1460,sackOK,TS 700/0>").write(988).forget_sent();
        assert_eq!(too_big(&mut host, 100, mtu, 1), is_believed, "{mtu}");
    }
}

/// RFC 1191 §6.5, RFC 8201 §5.4: the data go again at once, in packets that pass, and the congestion window stays.
#[test]
fn a_segment_too_large_for_the_path_is_retransmitted_in_pieces() {
    let mut host = connected(&real());
    host.write(3500).forget_sent();
    let cwnd = host.connection.cwnd();
    assert!(too_big(&mut host, 100, 640, 1));
    host.write(0).sends(&[
        ". 1:601(600) ack 1",
        ". 601:1001(400) ack 1",
        ". 1001:1601(600) ack 1",
        ". 1601:2001(400) ack 1",
        ". 2001:2601(600) ack 1",
        ". 2601:3001(400) ack 1",
        "P. 3001:3501(500) ack 1",
    ]);
    assert_eq!((host.connection.cwnd(), host.connection.effective_mss()), (cwnd, 600));
    assert_eq!(host.connection.statistics().timeouts, 0);
    // The segment that is told to be too large again was larger than that once; it is not any more.
    assert!(!too_big(&mut host, 100, 640, 1));
    host.receives(". 1:1(0) ack 3501").write(1300).sends(&[
        ". 3501:4101(600) ack 1",
        ". 4101:4701(600) ack 1",
        "P. 4701:4801(100) ack 1",
    ]);
}

/// An ACK inside a segment: only what is missing goes again.
#[test]
fn only_the_piece_that_was_lost_is_retransmitted() {
    let mut host = connected(&real());
    host.write(1000).forget_sent();
    assert!(too_big(&mut host, 100, 640, 1));
    host.write(0).sends(&[". 1:601(600) ack 1", "P. 601:1001(400) ack 1"]);
    host.at(200).receives(". 1:1(0) ack 601").at(3000).forget_sent();
    host.at(9000);
    assert!(host.take_texts().iter().all(|text| text == "P. 601:1001(400) ack 1"));
    host.receives(". 1:1(0) ack 1001");
    assert_eq!((host.connection.acknowledged(), host.connection.outstanding()), (1000, 0));
}

/// Each piece names its bytes, for the driver that has to find them.
#[test]
fn pieces_name_their_part_of_the_stream() {
    let mut host = connected(&real());
    host.write(1000).forget_sent();
    assert!(too_big(&mut host, 100, 640, 1));
    let cx = &mut Cx { now: Instant::from_nanos(100_000_000), trace: &mut () };
    let pieces: Vec<_> = std::iter::from_fn(|| host.connection.poll_transmit(cx)).collect();
    let reported: Vec<_> =
        pieces.iter().map(|piece| (piece.data.clone(), piece.number, piece.is_retransmission)).collect();
    assert_eq!(reported, [(0..600, Some(1), true), (600..1000, Some(1), true)]);
}

/// RFC 5927 §4.1 and §7.2: a report is believed of something outstanding that was larger than it says.
#[rstest]
#[case::acknowledged(640, 0)]
#[case::never_sent(640, 3001)]
#[case::no_smaller(1040, 1)]
#[case::the_segment_was_small_enough(640, 2501)]
fn a_report_that_cannot_be_is_not_believed(#[case] mtu: u16, #[case] position: u64) {
    let mut host = connected(&real());
    host.write(2500).write(100).forget_sent();
    assert!(!too_big(&mut host, 100, mtu, position));
    host.write(0).sends_nothing();
    assert_eq!(host.connection.effective_mss(), 1000);
}

/// A liar cannot make us send little more than headers: no IPv4 path in use carries less than 552 bytes (Linux,
/// `ip_rt_min_pmtu`).
#[rstest]
fn a_tiny_path_is_not_believed_below_552_bytes(#[values(0, 68, 88, 551, 552)] mtu: u16) {
    let mut host = connected(&real());
    host.write(1000).forget_sent();
    assert!(too_big(&mut host, 100, mtu, 1));
    assert_eq!(host.connection.effective_mss(), 512);
    host.write(0).sends(&[". 1:513(512) ack 1", "P. 513:1001(488) ack 1"]);
    assert!(!too_big(&mut host, 100, mtu, 1), "it is no larger");
}

/// RFC 8201 §4: "If a node receives a Packet Too Big message reporting a next-hop MTU that is less than the IPv6 minimum link
/// MTU, it must discard it."
#[test]
fn a_report_of_less_than_1280_bytes_is_none_over_ipv6() {
    let mut host = Host::connect(&real().with_ip(IpVersion::V6).with_mss(1440));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1440,sackOK>").write(1440).forget_sent();
    assert!(!too_big(&mut host, 100, 1279, 1));
    assert!(too_big(&mut host, 100, 1280, 1));
    assert_eq!(host.connection.effective_mss(), 1220);
}

/// The symptom: inside UDP, or encrypted, packets of 1280 bytes were longer than a path of 1280 bytes, and were never shortened.
#[rstest]
#[case(1272, 1212)]
#[case(1240, 1180)]
#[case(0, 1180)]
fn packets_inside_others_fit_an_ipv6_path_of_1280_bytes(#[case] mtu: u16, #[case] mss: u16) {
    let mut host = Host::connect(&real().with_ip(IpVersion::V6).with_mss(1440));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1440,sackOK>").write(1440).forget_sent();
    let cx = &mut Cx { now: Instant::from_nanos(100_000_000), trace: &mut () };
    assert!(host.connection.on_route_mtu(cx, mtu));
    assert_eq!(host.connection.effective_mss(), u64::from(mss));
}

/// RFC 1191 §6.3, RFC 8201 §5.3: routes change, and so after ten minutes larger packets are tried again; the router says if that
/// is in vain.
#[test]
fn a_path_that_was_small_is_tried_with_larger_packets_after_ten_minutes() {
    let mut host = connected(&real());
    host.at(1000).write(1000).forget_sent();
    assert!(too_big(&mut host, 1000, 640, 1));
    host.at(1100).receives(". 1:1(0) ack 1001").write(1000).forget_sent();
    host.at(1200).receives(". 1:1(0) ack 2001").at(600_999).write(1000);
    host.sends(&[". 2001:2601(600) ack 1", "P. 2601:3001(400) ack 1"]).receives(". 1:1(0) ack 3001");
    host.at(601_000).write(1000).sends(&["P. 3001:4001(1000) ack 1"]);
    assert!(too_big(&mut host, 601_000, 640, 3001));
    host.write(0).sends(&[". 3001:3601(600) ack 1", "P. 3601:4001(400) ack 1"]).receives(". 1:1(0) ack 4001");
    host.at(1_200_999).write(1000).sends(&[". 4001:4601(600) ack 1", "P. 4601:5001(400) ack 1"]);
}

/// The ten minutes begin anew with each report, and a second one does not hide the result of the negotiation.
#[test]
fn a_path_that_shrinks_twice_grows_back_to_what_both_sides_agreed_on() {
    let mut host = connected(&real());
    host.write(1000).forget_sent();
    assert!(too_big(&mut host, 100, 840, 1) && too_big(&mut host, 100, 640, 1));
    host.at(200).receives(". 1:1(0) ack 1001").at(600_100).write(1000).sends(&["P. 1001:2001(1000) ack 1"]);
}

#[test]
fn a_simulated_path_carries_every_packet() {
    let mut host = connected(&plain());
    host.write(1000).forget_sent();
    assert!(!too_big(&mut host, 100, 640, 1));
}

/// RFC 9293 §3.8.6 (SHLD-15): what was sent goes again as far as the window reaches, and no further.
#[test]
fn into_a_shrunk_window_only_what_fits_is_retransmitted() {
    let mut host = connected(&real());
    host.write(3000).forget_sent();
    host.at(200).receives(". 1:1(0) ack 1 win 1400");
    host.at(1100).sends(&[". 1:1001(1000) ack 1"]);
    host.at(1200).receives(". 1:1(0) ack 1001 win 400").sends(&[". 1001:1401(400) ack 1"]);
    host.at(1300).receives(". 1:1(0) ack 1001 win 3000");
    host.sends(&[". 1401:2001(600) ack 1", "P. 2001:3001(1000) ack 1"]);
    host.receives(". 1:1(0) ack 3001");
    assert_eq!(host.connection.acknowledged(), 3000);
}

/// RFC 9293 §3.8.6 (SHLD-16, SHLD-17): a window that closed over what was sent is asked, and nothing else leaves.
#[test]
fn a_window_that_closed_over_what_was_sent_is_asked_with_the_first_segment() {
    let mut host = connected(&real().with_pmtu_black_hole_detection(false));
    host.write(3000).forget_sent();
    host.at(200).receives(". 1:1(0) ack 1 win 0");
    host.at(20_000);
    let sent = host.take_texts();
    assert!(sent.len() >= 4 && sent.iter().all(|text| text == ". 1:1001(1000) ack 1"), "{sent:?}");
}

/// Data that waits for the window does not delay the retransmission of data before it.
#[test]
fn a_piece_that_waits_for_the_window_lets_repairs_below_it_pass() {
    let mut host = connected(&real().with_recovery_only(Recovery::Rack));
    host.write(3000).forget_sent().at(200).receives(". 1:1(0) ack 1 win 2400");
    assert!(too_big(&mut host, 200, 640, 1));
    host.write(0).sends(&[
        ". 1:601(600) ack 1",
        ". 601:1001(400) ack 1",
        ". 1001:1601(600) ack 1",
        ". 1601:2001(400) ack 1",
        ". 2001:2401(400) ack 1",
    ]);
    host.at(300).receives(". 1:1(0) ack 1 win 2400 <sack 1001:2001>").at(400);
    host.sends(&[". 1:601(600) ack 1", ". 601:1001(400) ack 1"]);
    // The data sent after the first part of the last segment has arrived, so that this part is retransmitted after the rest.
    host.receives(". 1:1(0) ack 2001 win 2400");
    host.sends(&["P. 2401:3001(600) ack 1", ". 2001:2601(600) ack 1", "P. 2601:3001(400) ack 1"]);
    host.receives(". 1:1(0) ack 3001 win 2400");
    assert_eq!(host.connection.acknowledged(), 3000);
}

fn opening() -> Host {
    let mut host = Host::new(Connection::connect(&real(), earlybird_units::SeedTree::new(1)));
    host.forget_sent();
    host
}

/// RFC 9293 §3.9.2.2 (MUST-56), RFC 5461 §4.1: only what is yet to be opened is given up, and only if it is in vain.
#[rstest]
#[case::the_network_may_come_back(IcmpError::Unreachable(Unreachable::Network), false)]
#[case::a_loop_may_end(IcmpError::TimeExceeded, false)]
#[case::nobody_listens(IcmpError::Unreachable(Unreachable::Port), true)]
#[case::a_firewall_says_no(IcmpError::Unreachable(Unreachable::Prohibited), true)]
fn a_report_ends_a_connection_that_is_yet_to_be_opened_if_it_is_in_vain(
    #[case] trouble: IcmpError,
    #[case] ends: bool,
) {
    let mut host = opening();
    let seq = host.origin();
    assert!(!host.connection.on_unreachable(trouble, SeqNum(seq.0.wrapping_add(77))), "it never sent that");
    assert!(host.connection.on_unreachable(trouble, seq));
    assert_eq!(host.connection.last_icmp_error(), Some(trouble));
    if ends {
        host.has_events(&[Given]).is_in(RfcState::Closed).at(60_000).sends_nothing();
    } else {
        host.has_events(&[]).is_in(RfcState::SynSent);
    }
}

#[test]
fn a_report_ends_no_open_connection() {
    let mut host = connected(&real().with_initial_window(1));
    host.write(1000).forget_sent();
    let seq = host.origin().at(1);
    assert!(host.connection.on_unreachable(IcmpError::Unreachable(Unreachable::Port), seq));
    host.has_events(&[Established]).is_in(RfcState::Established);
    host.receives(". 1:1(0) ack 1001");
    assert!(!host.connection.on_unreachable(IcmpError::Unreachable(Unreachable::Port), seq), "it is acknowledged");
}

/// RFC 2923 §2.1, RFC 4821 §4: after three retransmissions in vain segments are halved, down to what every path carries.
#[test]
fn a_path_that_swallows_large_segments_without_a_word_gets_smaller_ones() {
    let mut host = Host::connect(&real().with_mss(1460));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1460,sackOK>").take_texts();
    host.write(1460).forget_sent();
    host.at(3500).sends(&["P. 1:1461(1460) ack 1", "P. 1:1461(1460) ack 1"]);
    host.at(7500).sends(&[". 1:731(730) ack 1", "P. 731:1461(730) ack 1"]);
    host.at(20_000).sends(&[". 1:537(536) ack 1", ". 537:1073(536) ack 1", "P. 1073:1461(388) ack 1"]);
    assert_eq!(host.connection.effective_mss(), 536);
    host.receives(". 1:1(0) ack 1461");
    assert_eq!(host.connection.acknowledged(), 1460);
}

/// The symptom: 600 bytes are no more than half of 1460, so nothing was suspected, and they went again as they were for ever.
#[test]
fn a_segment_shorter_than_half_the_largest_is_not_swallowed_for_ever() {
    let mut host = Host::connect(&real().with_mss(1460));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1460,sackOK>").take_texts();
    host.write(600).forget_sent();
    host.at(3500).sends(&["P. 1:601(600) ack 1", "P. 1:601(600) ack 1"]);
    host.at(7500).sends(&[". 1:537(536) ack 1", "P. 537:601(64) ack 1"]);
}

/// The symptom: the receiver's window had closed over the end of the segment, so that it counted as what cannot pass, and the
/// 1300 bytes that the window held went again as they were for ever.
#[test]
fn a_segment_of_which_the_window_holds_a_part_is_not_swallowed_for_ever() {
    let mut host = Host::connect(&real().with_mss(1460).with_initial_window(2));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1460,sackOK>").take_texts();
    host.write(2920).receives(". 1:1(0) ack 1461 win 1300").forget_sent();
    host.at(3500).sends(&[". 1461:2761(1300) ack 1", ". 1461:2761(1300) ack 1"]);
    host.at(7500).sends(&[". 1461:2111(650) ack 1", ". 2111:2761(650) ack 1"]);
}

/// The symptom: an old ACK arrived twice and closed the window again, so that what the path swallowed counted as what the
/// receiver had no room for, and went again as it was for ever.
#[test]
fn a_segment_beyond_the_window_of_only_a_late_ack_is_not_held_for_ever() {
    let mut host = Host::connect(&real().with_mss(1460).with_initial_window(2));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1460,sackOK>").take_texts();
    host.write(2920).receives(". 1:1(0) ack 1461 win 0").forget_sent();
    host.at(3500).sends(&["P. 1461:2921(1460) ack 1", "P. 1461:2921(1460) ack 1"]);
    host.at(7500).sends(&[". 1461:2191(730) ack 1"]);
}

/// A receiver whose window is closed answers to each retransmission.
#[test]
fn segments_stay_as_they_are_while_a_closed_window_answers() {
    let mut host = Host::connect(&real().with_mss(1460).with_initial_window(2));
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1460,sackOK>").take_texts();
    host.write(2920).receives(". 1:1(0) ack 1461 win 0").forget_sent();
    for time in (200..60_000).step_by(100) {
        if !host.at(time).take_texts().is_empty() {
            host.receives(". 1:1(0) ack 1461 win 0");
        }
    }
    assert_eq!(host.connection.effective_mss(), 1460);
}

/// Linux leaves it to `tcp_mtu_probing`, which is off.
#[test]
fn without_black_hole_detection_segments_stay_as_they_are() {
    let mut host = connected(&real().with_pmtu_black_hole_detection(false));
    host.write(1000).forget_sent().at(60_000);
    assert!(host.take_texts().iter().all(|text| text == "P. 1:1001(1000) ack 1"));
}

/// RFC 7413 §4.2.1: what kept the SYN from passing may be its data.
#[test]
fn a_syn_too_big_for_the_path_is_retransmitted_at_once_without_its_data() {
    let mut connection = Connection::connect(&real(), SeedTree::new(1));
    connection.open_fast(FastOpenOffer::WithoutCookie { mss: NonZeroU16::new(1460) });
    assert_eq!(connection.write(1000), Ok(1000));
    let cx = &mut Cx { now: Instant::from_nanos(1), trace: &mut () };
    let first = connection.poll_transmit(cx).unwrap().segment;
    assert_eq!(first.len, 960);
    assert!(!connection.on_path_mtu(cx, 640, SeqNum(first.seq.0.wrapping_add(5000))), "a segment that was never sent");
    assert!(connection.poll_transmit(cx).is_none());
    assert!(connection.on_path_mtu(cx, 640, first.seq));
    let retransmitted = connection.poll_transmit(cx).unwrap().segment;
    assert_eq!((retransmitted.len, retransmitted.options.mss.map(NonZeroU16::get)), (0, Some(600)));
    assert!(!connection.on_path_mtu(cx, 640, first.seq), "the second one carried nothing");
}
