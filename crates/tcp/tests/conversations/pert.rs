//! PERT in a connection, homogeneous (SIGCOMM 2007) and adaptive (`IWQoS` 2008). Where the probability is 1 nothing is left to chance.

use crate::host::Host;
use earlybird_tcp::{Config, Control, LossFactor, PertFlags, RtoConfig};
use earlybird_units::Duration;

/// A PERT sender in congestion avoidance from the start, with a full window of 10 sent at 50 ms and a patient timer.
fn sender(flags: PertFlags) -> Host {
    let rto = RtoConfig { floor: Duration::from_secs(20), clock_phase: Some(Duration::ZERO), ..RtoConfig::NS2 };
    let control = Control::Pert(flags);
    let mut host = Host::connect(
        &Config::ns2().with_control_only(control).with_rto(rto).with_max_window(10).with_initial_window(10),
    );
    host.at(50).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").write(100_000).forget_sent();
    host
}

/// A round trip of 50 ms, then one of 2050 ms: 0.99·50 + 0.01·2050 = 70 ms, a queueing delay of 20 ms.
fn congested(flags: PertFlags) -> Host {
    let mut host = sender(flags);
    host.at(100).ack(2, &[]).has_window(10.1, 10.0);
    host.at(2100).ack(3, &[]);
    host
}

/// β = q/(q + Q) = 20/(20 + 20), since the queue was never longer.
#[test]
fn a_queueing_delay_of_20_ms_halves_the_window_of_10() {
    congested(PertFlags::GUARDED).has_window(5.0, 5.0);
}

/// `pert_growth_on_response`: α/cwnd = 1/5 on top.
#[test]
fn the_default_preset_also_grows_on_the_ack_that_responds() {
    congested(PertFlags::DEFAULT).has_window(5.2, 5.0);
}

/// The homogeneous form cuts 35 %: 6.5, and the threshold is the whole part.
#[test]
fn the_homogeneous_form_cuts_to_6_5() {
    congested(PertFlags::HOMOGENEOUS).has_window(6.5, 6.0);
}

/// The mark is the highest segment sent at the response, 11.
#[test]
fn there_is_one_response_per_round_trip() {
    let mut host = congested(PertFlags::HOMOGENEOUS);
    let mut cwnd = 6.5;
    for next in 4..=12 {
        cwnd += 1.0 / cwnd;
        host.at(2100 + next).ack(next, &[]).has_window(cwnd, 6.0);
        assert_eq!(host.connection.gauges().early_responses, 1);
    }
    host.at(2200).ack(13, &[]).has_window(0.65 * cwnd, (0.65 * cwnd).floor());
    assert_eq!(host.connection.gauges().early_responses, 2);
}

/// No paper prints that a response has to wait for a round trip: as long as the probability is 1, every ACK responds.
#[test]
fn the_rules_of_the_texts_had_one_response_per_round_trip() {
    let mut host = sender(PertFlags::TEXT);
    host.at(100).ack(2, &[]).at(2100).ack(3, &[]);
    for (next, responses) in (4..=5).zip(2..) {
        host.at(2100 + next).ack(next, &[]);
        assert_eq!(host.connection.gauges().early_responses, responses);
    }
}

/// Nor that one leaves two segments: half of two is one.
#[test]
fn the_rules_of_the_texts_left_at_least_two_segments() {
    let rto = RtoConfig { floor: Duration::from_secs(20), ..RtoConfig::NS2 };
    let control = Control::Pert(PertFlags::TEXT);
    let mut host = Host::connect(
        &Config::ns2().with_control_only(control).with_rto(rto).with_max_window(2).with_initial_window(2),
    );
    host.at(50).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").write(100_000);
    host.at(100).ack(2, &[]).at(2100).ack(3, &[]).has_window(1.0, 2.0);
}

/// Our choice where the papers are silent: otherwise the flow would be caught in slow start.
#[test]
fn a_response_leaves_at_least_2_segments() {
    let rto = RtoConfig { floor: Duration::from_secs(20), ..RtoConfig::NS2 };
    let control = Control::Pert(PertFlags::HOMOGENEOUS);
    let mut host = Host::connect(
        &Config::ns2().with_control_only(control).with_rto(rto).with_max_window(2).with_initial_window(2),
    );
    host.at(50).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").write(100_000);
    host.at(100).ack(2, &[]).at(2100).ack(3, &[]).has_window(2.0, 2.0);
}

/// Before any queue was seen β is 0.35; after 20 of at most 20 ms it is one half. `pert_loss_factor = half` always halves.
#[test]
fn a_loss_cuts_beta_or_one_half() {
    let lose = |host: &mut Host, next: u64| {
        host.ack(next, &[next + 1..next + 2]).ack(next, &[next + 1..next + 3]).ack(next, &[next + 1..next + 4]);
    };
    let mut host = sender(PertFlags::GUARDED);
    lose(host.at(100), 1);
    host.has_window(6.5, 6.0);
    let mut host = congested(PertFlags::GUARDED);
    lose(&mut host, 3);
    host.has_window(2.5, 2.0);
    // The ports: Q is the largest raw delay, 2000 ms, so the curve is flat, and β = 20/2020.
    let mut host = congested(PertFlags::PORT);
    lose(&mut host, 3);
    host.has_window(10.0 * (1.0 - 20.0 / 2020.0), 9.0);
    let mut host = sender(PertFlags { loss_factor: LossFactor::Half, ..PertFlags::GUARDED });
    lose(host.at(100), 1);
    host.has_window(5.0, 5.0);
}

#[test]
fn slow_start_does_not_respond() {
    let rto = RtoConfig { floor: Duration::from_secs(20), ..RtoConfig::NS2 };
    let mut host = Host::connect(&Config::ns2().with_control_only(Control::Pert(PertFlags::GUARDED)).with_rto(rto));
    host.at(50).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>").write(100_000);
    host.at(100).ack(2, &[]).at(2100).ack(3, &[]).has_window(4.0, 64.0);
    assert_eq!(host.connection.gauges().probability, Some(1.0));
}

/// A timeout halves and starts again from one segment, as SACK does.
#[test]
fn a_timeout_leaves_1_and_a_threshold_of_5() {
    let mut host = sender(PertFlags::GUARDED);
    host.at(20_050).has_window(1.0, 5.0);
}

/// Without a curve, 20 ms of queue do not call for a response at once: p grows by K·C·12.5 ms a second.
#[test]
fn the_pi_controller_answers_a_queue_that_lasts() {
    let mut host = congested(PertFlags::PI);
    host.has_window(10.2 - 0.1 + 1.0 / 10.1, 10.0);
    let at_first = host.connection.gauges().probability.unwrap();
    assert!(at_first < 0.05, "{at_first}");
    host.at(4100).ack(4, &[]).at(12_100).ack(5, &[]);
    let later = host.connection.gauges().probability.unwrap();
    assert!(later > at_first + 0.2, "{later}");
}
