//! Vegas' decisions (Brakmo and Peterson 1995, as ns-2.35's `tcp-vegas.cc` has them).

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{Config, Control, IdleRto, Recovery, VegasParameters};

const SOURCE: &str = "ns-2.35 tcp-vegas.cc";

/// Acknowledges these segments one by one.
fn acks(host: &mut Host, numbers: std::ops::RangeInclusive<u64>) -> &mut Host {
    numbers.for_each(|number| {
        host.ack(number + 1, &[]);
    });
    host
}

/// Four segments outstanding with the window control alone, and round trips of 100 ms so far.
fn window_only(parameters: VegasParameters) -> Host {
    let mut host = Host::connected(&plain().with_control_only(Control::Vegas(parameters)));
    host.write(200_000).sends_numbers(&[1, 2, 3, 4]);
    host
}

#[test]
fn slow_start_doubles_every_other_round_trip() {
    let mut host = window_only(VegasParameters::NS2);
    acks(host.at(200), 1..=4).has_window(4.0, f64::INFINITY);
    acks(host.at(300), 5..=8).has_window(4.0, f64::INFINITY);
    acks(host.at(400), 9..=12).has_window(8.0, f64::INFINITY);
    acks(host.at(500), 13..=16).has_window(8.0, f64::INFINITY);
    follows(Area::Control, "vegas", SOURCE);
}

/// A round trip of 200 ms where 100 ms is the smallest: half of the window stands in the queue. Slow start ends with an
/// eighth less; then one segment less per round while more than beta stand there, until no more do.
#[test]
fn a_queue_ends_slow_start_and_then_takes_one_segment_per_round() {
    let mut host = window_only(VegasParameters::NS2);
    acks(host.at(200), 1..=4);
    acks(host.at(300), 5..=8);
    acks(host.at(400), 9..=12).forget_sent();
    acks(host.at(600), 13..=20).has_window(8.0, f64::INFINITY).sends_numbers(&(21..=28).collect::<Vec<_>>());
    host.at(800).ack(22, &[]).has_window(7.0, 2.0);
    acks(&mut host, 22..=28).has_window(7.0, 2.0).sends_numbers(&(29..=35).collect::<Vec<_>>());
    // (7/0.1 - 7/0.2) * 0.1 = 3.5, rounded 4.
    acks(host.at(1000), 29..=35).has_window(6.0, 2.0);
    // 3 are within beta.
    acks(host.at(1200), 36..=41).has_window(6.0, 2.0);
    // The round trip is the smallest again: below alpha, 1/cwnd per ACK from the second round on.
    host.forget_sent();
    acks(host.at(1300), 42..=47).has_window(6.0, 2.0);
    host.at(1400).ack(49, &[]).has_window(6.0 + 1.0 / 6.0, 2.0);
    follows(Area::Control, "vegas", SOURCE);
}

/// With the thresholds of Linux four segments in the queue are few enough.
#[test]
fn linux_lets_four_segments_stand_in_the_queue() {
    let mut host = window_only(VegasParameters::LINUX);
    acks(host.at(200), 1..=4);
    acks(host.at(300), 5..=8);
    acks(host.at(400), 9..=12);
    acks(host.at(600), 13..=20);
    acks(host.at(800), 21..=28).has_window(7.0, 2.0);
    acks(host.at(1000), 29..=35).has_window(7.0, 2.0);
    follows(Area::Control, "vegas", "Linux tcp_vegas.c: alpha 2, beta 4, gamma 1");
}

/// ns-2's agent with segments 5, 6 and 7 sent at 300 ms, after round trips of 100 ms: its fine timeout is about 123 ms.
fn agent() -> Host {
    let control = Control::Vegas(VegasParameters::NS2);
    let mut host = Host::connected(
        &Config::ns2().with_control_only(control).with_recovery_only(Recovery::Vegas).with_sack_blocks(0),
    );
    host.has_window(1.0, 64.0).write(100_000).sends_numbers(&[1]);
    host.at(200).ack(2, &[]).has_window(3.0, 64.0).sends_numbers(&[2, 3, 4]);
    acks(host.at(300), 2..=4).has_window(3.0, 64.0).sends_numbers(&[5, 6, 7]);
    host
}

#[test]
fn a_first_duplicate_retransmits_only_what_is_older_than_the_fine_timeout() {
    let mut host = agent();
    host.at(420).ack(5, &[]).sends_nothing();
    // The second one finds it old enough; the window of three becomes two, inflated by two.
    host.at(425).ack(5, &[]).sends_numbers(&[5, 8]);
    let mut host = agent();
    host.at(425).ack(5, &[]).sends_numbers(&[5]);
    assert_eq!(host.connection.statistics().early_on_first, 1);
    // A window of three becomes two, and the duplicate inflates it.
    host.has_window(3.0, 64.0);
    follows(Area::Recovery, "vegas", SOURCE);
}

#[test]
fn the_first_ack_after_a_retransmission_retransmits_the_next_segment_if_that_is_old_too() {
    let mut host = agent();
    host.at(425).ack(5, &[]).sends_numbers(&[5]);
    // A round ends with no queue: the window grows to four, 6 to 9.
    host.at(540).ack(6, &[]).sends_numbers(&[6, 8, 9]).has_window(4.0, 64.0);
    follows(Area::Recovery, "vegas", SOURCE);
}

#[test]
fn the_third_duplicate_retransmits_whatever_its_age() {
    let mut host = agent();
    host.at(310).ack(5, &[]).ack(5, &[]).sends_nothing().ack(5, &[]).sends_numbers(&[5, 8, 9]);
    // 2, inflated by three: five from 5 on.
    host.has_window(5.0, 64.0);
    follows(Area::Recovery, "vegas", SOURCE);
}

#[test]
fn a_timeout_leaves_two_segments() {
    let mut host = agent();
    host.at(700).sends_numbers(&[5, 6]).has_window(2.0, 2.0);
    assert_eq!(host.connection.timer().back_off, 2);
    follows(Area::Recovery, "vegas", SOURCE);
}

/// ns-2 halves a window of one to none, and Vegas grows only once per round trip.
#[test]
fn a_fin_leaves_although_the_window_fell_below_a_segment() {
    let recovery = Recovery::Reno { second_fast_retransmit: true };
    let control = Control::Vegas(VegasParameters::NS2);
    let mut host = Host::connected(
        &Config::ns2()
            .with_control_only(control)
            .with_recovery_only(recovery)
            .with_precise_halving(false)
            .with_idle_rto(IdleRto::Stop)
            .with_initial_window(4),
    );
    host.write(4000).forget_sent();
    host.at(4000).forget_sent();
    (0..3).for_each(|_| {
        host.ack(1, &[]);
    });
    host.has_window(0.0, 2.0).ack(5, &[]).forget_sent().shutdown().sends_nothing();
    assert!(host.at(60_000).take_numbers().starts_with(&[5]));
}
