//! Skip notices at the sender (docs/real-time-mode.md, `skip-notice` and `skip-reduces`).

use crate::host::Host;
use crate::plain;
use earlybird_tcp::{Config, Delivery, Event, RealTime, Recovery, SkipResponse, SpuriousDetection, Undo};

fn mtcp(skip_response: SkipResponse) -> Config {
    let delivery = Delivery::SkipWhenWaiting;
    let real_time = RealTime { framing: true, delivery, skip_notice: true, skip_response, ..RealTime::default() };
    plain().with_real_time(real_time).with_initial_window(10)
}

/// A connection to a peer that knows the option, with segments 1 to 10 on their way since 100 ms.
fn sending(config: &Config) -> Host {
    let mut host = Host::connect(config);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,snack>");
    host.frames(30).forget_sent();
    host.has_events(&[Event::Established]);
    host
}

fn counts(host: &Host) -> [u64; 3] {
    let statistics = host.connection.real_time_statistics();
    [host.connection.losses_reported(), statistics.notices_received, statistics.bad_notices]
}

#[test]
fn skipped_data_are_not_retransmitted_and_are_counted() {
    for recovery in [Recovery::Sack1, Recovery::Rfc6675, Recovery::Rack] {
        let mut host = sending(&mtcp(SkipResponse::None).with_recovery_only(recovery));
        host.at(200).receives(". 1:1(0) ack 1001").receives(". 1:1(0) ack 3001 <snack 1 1001:1>");
        host.has_events(&[Event::LossReported]);
        host.receives(". 1:1(0) ack 4001 <snack 1 1001:1>").receives(". 1:1(0) ack 10001").has_events(&[]);
        assert_eq!(host.connection.statistics().retransmissions, 0, "{recovery:?}");
        assert_eq!(counts(&host), [1, 2, 0], "{recovery:?}");
    }
}

/// It grows by no ACK that covers what was skipped. The window is 10 and in slow start.
#[test]
fn an_ack_that_covers_what_was_stepped_over_does_not_grow_the_window() {
    let mut host = sending(&mtcp(SkipResponse::None));
    host.at(200).receives(". 1:1(0) ack 1001");
    assert_eq!(host.connection.cwnd().to_bits(), 11_f64.to_bits());
    host.receives(". 1:1(0) ack 3001 <snack 1 1001:1>");
    assert_eq!(host.connection.cwnd().to_bits(), 11_f64.to_bits());
    host.receives(". 1:1(0) ack 4001 <snack 1 1001:1>");
    assert_eq!(host.connection.cwnd().to_bits(), 12_f64.to_bits());
}

/// A jump may come long after what it acknowledges had arrived: when the reader asks.
#[test]
fn an_ack_that_jumped_measures_no_round_trip() {
    for timestamps in [false, true] {
        let mut host = Host::connect(&mtcp(SkipResponse::None).with_timestamps(timestamps));
        host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,snack,TS 5/0>").frames(30).forget_sent();
        let before = host.connection.timer().smoothed;
        host.at(900).receives(". 1:1(0) ack 3001 <snack 2 1:2,TS 6/100>");
        assert_eq!(host.connection.timer().smoothed, before, "timestamps: {timestamps}");
        // One sent since then measures.
        host.at(1040).receives(". 1:1(0) ack 11001 <TS 7/900>");
        assert_ne!(host.connection.timer().smoothed, before, "timestamps: {timestamps}");
    }
}

#[test]
fn a_full_ack_by_skipping_ends_recovery() {
    for recovery in [Recovery::Sack1, Recovery::Rfc6675, Recovery::Rack] {
        let mut host = sending(&mtcp(SkipResponse::Reduce).with_recovery_only(recovery).with_limited_transmit(false));
        host.at(200).ack(1, &[2..3]).at(201).ack(1, &[2..4]).at(202).ack(1, &[2..5]);
        assert!(host.connection.is_recovering(), "{recovery:?}");
        let window = host.connection.cwnd();
        host.at(203).receives(". 1:1(0) ack 10001 <snack 1 1:1>");
        assert!(!host.connection.is_recovering(), "{recovery:?}");
        assert!(host.connection.cwnd() <= window, "the window was halved for this loss already");
        assert_eq!(host.connection.real_time_statistics().skip_reductions, 0, "{recovery:?}");
    }
}

/// `skip-reduces`: ten in flight become five, once per window.
#[test]
fn a_loss_stepped_over_before_the_window_was_reduced_halves_it_once_per_window() {
    let mut host = sending(&mtcp(SkipResponse::Reduce));
    host.at(200).receives(". 1:1(0) ack 3001 <snack 1 1001:1>").has_window(5.0, 5.0);
    host.receives(". 1:1(0) ack 5001 <snack 2 3001:1>").has_window(5.0, 5.0);
    // Segments 11 on were sent after the reduction.
    host.at(300).receives(". 1:1(0) ack 10001").sends_frames(&[10, 11, 12, 13, 14, 15]);
    let window = host.connection.cwnd();
    host.at(400).receives(". 1:1(0) ack 12001 <snack 3 10001:1>");
    assert!(host.connection.cwnd() < window);
    assert_eq!(host.connection.real_time_statistics().skip_reductions, 2);
    // The paper's way: only the third duplicate and the timer reduce.
    let mut host = sending(&mtcp(SkipResponse::None));
    host.at(200).receives(". 1:1(0) ack 3001 <snack 1 1001:1>").has_window(10.0, f64::INFINITY);
}

#[test]
fn a_lost_notice_does_no_harm_for_the_next_one_has_the_total() {
    let mut host = sending(&mtcp(SkipResponse::None));
    host.at(200).receives(". 1:1(0) ack 9001 <snack 5 7001:2>");
    assert_eq!(counts(&host), [5, 1, 0]);
    // This one was overtaken.
    host.receives(". 1:1(0) ack 4001 <snack 3 1001:3>").has_events(&[Event::LossReported]);
    assert_eq!(counts(&host), [5, 1, 0]);
}

#[test]
fn a_total_that_goes_back_is_no_leap_around_the_circle() {
    let mut host = sending(&mtcp(SkipResponse::None));
    host.at(200).receives(". 1:1(0) ack 3001 <snack 2 1:2>");
    host.receives(". 1:1(0) ack 4001 <snack 2 1:2>").receives(". 1:1(0) ack 4001 <snack 1 1:1>");
    host.receives(". 1:1(0) ack 4001 <snack 4294967295 1:2>");
    assert_eq!(counts(&host), [2, 4, 2], "back, not four billion on");
}

#[test]
fn a_notice_that_cannot_be_is_ignored_and_counted() {
    for notice in [
        // More than was ever sent.
        "snack 10001 1001:1",
        "snack 4000000000 1001:1",
        // None, or more than the total grew by.
        "snack 1 1001:0",
        "snack 1 1001:2",
        // Not below what is acknowledged; before the first byte.
        "snack 1 3001:1",
        "snack 1 900000:1",
        "snack 1 0:1",
    ] {
        let mut host = sending(&mtcp(SkipResponse::Reduce));
        host.at(200).receives(&format!(". 1:1(0) ack 3001 <{notice}>")).has_events(&[]);
        assert_eq!(counts(&host), [0, 1, 1], "{notice}");
        host.has_window(13.0, f64::INFINITY);
        // An offer on an ACK says nothing.
        host.receives(". 1:1(0) ack 4001 <snack>");
        assert_eq!(counts(&host), [0, 1, 1]);
    }
}

#[test]
fn a_notice_that_was_not_agreed_on_is_none() {
    let mut host = Host::connected(&mtcp(SkipResponse::Reduce));
    host.frames(10).at(200).receives(". 1:1(0) ack 3001 <snack 1 1001:1>");
    assert_eq!(counts(&host), [0, 0, 0]);
    host.has_window(13.0, f64::INFINITY);
}

/// Once all is acknowledged, too.
#[test]
fn a_notice_on_data_is_read_when_nothing_is_outstanding() {
    let config = mtcp(SkipResponse::Reduce);
    let mut host = Host::connect(&config);
    host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK,snack>").frames(3);
    host.at(200).receives(". 1:1(0) ack 3001").receives(". 1:51(50) ack 3001 <snack 1 1001:1>");
    assert_eq!(counts(&host), [1, 1, 0]);
    // Three frames use little of it.
    host.has_window(10.0, f64::INFINITY);
}

/// F-RTO sends two new segments after a timeout, and nothing else before the next ACK that tells of an arrival.
#[test]
fn f_rto_does_not_wait_for_ever_behind_an_ack_that_jumped() {
    let spurious = SpuriousDetection { forward_rto: true, undo: Undo::None };
    let mut host = sending(&mtcp(SkipResponse::None).with_spurious(spurious).with_initial_window(2));
    host.at(1100).sends_frames(&[0]).at(1200).receives(". 1:1(0) ack 1001").sends_frames(&[2, 3]);
    host.at(1300).receives(". 1:1(0) ack 4001 <snack 3 1001:3>");
    assert!(!host.take_frames().is_empty());
    assert_eq!(host.connection.statistics().reductions_undone, 0);
}

/// An ACK that told of segment 4 got lost, and the next one had no room for it beside its notice.
#[test]
fn blocks_that_did_not_fit_were_taken_for_reordering_and_losses_were_found_too_late() {
    let mut host = sending(&mtcp(SkipResponse::None).with_recovery_only(Recovery::Rack));
    host.at(200).receives(". 1:1(0) ack 2001 <snack 1 1:1,sack 5001:6001 7001:8001>").forget_sent();
    host.at(201).ack(3, &[4..5, 6..7, 8..9]);
    assert!(host.take_numbers().contains(&3), "three above it arrived");
}
