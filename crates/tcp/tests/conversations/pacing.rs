//! Pacing: segments leave at a rate.

use crate::host::Host;
use earlybird_tcp::Config;

/// A round trip of 100 ms, no timestamps, pacing by the window.
fn config() -> Config {
    Config::rfc().with_pacing(true).with_timestamps(false)
}

/// 2·cwnd/SRTT in slow start: 80 segments a second with a window of 4, two at a time.
#[test]
fn a_window_of_4_leaves_in_two_pairs_25_ms_apart() {
    let mut host = Host::connected(&config());
    host.write(20_000).at(124).sends_numbers(&[1, 2]);
    assert_eq!(host.deadline(), Some(125));
    host.at(199).sends_timed(&[(125, 3), (125, 4)]);
}

#[test]
fn a_window_that_is_full_asks_for_no_more_wakes() {
    let mut host = Host::connected(&config());
    host.write(20_000).at(160).sends_numbers(&[1, 2, 3, 4]);
    assert_eq!(host.deadline(), Some(1100), "the retransmission timer");
}

/// The fast retransmit waits for its turn too, 20 ms after the last pair at 100 segments a second, and an ACK that comes
/// meanwhile does not make it forgotten.
#[test]
fn a_fast_retransmit_waits_for_its_turn() {
    let mut host = Host::connected(&config().with_limited_transmit(false));
    host.write(6000).at(199).sends_numbers(&[1, 2, 3, 4]);
    host.at(200).ack(2, &[]).sends_timed(&[(200, 5), (200, 6)]);
    host.at(205).ack(2, &[3..4]).ack(2, &[3..5]).ack(2, &[3..6]).has_window(2.0, 2.0).sends_nothing();
    host.at(206).ack(2, &[3..7]).sends_nothing();
    host.at(230).sends_timed(&[(220, 2)]);
}
