//! Windows: RFC 5681 §3.1, RFC 3042, RFC 3390, and what ns-2 does instead.

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{Config, RtoConfig};
use earlybird_units::Duration;

const NO_THRESHOLD: f64 = f64::INFINITY;

fn numbers(range: std::ops::RangeInclusive<u64>) -> Vec<u64> {
    range.collect()
}

/// A connection with ten segments outstanding and more to send.
fn ten_out(config: &Config) -> Host {
    let mut host = Host::connected(&config.with_initial_window(10));
    host.write(100_000).sends_numbers(&numbers(1..=10));
    host
}

/// RFC 3390 §1: min(4·1000, max(2·1000, 4380)) = 4000 bytes.
#[test]
fn the_initial_window_of_1000_byte_segments_is_4() {
    Host::connected(&plain()).has_window(4.0, NO_THRESHOLD).write(100_000).sends_numbers(&[1, 2, 3, 4]);
    follows(Area::Control, "sack", "RFC 5681, RFC 3390");
}

/// `wnd_init_` and `wnd_init_option_` of ns-2's agents.
#[test]
fn the_initial_window_of_ns2_is_2_and_its_threshold_64() {
    Host::connected(&Config::ns2()).has_window(2.0, 64.0).write(100_000).sends_numbers(&[1, 2]);
    follows(Area::Control, "sack", "ns-2.35 tcp.cc");
}

/// RFC 5681 §3.1 with what RFC 3465 §2.1 counts: receivers may acknowledge many segments at once.
#[test]
fn slow_start_adds_one_segment_per_segment_acknowledged() {
    let mut host = Host::connected(&plain());
    host.write(100_000).forget_sent();
    host.at(200).ack(2, &[]).has_window(5.0, NO_THRESHOLD).sends_numbers(&[5, 6]);
    host.ack(4, &[]).has_window(7.0, NO_THRESHOLD).sends_numbers(&[7, 8, 9, 10]);
    follows(Area::Control, "sack", "RFC 5681, RFC 3465");
}

/// ns-2.35 `opencwnd`: one segment more for each ACK, however many segments it acknowledges.
#[test]
fn slow_start_of_ns2_adds_one_segment_per_ack() {
    let mut host = Host::connected(&Config::ns2());
    host.write(100_000).forget_sent();
    host.at(200).ack(2, &[]).has_window(3.0, 64.0).sends_numbers(&[3, 4]);
    host.ack(4, &[]).has_window(4.0, 64.0).sends_numbers(&[5, 6, 7]);
    follows(Area::Control, "sack", "ns-2.35 tcp.cc");
}

/// RFC 5681 §3.1: SMSS·SMSS/cwnd per ACK, that is about one segment per round trip.
#[test]
fn congestion_avoidance_adds_one_cwnd_th_of_a_segment() {
    let mut host = ten_out(&plain());
    host.at(200).ack(1, &[2..5]).sends_numbers(&[1]);
    host.at(300).ack(11, &[]).has_window(5.0, 5.0).forget_sent();
    host.at(400).ack(12, &[]).has_window(5.2, 5.0);
    host.ack(13, &[]).has_window(5.2 + 1.0 / 5.2, 5.0);
    follows(Area::Control, "sack", "RFC 5681, RFC 3390");
}

/// RFC 5681 §3.2, 1: "the TCP sender MUST NOT change cwnd to reflect these two segments".
#[test]
fn limited_transmit_sends_one_segment_on_each_of_the_first_two_duplicates() {
    for config in [plain(), Config::ns2()] {
        let mut host = ten_out(&config);
        host.at(200).ack(1, &[2..3]).sends_numbers(&[11]).ack(1, &[2..4]).sends_numbers(&[12]);
        assert_eq!(host.connection.cwnd().to_bits(), 10.0_f64.to_bits());
    }
    follows(Area::Control, "sack", "RFC 3042");
}

#[test]
fn without_limited_transmit_duplicates_send_nothing() {
    for config in [plain(), Config::ns2()] {
        let mut host = ten_out(&config.with_limited_transmit(false));
        host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).sends_nothing();
        host.ack(1, &[2..5]).sends_numbers(&[1]);
    }
    follows(Area::Control, "sack", "RFC 3042");
}

/// RFC 3042 §2: "The receiver's advertised window allows the transmission of the segment."
#[test]
fn limited_transmit_stays_in_the_largest_window() {
    for config in [plain(), Config::ns2()] {
        let mut host = ten_out(&config.with_max_window(11));
        host.at(200).ack(1, &[2..3]).sends_numbers(&[11]).ack(1, &[2..4]).sends_nothing();
    }
    follows(Area::Control, "sack", "RFC 3042");
}

/// RFC 5681 equation 4, with the twelve outstanding segments less the two of limited transmit: max(10/2, 2).
#[test]
fn a_loss_among_10_segments_leaves_5_whatever_limited_transmit_sent() {
    let mut host = ten_out(&plain());
    host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).sends_numbers(&[11, 12]);
    host.ack(1, &[2..5]).has_window(5.0, 5.0).sends_numbers(&[1]);
    follows(Area::Control, "sack", "RFC 3042");
}

/// Nothing was sent beyond the window here, so nothing may be taken off: max(10/2, 2).
#[test]
fn a_loss_among_10_segments_of_a_writer_that_pauses_leaves_5() {
    let mut host = Host::connected(&plain().with_initial_window(20));
    host.write(10_000).forget_sent();
    host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).sends_nothing();
    host.ack(1, &[2..5]).has_window(5.0, 5.0).sends_numbers(&[1]);
    follows(Area::Control, "sack", "RFC 5681, RFC 3390");
}

/// Whole segments: ⌊11/2⌋ (RFC 5681 §3.2: "no more than" equation 4).
#[test]
fn a_loss_among_11_segments_leaves_5() {
    let mut host = Host::connected(&plain().with_initial_window(11));
    host.write(100_000).at(200).ack(1, &[2..5]).has_window(5.0, 5.0);
    follows(Area::Control, "sack", "RFC 5681, RFC 3390");
}

/// ns-2.35 `tcp-sack1.cc`: until the next progress a SACK sender of ns-2 ignores duplicates, also for limited transmit.
#[test]
fn ns2_sends_nothing_on_duplicates_after_a_timeout() {
    let mut host = ten_out(&Config::ns2());
    host.at(400).sends_numbers(&[1]).ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[2..5]).sends_nothing();
    host.at(500).ack(5, &[]).sends_numbers(&[5, 6]);
    follows(Area::Control, "sack", "ns-2.35 tcp.cc");
}

#[test]
fn a_loss_among_3_segments_leaves_2() {
    let mut host = Host::connected(&plain().with_initial_window(3));
    host.write(3000).forget_sent();
    host.at(200).ack(1, &[2..4]).sends_nothing().at(1100).sends_numbers(&[1]).has_window(1.0, 2.0);
    follows(Area::Control, "sack", "RFC 5681, RFC 3390");
}

/// RFC 5681 §3.1: one segment ("loss window") and equation 4 after a timeout.
#[test]
fn a_timeout_with_10_segments_outstanding_leaves_1_and_a_threshold_of_5() {
    let mut host = ten_out(&plain());
    host.at(1100).has_window(1.0, 5.0).sends_numbers(&[1]);
    host.at(1200).ack(2, &[]).has_window(2.0, 5.0).sends_numbers(&[2, 3]);
    follows(Area::Control, "sack", "RFC 5681, RFC 3390");
}

/// RFC 5681 §3.1: "the value of ssthresh is held constant" if the same segment times out again.
#[test]
fn a_second_timeout_of_the_same_segment_leaves_the_threshold() {
    let mut host = ten_out(&plain());
    host.at(3100).has_window(1.0, 5.0).sends_timed(&[(1100, 1), (3100, 1)]);
    follows(Area::Control, "sack", "RFC 5681, RFC 3390");
}

/// ns-2 halves the window as it is, and the threshold is its whole part (`precisionReduce_ 1`).
#[test]
fn ns2_halves_11_to_5_5_and_the_threshold_to_5() {
    let mut host = Host::connected(&Config::ns2().with_initial_window(11));
    host.write(100_000).at(200).ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[2..5]).has_window(5.5, 5.0);
    follows(Area::Control, "sack", "ns-2.35 tcp.cc");
}

/// `precisionReduce_ 0`.
#[test]
fn ns2_halves_11_to_5_if_it_rounds() {
    let mut host = Host::connected(&Config::ns2().with_initial_window(11).with_precise_halving(false));
    host.write(100_000).at(200).ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[2..5]).has_window(5.0, 5.0);
    follows(Area::Control, "sack", "ns-2.35 tcp.cc");
}

/// ns-2's `slow_start_restart_`: the timer runs on over an idle period and closes the window.
#[test]
fn ns2_closes_an_idle_window_to_1_when_the_timer_ends() {
    let rto = RtoConfig { clock_phase: Some(Duration::ZERO), ..RtoConfig::NS2 };
    let mut host = Host::connected(&Config::ns2().with_rto(rto));
    host.write(1000).at(200).ack(2, &[]).has_window(3.0, 64.0);
    // Two samples of 100 ms: S = 80, V = 15 ticks of 10 ms, so (8·15 + 80)/8 = 25 ticks.
    assert_eq!(host.deadline(), Some(450));
    host.at(449).has_window(3.0, 64.0).at(450).has_window(1.0, 64.0);
    assert_eq!(host.connection.statistics().timeouts, 0);
    follows(Area::Control, "sack", "ns-2.35 tcp.cc");
}

#[test]
fn the_rfc_profile_keeps_an_idle_window() {
    let mut host = Host::connected(&plain());
    host.write(1000).at(200).ack(2, &[]);
    assert_eq!(host.deadline(), None);
    host.at(100_000).has_window(4.0, NO_THRESHOLD);
    follows(Area::Control, "sack", "RFC 5681, RFC 3390");
}

/// ns-2.35 `opencwnd`: the window grows though the application limits the sender.
#[test]
fn the_window_of_ns2_grows_though_the_writer_does_not_fill_it() {
    let mut host = Host::connected(&Config::ns2());
    for number in 1..=20 {
        host.at(100 + 100 * number).write(1000).sends_numbers(&[number]).at(150 + 100 * number).ack(number + 1, &[]);
    }
    host.has_window(22.0, 64.0);
    follows(Area::Control, "sack", "ns-2.35 tcp.cc");
}
