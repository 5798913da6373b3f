//! Copa on whole paths of 10 Mb/s and 40 ms: 47 packets fill them.

use crate::bbr::{Flow, PIPE, bulk, path, run};
use crate::dumbbell::rfc;
use earlybird_conformance::{Area, conforms};
use earlybird_sim::EndpointSettings;
use earlybird_tcp::{Config, Control, CopaParameters, CubicConfig, Recovery};

const PAPER: &str = "Arun and Balakrishnan, NSDI 2018";

fn racked(control: Control) -> EndpointSettings {
    rfc(Config::rfc().with_control_only(control).with_recovery_only(Recovery::Rack).with_max_window(1000))
}

fn copa() -> EndpointSettings {
    racked(Control::Copa(CopaParameters::DEFAULT))
}

/// One that never leaves the default mode.
fn gentle() -> EndpointSettings {
    racked(Control::Copa(CopaParameters { competes: false, ..CopaParameters::DEFAULT }))
}

fn cubic() -> EndpointSettings {
    racked(Control::Cubic(CubicConfig::RFC9438))
}

/// Returns what of the link the flows had from 10 s on, and the mean queue in packets.
fn shares(buffer: u32, loss: f64, flows: &[EndpointSettings]) -> (Vec<f64>, f64) {
    let flows: Vec<Flow> = flows.iter().map(|endpoints| (*endpoints, bulk as _)).collect();
    let (carried, _) = run(path(buffer, loss, 1), &flows, 10, 60);
    (carried.shares, carried.queue * PIPE)
}

/// The queue goes up and down between nothing and 2.5/δ packets of each flow, δ being 0.5.
#[test]
fn in_the_default_mode_the_queue_is_half_of_2_5_over_delta_packets_for_each_flow() {
    let mut compared = Vec::new();
    for flows in [1_usize, 2, 4] {
        let (shares, queue) = shares(400, 0.0, &vec![gentle(); flows]);
        let used: f64 = shares.iter().sum();
        let expected = 1.25 / 0.5 * flows as f64;
        assert!(used > 0.95 && (0.5..2.0).contains(&(queue / expected)), "{flows}: {shares:?}, {queue} packets");
        let even = 1.0 / flows as f64;
        assert!(shares.iter().all(|share| (share / even - 1.0).abs() < 0.3), "{flows}: {shares:?}");
        compared.push(format!("{:.1} % and {queue:.1} for {expected:.1}", 100.0 * used));
    }
    let source = format!("{PAPER}, §3: the queue oscillates between 0 and 2.5/δ̂ packets");
    let what = "one, two and four flows on 10 Mb/s and 40 ms with `compete = false`: link used, and mean queue in packets beside \
                1.25/δ̂";
    conforms(Area::Control, "copa", &source, what, &compared.join(", "));
}

/// The velocity is the paper's, which doubles after three round trips in one direction. genericCC's sender (`markoviancc.cc`,
/// `auto:0.5`), with one ACK per packet in a simulator of our own over several starts, keeps 6.5 to 6.9 packets with two flows and 10.8
/// to 18.5 with four; with the paper's velocity in it, 41 to 66 and 64 to 78; behind 400 packets its four flows keep 120 to 204. Here its
/// velocity left a tenth of the link unused, and a third at 1 % random loss, so that it is not used. Why is not shown: the receivers
/// here delay ACKs, but it was not tried without.
#[test]
fn flows_that_may_compete_fill_the_buffer_beside_one_another_and_others_do_not() {
    let mut compared = Vec::new();
    for flows in [2_usize, 4] {
        let [(_, competing), (_, single)] = [copa(), gentle()].map(|flow| shares(100, 0.0, &vec![flow; flows]));
        assert!(competing < 90.0 && single < 5.0 * flows as f64, "{flows}: {competing} and {single} packets");
        compared.push(format!("{competing:.1} with {flows}, {single:.1} with `compete = false`"));
    }
    let what = "mean queue in packets of two and four flows that may compete, on 10 Mb/s and 40 ms with a buffer of 100 packets";
    let result = format!("{}; genericCC 6.5 to 6.9 and 10.8 to 18.5", compared.join(", "));
    conforms(Area::Control, "copa", "genericCC, markoviancc.cc", what, &result);
}

/// Now and then one takes the other for a flow that fills the queue; the share stays fair.
#[test]
fn two_flows_share_the_link_whatever_their_modes() {
    let (shares, queue) = shares(100, 0.0, &[copa(), copa()]);
    assert!(shares.iter().all(|share| (0.4..0.6).contains(share)), "{shares:?}, {queue} packets");
    assert!(shares.iter().sum::<f64>() > 0.95, "{shares:?}");
    let result = format!("{:.1} % and {:.1} %", 100.0 * shares[0], 100.0 * shares[1]);
    conforms(Area::Control, "copa", &format!("{PAPER}, abstract"), "shares of 10 Mb/s of two flows", &result);
}

#[test]
fn its_queue_is_a_fraction_of_cubics() {
    let [(_, ours), (_, theirs)] = [copa(), cubic()].map(|endpoints| shares(100, 0.0, &[endpoints]));
    assert!(ours < theirs / 5.0, "{ours} packets, and {theirs}");
    let result = format!("{ours:.1} packets, CUBIC {theirs:.1}");
    conforms(Area::Control, "copa", PAPER, "mean queue on 10 Mb/s and 40 ms with a buffer of 100 packets", &result);
}

/// A flow that fills the queue leaves nothing to one that wants it nearly empty, unless that one sees it and claims its part.
#[test]
fn beside_cubic_it_competes_and_would_starve_if_it_did_not() {
    let ([fair, ..], [starved, ..]) = (
        <[f64; 2]>::try_from(shares(100, 0.0, &[copa(), cubic()]).0).expect("two"),
        <[f64; 2]>::try_from(shares(100, 0.0, &[gentle(), cubic()]).0).expect("two"),
    );
    assert!(fair > 0.3 && starved < 0.15, "{fair}, {starved}");
    let result = format!("{:.1} %; without the competitive mode {:.1} %", 100.0 * fair, 100.0 * starved);
    conforms(Area::Control, "copa", &format!("{PAPER}, §2.2"), "share of 10 Mb/s beside a flow of CUBIC", &result);
}

/// "Copa is also robust to non-congestive loss" (abstract).
#[test]
fn random_losses_of_1_percent_cost_it_little() {
    let (ours, queue) = shares(100, 0.01, &[copa()]);
    let (theirs, _) = shares(100, 0.01, &[cubic()]);
    assert!(ours[0] > 0.85 && ours[0] > 2.0 * theirs[0] && queue < 10.0, "{ours:?}, {queue}, {theirs:?}");
    let result = format!("{:.1} %; CUBIC {:.1} %", 100.0 * ours[0], 100.0 * theirs[0]);
    conforms(Area::Control, "copa", &format!("{PAPER}, abstract"), "share of 10 Mb/s with 1 % random loss", &result);
}
