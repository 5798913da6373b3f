//! The receiver's window: RFC 9293 §3.8.6.

use crate::host::Host;
use crate::plain;
use earlybird_tcp::{Config, ReceiveBuffer};

fn four_segments() -> Config {
    plain().with_max_window(4)
}

#[test]
fn a_reader_that_does_not_read_closes_its_window_step_by_step() {
    let mut host = Host::accepted(&four_segments());
    host.receives(". 1:1001(1000) ack 1").receives(". 1001:2001(1000) ack 1");
    host.receives(". 2001:3001(1000) ack 1").receives(". 3001:4001(1000) ack 1");
    host.sends(&[
        ". 1:1(0) ack 1001 win 3000",
        ". 1:1(0) ack 2001 win 2000",
        ". 1:1(0) ack 3001 win 1000",
        ". 1:1(0) ack 4001 win 0",
    ]);
}

/// RFC 9293 §3.8.6.2.2: silly windows are avoided by waiting until half of the buffer is free.
#[test]
fn a_closed_window_is_updated_when_2000_of_4000_bytes_are_free() {
    let mut host = Host::accepted(&four_segments());
    host.receives(". 1:1001(1000) ack 1").receives(". 1001:2001(1000) ack 1");
    host.receives(". 2001:3001(1000) ack 1").receives(". 3001:4001(1000) ack 1").forget_sent();
    assert_eq!(host.read(1999), 1999);
    host.sends_nothing();
    assert_eq!(host.read(1), 1);
    host.sends(&[". 1:1(0) ack 4001 win 2000"]);
    assert_eq!(host.read(u64::MAX), 2000);
}

#[test]
fn no_more_than_the_window_is_taken() {
    let mut host = Host::accepted(&four_segments());
    host.receives(". 1:1001(1000) ack 1").receives(". 1001:2001(1000) ack 1");
    host.receives(". 2001:3001(1000) ack 1").forget_sent();
    // 1500 bytes into a window of 1000.
    host.receives(". 3001:4501(1500) ack 1").sends(&[". 1:1(0) ack 4001 win 0"]);
    assert_eq!(host.connection.received(), 4000);
}

/// RFC 9293 §3.10.7.4, first: what lies outside is answered by an ACK and dropped.
#[test]
fn segments_before_and_beyond_the_window_get_an_ack() {
    let mut host = Host::accepted(&four_segments());
    host.receives(". 1:1001(1000) ack 1").forget_sent();
    host.read(u64::MAX);
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 4000 <sack 1:1001>"]);
    host.receives(". 5001:6001(1000) ack 1").sends(&[". 1:1(0) ack 1001"]);
}

/// RFC 9293 §3.8.4: a keep-alive has the number before the next one and no data.
#[test]
fn a_keep_alive_gets_an_ack() {
    let mut host = Host::accepted(&plain());
    host.receives(". 0:0(0) ack 1").sends(&[". 1:1(0) ack 1 win 64000"]);
}

#[test]
fn the_window_of_the_receiver_bounds_what_is_sent() {
    let mut host = Host::connected(&plain().with_initial_window(10));
    host.receives(". 1:1(0) ack 1 win 3500").write(10_000).sends_numbers(&[1, 2, 3]);
    // 500 bytes more do not hold a whole segment, 501 to 1000 neither: no silly windows (RFC 9293 §3.8.6.2.1).
    host.receives(". 1:1(0) ack 1 win 3999").sends_nothing();
    host.receives(". 1:1(0) ack 1 win 4000").sends_numbers(&[4]);
}

/// RFC 9293 §3.8.6.1: the first probe after one timeout.
#[test]
fn a_closed_window_is_probed_with_one_byte_after_a_timeout_and_reopens() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:1(0) ack 1 win 0").write(3000).sends_nothing();
    assert_eq!(host.deadline(), Some(1100));
    host.at(1100).sends(&[". 1:2(1) ack 1 win 64000"]);
    // The byte was taken, the window is closed still: again one byte, two timeouts later.
    host.at(1200).receives(". 1:1(0) ack 2 win 0").sends_nothing();
    host.at(3099).sends_nothing().at(3100).sends(&[". 2:3(1) ack 1"]);
    let rest = [". 3:1003(1000) ack 1", ". 1003:2003(1000) ack 1", ". 2003:3001(998) ack 1"];
    host.at(3200).receives(". 1:1(0) ack 3 win 64000").sends(&rest);
}

/// RFC 9293 §3.8.6.1: the interval between probes grows exponentially.
#[test]
fn a_probe_that_the_receiver_does_not_take_is_repeated_after_2_and_4_s() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:1(0) ack 1 win 0").write(3000).at(1100).sends_timed(&[(1100, 1)]);
    host.at(1200).receives(". 1:1(0) ack 1 win 0");
    host.at(8000).sends_timed(&[(3100, 1), (7100, 1)]);
}

/// RFC 9293 §3.8.6.2.1, rule 3: a receiver whose buffer holds one segment may never tell of a whole one again.
#[test]
fn a_window_that_lacks_one_byte_of_its_largest_size_is_used() {
    let mut host = Host::connect(&plain());
    host.forget_sent().at(100).receives("S. 0:0(0) ack 1 win 1000 <mss 1000>").forget_sent();
    host.write(3000).sends(&[". 1:1001(1000) ack 1 win 64000"]);
    host.at(200).receives(". 1:1(0) ack 1001 win 499").sends_nothing();
    host.at(300).receives(". 1:1(0) ack 1001 win 999").sends(&[". 1001:2000(999) ack 1"]);
    // While something is outstanding its ACK may open more.
    host.receives(". 1:1(0) ack 1001 win 1500").sends_nothing();
}

#[test]
fn a_window_that_reopens_over_a_refused_probe_is_used_at_once() {
    let mut host = Host::connected(&plain());
    host.receives(". 1:1(0) ack 1 win 0").write(3000).at(1100).forget_sent();
    host.at(1200).receives(". 1:1(0) ack 1 win 0").sends_nothing();
    let rest = [". 2:1002(1000) ack 1", ". 1002:2002(1000) ack 1", ". 2002:3001(999) ack 1"];
    host.at(1300).receives(". 1:1(0) ack 1 win 64000").sends(&[&[". 1:2(1) ack 1 win 64000"], &rest[..]].concat());
}

/// RFC 9293 §3.8.6.1 and §3.10.7.4: a probe is answered, and its byte comes again. Only the FIN needs no room.
#[test]
fn a_closed_receiver_does_not_take_the_byte_of_a_probe_but_a_fin() {
    let mut host = Host::accepted(&plain().with_max_window(1));
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 1001 win 0"]);
    host.receives(". 1001:1002(1) ack 1").sends(&[". 1:1(0) ack 1001"]);
    host.receives("F. 1001:1001(0) ack 1").sends(&[". 1:1(0) ack 1002"]);
    assert_eq!(host.connection.received(), 1000);
}

#[test]
fn a_peer_that_goes_on_into_a_closed_window_fills_no_memory() {
    let mut host = Host::accepted(&four_segments());
    for start in 1..5001 {
        host.receives(&format!(". {start}:{}(1) ack 1", start + 1));
    }
    assert_eq!((host.connection.received(), host.connection.readable()), (4000, 4000));
}

/// 64 ranges behind holes for a buffer of four segments; what has no place is neither kept nor told of as there, and comes
/// again.
#[test]
fn a_flood_of_single_bytes_behind_holes_takes_64_places_and_what_is_next_is_taken_still() {
    let mut host = Host::accepted(&four_segments());
    for number in 0..1000 {
        host.receives(&format!(". {}:{}(1) ack 1", 3 + 2 * number, 4 + 2 * number));
    }
    let last = host.take_texts().pop();
    assert_eq!(last.as_deref(), Some(". 1:1(0) ack 1 <sack 129:130 127:128 125:126>"));
    // A byte adjacent to a range extends it.
    host.receives(". 130:131(1) ack 1").sends(&[". 1:1(0) ack 1 <sack 129:131 127:128 125:126>"]);
    host.receives(". 1:131(130) ack 1").sends(&[". 1:1(0) ack 131 win 3870 <sack 3:4>"]);
    assert_eq!(host.connection.received(), 130);
}

/// The ACK field is processed although a closed receiver has no room for the data (RFC 9293 §3.10.7.4).
#[test]
fn the_ack_of_a_segment_that_a_closed_window_refuses_counts() {
    let mut host = Host::accepted(&plain().with_max_window(1));
    host.receives(". 1:1001(1000) ack 1").write(100).forget_sent();
    host.receives(". 1001:1002(1) ack 101").sends(&[". 101:101(0) ack 1001 win 0"]);
    assert_eq!(host.connection.outstanding(), 0);
}

/// A receiver with a buffer of 1,000,000 bytes: windows are told in steps of 16.
fn scaled(config: &Config) -> Host {
    let mut host = Host::listen(config);
    host.receives("S 0:0(0) <mss 1000,sackOK,wscale 7>").receives(". 1:1(0) ack 1");
    host.forget_sent();
    host
}

/// RFC 7323 §2.4, RFC 9293 §3.8.6.2.2 (SHLD-14: the window is not shrunk).
#[test]
fn the_right_edge_does_not_move_back_where_steps_of_a_scaled_window_do_not_fit_the_segments() {
    let mut host = scaled(&plain().with_max_window(1000));
    let (mut next, mut advertised) = (1, 0);
    for number in 0..950 {
        let len = 1000 - number % 16;
        host.receives(&format!(". {next}:{}({len}) ack 1", next + len));
        next += len;
        for edge in host.right_edges(4) {
            assert!(edge >= advertised, "the edge moves back from {advertised} to {edge}");
            advertised = edge;
        }
    }
    // And all that was told is taken.
    let rest = advertised - next;
    assert!(rest > 0);
    while next < advertised {
        let len = (advertised - next).min(1000);
        host.receives(&format!(". {next}:{}({len}) ack 1", next + len));
        next += len;
    }
    assert_eq!(host.connection.received(), advertised - 1);
}

/// RFC 9293 §3.8.6.2.2 (MUST-39): the edge moves on by a segment or half of the buffer.
#[test]
fn a_reader_of_small_pieces_does_not_open_silly_windows() {
    let mut host = Host::accepted(&four_segments());
    host.receives(". 1:1001(1000) ack 1").receives(". 1001:2001(1000) ack 1").forget_sent();
    let mut edges = Vec::new();
    for piece in 0..20 {
        assert_eq!(host.read(100), 100);
        let start = 2001 + piece;
        host.receives(&format!(". {start}:{}(1) ack 1", start + 1));
        edges.extend(host.right_edges(0));
    }
    edges.dedup();
    assert_eq!(edges, [4001, 5001, 6001]);
}

#[test]
fn a_buffer_of_its_own_size_is_offered_whatever_the_congestion_window_may_be() {
    let receive_buffer = ReceiveBuffer::Fixed(3000);
    let mut host =
        Host::listen(&plain().with_receive_buffer(receive_buffer).with_max_window(1000).with_initial_window(10));
    host.receives("S 0:0(0) <mss 1000,sackOK>").sends(&["S. 0:0(0) ack 1 win 3000 <mss 1000,sackOK>"]);
    host.receives(". 1:1(0) ack 1").write(20_000).sends_numbers(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

/// RFC 9293 §3.10.7.4, fifth: SND.WL1 and SND.WL2 keep old segments from telling their windows.
#[test]
fn a_late_ack_does_not_bring_its_window_back() {
    let mut host = Host::connected(&plain().with_initial_window(2));
    host.write(100_000).sends_numbers(&[1, 2]);
    host.at(200).receives(". 1:1(0) ack 2001 win 1000").sends_numbers(&[3]);
    // Sent before, when the receiver had room for 64 segments behind the first.
    host.receives(". 1:1(0) ack 1001 win 64000").sends_nothing();
    host.receives(". 1:1(0) ack 2001 win 2000").sends_numbers(&[4]);
}

/// A host whose buffer grows from 65,536 bytes to 4 MB; its windows are told in units of 64 bytes.
fn tuned() -> Host {
    scaled(&plain().with_receive_buffer(ReceiveBuffer::Tuned { initial: 65_536, largest: 4_000_000 }))
}

/// Takes 200 segments, 5 a millisecond, and gives the windows told after each.
fn windows_during(host: &mut Host, reads: bool) -> Vec<u64> {
    let mut windows = Vec::new();
    for number in 0..200 {
        let start = 1 + 1000 * number;
        host.at(number / 5).receives(&format!(". {start}:{}(1000) ack 1", start + 1000));
        if reads {
            host.read(u64::MAX);
        }
        windows.extend(host.right_edges(6).into_iter().map(|edge| edge.saturating_sub(start + 1000)));
    }
    windows
}

/// A window of 63,488 bytes passes in 13 ms, in which the application reads as much: the next one is offered more.
#[test]
fn a_buffer_grows_with_what_is_read_in_a_round_trip() {
    let mut host = tuned();
    let windows = windows_during(&mut host, true);
    assert_eq!(windows[0], 62_528, "62,488 in whole units, and not less");
    assert!(windows[100] > 130_000 && windows[100] < 4_000_000, "{} is offered", windows[100]);
}

#[test]
fn a_buffer_whose_reader_does_not_read_does_not_grow() {
    let mut host = tuned();
    let windows = windows_during(&mut host, false);
    assert!(windows.iter().all(|window| *window < 65_536));
    assert!((63_488..=65_536).contains(&host.connection.readable()));
}
