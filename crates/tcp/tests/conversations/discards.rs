//! The sending half of the real-time mode: framing, and frames that are given up (docs/real-time-mode.md).

use crate::host::Host;
use crate::plain;
use earlybird_tcp::{
    Backlog, Config, Control, Delivery, Event, IdleRto, NewRenoFlags, RackConfig, RealTime, Recovery, SendBufferLimit,
    WriteError,
};
use earlybird_units::Duration;

/// A sender of frames whose peer steps over holes.
fn rtm(backlog: Backlog) -> Config {
    let delivery = Delivery::SkipWhenWaiting;
    let real_time = RealTime { framing: true, delivery, backlog, ..RealTime::default() };
    // Without probes the retransmission timer is the only one.
    plain().with_real_time(real_time).with_rack(RackConfig { probes_tail: false, ..RackConfig::RFC })
}

fn oldest(segments: u32) -> Config {
    rtm(Backlog::AbandonOldest(SendBufferLimit::Segments(segments)))
}

fn past(millis: u64) -> Config {
    rtm(Backlog::AbandonPastDeadline(Duration::from_millis(millis)))
}

fn blocking(limit: SendBufferLimit) -> Config {
    rtm(Backlog::Block(limit))
}

/// All but Vegas', whose window is its own matter.
const RECOVERIES: [Recovery; 6] = [
    Recovery::Sack1,
    Recovery::Rfc6675,
    Recovery::Rack,
    Recovery::Tahoe,
    Recovery::Reno { second_fast_retransmit: false },
    Recovery::NewReno(NewRenoFlags { is_impatient: true, deflates: true }),
];

/// With a control that goes with it.
fn repaired_by(recovery: Recovery, config: Config) -> Config {
    let control = if recovery == Recovery::Tahoe { Control::Tahoe } else { Control::Reno };
    config.with_recovery_only(recovery).with_control_only(control)
}

#[test]
fn one_write_is_one_segment_even_when_it_is_retransmitted() {
    let mut host = Host::connected(&blocking(SendBufferLimit::Unlimited));
    for bytes in [100, 1000, 1, 300] {
        assert!(host.write_frame(bytes, bytes).is_ok());
    }
    host.sends(&[
        ". 1:101(100) ack 1 win 64000",
        ". 101:1101(1000) ack 1",
        ". 1101:1102(1) ack 1",
        ". 1102:1402(300) ack 1",
    ]);
    host.at(1100).sends(&[". 1:101(100) ack 1"]);
    host.at(1200).receives(". 1:1(0) ack 101").sends(&[". 101:1101(1000) ack 1", ". 1101:1102(1) ack 1"]);
}

#[test]
fn a_frame_of_the_wrong_size_or_at_the_wrong_time_is_refused() {
    let mut host = Host::connected(&blocking(SendBufferLimit::Segments(1)));
    assert_eq!(host.write_frame(1001, 0), Err(WriteError::TooLong { mss: 1000 }));
    assert_eq!(host.write_frame(u64::MAX, 0), Err(WriteError::TooLong { mss: 1000 }));
    assert_eq!(host.write_frame(0, 0), Err(WriteError::Empty));
    assert_eq!(host.write_frame(1000, 0), Ok(0));
    assert_eq!(host.write_frame(1000, 0), Err(WriteError::Full));
    host.is_refused(5000, WriteError::Framed).sends_frames(&[0]);
    host.shutdown();
    assert_eq!(host.write_frame(1000, 0), Err(WriteError::Closed));
    assert_eq!(Host::connected(&plain()).write_frame(1000, 0), Err(WriteError::Unframed));
}

#[test]
fn frames_too_long_for_the_peer_are_abandoned_when_its_mss_arrives() {
    let mut host = Host::connect(&blocking(SendBufferLimit::Unlimited));
    for (bytes, unit) in [(400, 0), (600, 1), (300, 1), (500, 2)] {
        assert!(host.write_frame(bytes, unit).is_ok());
    }
    host.forget_sent().at(100).receives("S. 0:0(0) ack 1 <mss 500,sackOK>");
    host.sends_frames(&[0, 3]).discards(&[1, 2]);
    assert_eq!(host.connection.notsent(), 0);
    assert_eq!(host.write_frame(501, 3), Err(WriteError::TooLong { mss: 500 }));
}

/// Goel, Krasic and Walpole: A·`cwnd` + min(B, `cwnd`), here 1·4 + 3.
#[test]
fn a_limit_by_the_window_refuses_the_eighth_frame_and_grows_with_it() {
    let mut host = Host::connected(&blocking(SendBufferLimit::Window { per_window: 1.0, extra: 3 }));
    host.frames(7);
    assert_eq!(host.write_frame(1000, 7), Err(WriteError::Full));
    host.at(200).ack(2, &[]).frames(2);
    assert_eq!(host.write_frame(1000, 9), Err(WriteError::Full), "a window of five, eight held");
}

/// RFC 9293 §3.8.6.1 asks for at least one byte; a frame is not split.
#[test]
fn a_closed_window_is_probed_with_a_whole_frame() {
    let mut host = Host::connected(&blocking(SendBufferLimit::Unlimited));
    host.receives(". 1:1(0) ack 1 win 0").frames(2).sends_nothing();
    host.at(1100).sends(&[". 1:1001(1000) ack 1 win 64000"]);
    host.at(1200).receives(". 1:1(0) ack 1 win 0").sends_nothing();
    host.at(1300).receives(". 1:1(0) ack 1 win 64000").sends_frames(&[0, 1]);
}

/// Were it given up, nothing could be sent behind it that tells the peer so.
#[test]
fn a_closed_window_is_probed_with_the_same_frame_even_by_a_sender_that_never_repeats() {
    let usual = blocking(SendBufferLimit::Unlimited);
    let real_time = RealTime { never_retransmits: true, ..usual.real_time };
    let mut host = Host::connected(&usual.with_real_time(real_time));
    host.receives(". 1:1(0) ack 1 win 0").frames(3).at(1100).sends_frames(&[0]).discards(&[]);
    host.at(3100).sends_frames(&[0]).discards(&[]);
}

/// A sender by the rule of the MTCP paper: a full buffer "discards the oldest data segment … and also advances its send-window
/// past the discarded data segment".
fn advancing(segments: u32) -> Config {
    let config = oldest(segments);
    config.with_real_time(RealTime { abandoned_stay_in_flight: false, ..config.real_time })
}

#[test]
fn an_abandoned_frame_leaves_the_flight_independent_of_acknowledgments() {
    let mut host = Host::connected(&advancing(4));
    host.frames(4).sends_frames(&[0, 1, 2, 3]).frames(2).sends_frames(&[4, 5]).discards(&[0, 1]);
    let mut host = Host::connected(&oldest(4));
    host.frames(4).sends_frames(&[0, 1, 2, 3]).frames(2).sends_nothing().discards(&[0, 1]);
}

/// Each ACK lies below what was abandoned since: it grows the window and restarts the timer all the same.
#[test]
fn acks_of_abandoned_frames_are_progress() {
    let mut host = Host::connected(&advancing(4));
    host.frames(8).forget_sent();
    let (window, timeouts) = (host.connection.cwnd(), host.connection.statistics().timeouts);
    for acknowledged in 1..40 {
        host.at(100 + 200 * acknowledged).ack(1 + acknowledged, &[]).frames(1).forget_sent();
    }
    assert!(host.connection.cwnd() > window, "{} after {window}", host.connection.cwnd());
    assert_eq!(host.connection.statistics().timeouts, timeouts);
}

/// The window has passed the segment that is measured: the ACK of an earlier one would give too short a round trip.
#[test]
fn acks_of_abandoned_frames_measure_no_round_trip() {
    let mut host = Host::connected(&advancing(4));
    host.frames(4).forget_sent();
    let measured = host.connection.min_rtt();
    host.at(150).frames(8).forget_sent().at(160).ack(2, &[]);
    assert_eq!(host.connection.min_rtt(), measured);
}

/// As long as frames live shorter than the timer runs, none of them is there when it runs out.
#[test]
fn a_closed_window_is_probed_although_every_frame_is_given_up_before_the_timer_runs_out() {
    for idle in [IdleRto::Stop, IdleRto::Keep] {
        let mut host = Host::connected(&past(50).with_idle_rto(idle));
        host.frames(1).at(200).receives(". 1:1(0) ack 1001 win 0").forget_sent();
        for second in (0..15).step_by(3) {
            host.at(second * 1000 + 210).frames(1);
        }
        let sent = host.take_frames();
        assert!(!sent.is_empty(), "{idle:?}");
    }
}

#[test]
fn a_window_with_room_for_a_part_of_a_frame_waits() {
    let mut host = Host::connected(&blocking(SendBufferLimit::Unlimited));
    host.receives(". 1:1(0) ack 1 win 1999").frames(2).sends_frames(&[0]);
    host.at(200).receives(". 1:1(0) ack 1001 win 999").sends_nothing();
    host.at(300).receives(". 1:1(0) ack 1001 win 1000").sends_frames(&[1]);
}

#[test]
fn a_full_buffer_gives_up_the_oldest_frame_even_if_it_was_sent() {
    let mut host = Host::connected(&oldest(6));
    host.frames(6).sends_frames(&[0, 1, 2, 3]).discards(&[]);
    host.frames(2).discards(&[0, 1]).sends_nothing();
    assert_eq!(host.connection.frames_held(), 6);
    // An abandoned frame may still arrive.
    host.at(200).ack(3, &[]).sends_frames(&[4, 5, 6, 7]).discards(&[]);
}

#[test]
fn frames_never_sent_leave_no_hole_when_they_are_given_up() {
    let mut host = Host::connected(&past(50).with_initial_window(1));
    host.frames(3).at(160).frames(1).discards(&[0, 1, 2]);
    host.sends(&[". 1:1001(1000) ack 1 win 64000"]);
    host.at(200).ack(2, &[]).sends(&[". 1001:2001(1000) ack 1"]).discards(&[]);
}

/// The symptom: frames were abandoned after the time of one side, although both had agreed on a longer one.
#[test]
fn the_deadline_of_frames_may_change_during_a_connection() {
    let mut host = Host::connected(&past(50).with_initial_window(1));
    host.connection.set_frame_deadline(Duration::from_millis(400));
    host.frames(3).at(260).frames(1).discards(&[]);
    host.at(560).frames(1).discards(&[0, 1, 2]);
    let mut blocked = Host::connected(&blocking(SendBufferLimit::Segments(1)));
    blocked.connection.set_frame_deadline(Duration::ZERO);
    assert_eq!([0, 1].map(|unit| blocked.write_frame(1000, unit)), [Ok(0), Err(WriteError::Full)]);
}

#[test]
fn all_of_a_unit_is_given_up_and_what_is_written_of_it_later() {
    let mut host = Host::connected(&oldest(4).with_initial_window(1));
    for unit in [7, 7, 8, 9, 9] {
        assert!(host.write_frame(1000, unit).is_ok());
    }
    host.discards(&[0, 1]);
    assert_eq!(host.connection.frames_held(), 3);
    for unit in [9, 10, 10] {
        assert!(host.write_frame(1000, unit).is_ok());
    }
    host.discards(&[2, 3, 4, 5]);
    // The last unit is full by itself: it goes with what is yet to be written of it.
    for _ in 0..3 {
        assert!(host.write_frame(1000, 10).is_ok());
    }
    host.discards(&[6, 7, 8, 9, 10]);
    assert!(host.write_frame(1000, 11).is_ok());
    host.at(200).ack(2, &[]).sends_frames(&[0, 11]);
}

/// Others of its unit may still arrive.
#[test]
fn a_frame_that_the_peer_has_does_not_take_its_unit_along() {
    let mut host = Host::connected(&oldest(4).with_initial_window(10));
    for unit in [0, 1, 1, 2] {
        assert!(host.write_frame(1000, unit).is_ok());
    }
    host.sends_frames(&[0, 1, 2, 3]).at(200).ack(1, &[2..3]).forget_sent();
    assert!(host.write_frame(1000, 3).is_ok());
    host.discards(&[0]);
    assert!(host.write_frame(1000, 4).is_ok());
    host.discards(&[]);
    assert_eq!(host.connection.frames_held(), 4);
}

#[test]
fn the_last_frame_of_a_window_that_has_no_room_for_another_is_kept() {
    let mut host = Host::connected(&past(50).with_initial_window(10));
    host.receives(". 1:1(0) ack 1 win 3500").frames(5).sends_frames(&[0, 1, 2]);
    host.at(300).frames(1).discards(&[0, 1, 3, 4]).sends_nothing();
    // All three were lost: without the third the peer would never hear of anything to step over to.
    host.at(1100).sends_frames(&[2]);
    host.at(1200).receives(". 1:1(0) ack 3001 win 3500");
    assert_eq!(host.write_frame(1000, 9), Ok(6));
    host.sends_frames(&[6]).discards(&[5]);
}

/// Abandoned frames stay in flight: otherwise discarding would open the window.
#[test]
fn giving_up_does_not_open_the_window() {
    for recovery in RECOVERIES {
        let mut host = Host::connected(&repaired_by(recovery, oldest(4)));
        host.frames(40).sends_frames(&[0, 1, 2, 3]);
        assert_eq!(host.connection.outstanding(), 4, "{recovery:?}");
    }
}

/// A playout client reads while a hole stands.
#[test]
fn a_reader_that_plays_by_the_clock_does_not_hide_duplicates_behind_its_changing_window() {
    for recovery in RECOVERIES {
        let mut host = Host::connected(&repaired_by(recovery, oldest(50).with_initial_window(5)));
        host.frames(5).forget_sent();
        for (end, window) in [(3001, 60_000), (4001, 61_000), (5001, 62_000)] {
            host.at(end / 20).receives(&format!(". 1:1(0) ack 1 win {window} <sack 1001:{end}>"));
        }
        assert!(host.take_frames().contains(&0), "{recovery:?}");
    }
}

/// However losses are repaired: fast retransmit, holes, go-back after a timeout.
#[test]
fn abandoned_frames_are_never_retransmitted() {
    for recovery in RECOVERIES {
        let mut host = Host::connected(&repaired_by(recovery, oldest(8).with_initial_window(8)));
        host.frames(8).forget_sent().frames(2).discards(&[0, 1]);
        // The first three are lost.
        host.at(200).ack(1, &[4..5]).at(201).ack(1, &[4..6]).at(202).ack(1, &[4..7]).at(203).ack(1, &[4..8]);
        host.at(204).ack(1, &[4..9]).at(9000).frames(1).at(60_000);
        let sent: Vec<_> = host.take_frames();
        assert!(sent.iter().all(|frame| *frame >= 2), "{recovery:?} sent {sent:?}");
    }
}

/// All that is outstanding was given up, and lost: the timer closes the window to one segment, and a new frame goes.
#[test]
fn a_timeout_with_everything_given_up_sends_what_is_new() {
    for recovery in RECOVERIES {
        let mut host = Host::connected(&repaired_by(recovery, oldest(4)));
        host.frames(8).sends_frames(&[0, 1, 2, 3]).discards(&[0, 1, 2, 3]);
        let timeout = host.deadline().unwrap();
        host.at(timeout).sends_frames(&[4]);
        assert_eq!(host.connection.outstanding(), 1, "{recovery:?}");
        // Its reader has stepped over the hole.
        host.at(timeout + 100).ack(6, &[]).sends_frames(&[5, 6]);
    }
}

#[test]
fn a_timer_with_nothing_but_frames_given_up_falls_silent() {
    let mut host = Host::connected(&past(100));
    host.frames(2)
        .sends_frames(&[0, 1])
        .at(1100)
        .sends_nothing()
        .discards(&[0, 1])
        .has_events(&[Event::Established, Event::Drained]);
    assert_eq!(host.deadline(), None);
    host.at(5000).frames(1).sends(&[". 2001:3001(1000) ack 1 win 64000"]);
}

/// While the window is small every write moves the first frame held, and all ACKs are for ones before it. Taken for
/// old ones they would let the timer back off for ever.
#[test]
fn a_sender_whose_acks_all_cover_frames_given_up_does_not_back_off_for_ever() {
    for recovery in RECOVERIES {
        let mut host = Host::connected(&repaired_by(recovery, oldest(2)));
        host.frames(6).forget_sent().discards(&[0, 1, 2, 3]);
        let timeout = host.deadline().unwrap();
        let backed_off = host.at(timeout).sends_frames(&[4]).timeout();
        // Frames 0 to 3 were late, not lost: their ACKs come now.
        let window = host.connection.cwnd();
        host.at(timeout + 10).ack(3, &[]);
        assert!(host.connection.cwnd() > window, "{recovery:?}: the window grows");
        assert!(host.timeout() < backed_off, "{recovery:?}: the timeout falls back");
        assert_eq!(host.deadline(), Some(timeout + 10 + host.timeout()), "{recovery:?}: the timer starts anew");
        host.sends_frames(&[5]);
    }
}

#[test]
fn late_acks_and_sacks_of_abandoned_frames_are_ignored() {
    for recovery in RECOVERIES {
        let mut host = Host::connected(&repaired_by(recovery, oldest(4)));
        host.frames(8).forget_sent();
        let timeout = host.deadline().unwrap();
        host.at(timeout).sends_frames(&[4]);
        host.at(timeout + 100).ack(1, &[2..4]).ack(1, &[3..6]).ack(1, &[2..6]);
        host.ack(5, &[]).ack(6, &[]).ack(2, &[]);
        assert_eq!(host.take_frames(), [5, 6], "{recovery:?}");
        assert_eq!(host.connection.statistics().retransmissions, 0, "{recovery:?}");
    }
}

#[test]
fn a_deadline_is_kept_when_the_sender_next_acts() {
    let mut host = Host::connected(&past(150).with_initial_window(1));
    host.frames(1).at(150).frames(1).at(250).discards(&[]).sends_frames(&[0]);
    host.at(251).ack(1, &[]).discards(&[0]);
    host.at(300).ack(2, &[]).sends_frames(&[1]);
}

#[test]
fn what_is_hopeless_is_not_sent_and_what_was_sent_may_still_be_in_time() {
    let config = rtm(Backlog::AbandonUndeliverable(Duration::from_millis(150)));
    let mut host = Host::connected(&config.with_initial_window(1));
    host.frames(1).at(150).frames(1).sends_frames(&[0]);
    // The round trip is 100 ms: 50 ms before its time there is no way left to the peer.
    host.at(249).ack(1, &[]).discards(&[]);
    host.at(251).ack(1, &[]).discards(&[1]);
    host.at(260).ack(2, &[]);
    assert!(host.take_frames().is_empty());
}

#[test]
fn a_lost_frame_that_cannot_arrive_in_time_is_abandoned_instead_of_retransmitted() {
    for (limit, expected) in [(100, vec![]), (5000, vec![0])] {
        let config = rtm(Backlog::AbandonUndeliverable(Duration::from_millis(limit)));
        let mut host = Host::connected(&repaired_by(Recovery::Rfc6675, config.with_initial_window(4)));
        host.frames(4).sends_frames(&[0, 1, 2, 3]);
        host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[2..5]);
        assert_eq!(host.take_frames(), expected, "{limit} ms");
    }
}

/// MTP: the window answers to a loss as ever.
#[test]
fn a_sender_that_never_repeats_gives_up_what_the_timer_finds_lost() {
    for recovery in RECOVERIES {
        let usual = blocking(SendBufferLimit::Unlimited);
        let real_time = RealTime { never_retransmits: true, ..usual.real_time };
        let mut host = Host::connected(&repaired_by(recovery, usual.with_real_time(real_time).with_initial_window(8)));
        host.frames(12).sends_frames(&[0, 1, 2, 3, 4, 5, 6, 7]);
        host.at(1500).discards(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let sent = host.take_frames();
        assert_eq!(sent, [8], "{recovery:?}");
        host.has_window(1.0, host.connection.ssthresh());
        assert_eq!(host.connection.statistics().retransmissions, 0, "{recovery:?}");
    }
}

/// The peer knows no SNACK: ordinary TCP for what was sent.
#[test]
fn without_a_peer_that_steps_over_holes_only_frames_never_sent_are_given_up() {
    for delivery in [Delivery::InOrder, Delivery::SkipWhenWaiting] {
        let usual = oldest(4);
        let skip_notice = delivery.skips();
        let real_time = RealTime { delivery, skip_notice, never_retransmits: true, ..usual.real_time };
        let mut host = Host::connected(&usual.with_real_time(real_time));
        host.frames(7).sends_frames(&[0, 1, 2, 3]).discards(&[4, 5]);
        assert_eq!(host.connection.frames_held(), 5, "what was sent, and the newest");
        host.at(1100).sends_frames(&[0]).at(1200).ack(5, &[]).sends_frames(&[6]);
    }
}

#[test]
fn an_owner_that_never_asks_what_was_given_up_loses_only_old_notes() {
    let mut host = Host::connected(&oldest(4));
    host.frames(1000);
    assert_eq!(host.connection.real_time_statistics().frames_abandoned, 996);
    host.discards(&(0..996).collect::<Vec<_>>());
}

/// Reports of what is behind it may ask for a repair when nothing is left to repeat; the case in which no probe ever left
/// then is the last seed of `proptest-regressions/real_time.txt`.
#[test]
fn a_window_closed_behind_a_frame_that_was_given_up_is_asked() {
    let oldest = oldest(3);
    let config = Config::rfc()
        .with_real_time(oldest.real_time)
        .with_mss(oldest.segments.mss)
        .with_initial_window(1)
        .with_timestamps(false);
    for recovery in RECOVERIES {
        let mut host = Host::connected(&repaired_by(recovery, config));
        host.receives(". 1:1(0) ack 1 win 4000").frames(4).at(1100).discards(&[0]);
        for (millis, end) in [(1200, 2001), (1300, 3001), (1400, 4001)] {
            host.at(millis).receives(&format!(". 1:1(0) ack 1 win 4000 <sack 1001:{end}>"));
        }
        host.sends_frames(&[0, 1, 2, 3]).frames(1).at(20_000);
        assert!(!host.take_frames().is_empty(), "{recovery:?} waits for ever");
    }
}
