//! BBR version 1 on whole paths, most of them of 10 Mb/s and 40 ms: 47 packets of 1052 bytes fill them.

use crate::bbr::{Flow, LinkUse, PIPE, RATE, SEGMENT_RATE, Visits, bulk, path, reno, run};
use crate::dumbbell::{link, lossy, rfc};
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{EndpointSettings, LinkSettings, Loss, LossRule, PacketFilter, QueueLimit};
use earlybird_tcp::{Bbr1Parameters, BbrState, Config, Control, Recovery};
use earlybird_traffic::{Media, SenderApp, Timetable};
use earlybird_units::{Rate, SeedTree};

fn bbr1() -> EndpointSettings {
    with(Bbr1Parameters::LINUX, Recovery::Rack)
}

fn with(parameters: Bbr1Parameters, recovery: Recovery) -> EndpointSettings {
    let config = Config::rfc().with_control_only(Control::Bbr1(parameters)).with_recovery_only(recovery);
    rfc(config.with_max_window(1000))
}

fn one(forward: LinkSettings, until: u64) -> (LinkUse, Visits) {
    run(forward, &[(bbr1(), bulk)], 0, until)
}

#[test]
fn one_flow_fills_the_link_with_a_short_queue() {
    let (used, visits) = one(path(100, 0.0, 1), 30);
    assert!(used.shares[0] > 0.95 && used.queue < 0.3, "{used:?}");
    let error = (visits.bandwidth / SEGMENT_RATE - 1.0).abs();
    assert!(error < 0.02, "the bandwidth after startup is off by {error}");
    conforms(
        Area::Control,
        "bbr1",
        "Cardwell et al. 2016, Startup and Drain Behavior: the full rate within a few round trips, then no queue",
        "bandwidth after startup with a link of 10 Mb/s and 40 ms; share of the link and queue over 30 s",
        &format!(
            "bandwidth within {:.1} % (2 %); {:.1} % of the link, queue of {:.2} bandwidth-delay products",
            100.0 * error,
            100.0 * used.shares[0],
            used.queue
        ),
    );
}

#[test]
fn gains_cycle_and_the_round_trip_is_probed_every_10_s() {
    use BbrState::{Cruise, Down, Drain, ProbeRtt, Startup, Up};
    let (_, visits) = one(path(100, 0.0, 1), 45);
    for pair in visits.states.windows(2) {
        let step = (pair[0].1, pair[1].1);
        let is_cycle = [(Up, Down), (Down, Cruise), (Cruise, Up)].contains(&step);
        let is_start =
            step == (Startup, Drain) || (matches!(step.0, Drain | ProbeRtt) && matches!(step.1, Up | Cruise));
        assert!(is_cycle || is_start || step.1 == ProbeRtt, "{step:?}");
    }
    let times = |of: BbrState| -> Vec<f64> {
        visits.states.iter().filter(|(_, state)| *state == of).map(|(at, _)| at.as_secs_f64()).collect()
    };
    let (probes, ups) = (times(ProbeRtt), times(Up));
    assert!((10.0..10.5).contains(&probes[0]) && probes.len() == 4, "{probes:?}");
    for gap in probes.windows(2).map(|pair| pair[1] - pair[0]) {
        // The probe itself takes 200 ms and a round trip or two.
        assert!((10.2..10.5).contains(&gap), "{probes:?}");
    }
    // Eight phases of a round trip, which the queue of the probe lengthens.
    let cycle = 45.0 / ups.len() as f64;
    assert!((0.3..0.5).contains(&cycle), "{cycle}");
    conforms(
        Area::Control,
        "bbr1",
        "Cardwell et al. 2016, Steady-state Behavior: eight phases of a round trip; ProbeRTT after 10 s, for 200 ms",
        "probes of the round trip in 45 s, their distance; time from one probe for bandwidth to the next with 40 ms",
        &format!("4 probes, 10.2 s to 10.5 s apart; {cycle:.2} s"),
    );
}

/// Returns the mean share of the link over four seeds with so much of it lost, as a share of what the loss leaves.
fn goodput(rate: u64, delay: u64, buffer: u32, loss: f64) -> f64 {
    let share = |seed| {
        let random = SeedTree::new(seed).random();
        let rule = Loss { rule: LossRule::Bernoulli(loss), filter: PacketFilter::default(), random, count: 0 };
        let forward = lossy(link(rate, delay, QueueLimit::Packets(buffer)), vec![rule]);
        one(forward, 30).0.shares[0] * RATE as f64 / rate as f64
    };
    (1..=4).map(share).sum::<f64>() / 4.0
}

/// The reason why it was made: loss says nothing about the bandwidth.
#[test]
fn random_loss_costs_what_is_lost_and_little_more() {
    let shares = [0.0001, 0.01, 0.05, 0.1].map(|loss| goodput(RATE, 20, 100, loss));
    assert!(shares.iter().all(|share| *share > 0.85), "{shares:?}");
    let [_, percent, five, ten] = shares.map(|share| format!("{:.1} %", 100.0 * share));
    conforms(
        Area::Control,
        "bbr1",
        "Cardwell et al. 2016: \"The maximum possible throughput is the link rate times fraction delivered (= 1 − lossRate)\"",
        "share of a link of 10 Mb/s and 40 ms that is used with 1 %, 5 % and 10 % random loss, mean of 4 seeds of 30 s",
        &format!("{percent}, {five}, {ten}"),
    );
}

#[test]
fn it_works_with_each_recovery() {
    for recovery in [Recovery::Rack, Recovery::Rfc6675] {
        let (used, _) = run(path(100, 0.01, 1), &[(with(Bbr1Parameters::LINUX, recovery), bulk)], 0, 20);
        assert!(used.shares[0] > 0.9, "{recovery:?}: {used:?}");
    }
}

/// Both keep two BDP of their own estimate in flight, so that there is about one in the queue (Hock et al., ICNP 2017).
#[test]
fn two_flows_share_the_link_and_keep_a_bdp_in_the_queue() {
    let (used, _) = run(path(200, 0.0, 1), &[(bbr1(), bulk), (bbr1(), bulk)], 10, 60);
    let [first, second] = used.shares[..] else { panic!("two groups") };
    assert!(first + second > 0.95 && first > 0.3 && second > 0.3, "{used:?}");
    assert!((0.5..1.6).contains(&used.queue), "{used:?}");
}

/// A queue of half a BDP, which BBR's second one keeps full: Reno answers the losses, and it does not (Hock et al., ICNP 2017).
#[test]
fn reno_starves_beside_it_behind_a_short_queue() {
    let flows: [Flow; 2] = [(bbr1(), bulk), (reno(), bulk)];
    let (used, _) = run(path((PIPE / 2.0) as u32, 0.0, 1), &flows, 10, 60);
    assert!(used.shares[0] > 3.0 * used.shares[1] && used.shares[1] > 0.0, "{used:?}");
}

/// A video of 2 Mb/s: nothing of it waits, and the bandwidth that the start has found stays.
#[test]
fn a_video_passes_as_fast_as_it_is_written() {
    let camera = |path| -> Box<dyn SenderApp> {
        Box::new(Media::new(path, Timetable::constant(Rate::from_bits_per_second(2_000_000).expect("a rate"), 1000)))
    };
    let (used, _) = run(path(100, 0.0, 1), &[(bbr1(), camera)], 5, 30);
    assert!((used.shares[0] - 0.2 * 1.052).abs() < 0.001 && used.queue < 0.01, "{used:?}");
}

/// A film of 3 Mb/s whose retransmissions leave between its writes: Linux takes their rates for the path's, although each is of
/// few segments, so that the bandwidth falls from the link's to less than twice the film's.
#[test]
fn random_losses_lower_the_bandwidth_of_a_film() {
    let film = |path| -> Box<dyn SenderApp> {
        Box::new(Media::new(path, Timetable::constant(Rate::from_bits_per_second(3_000_000).expect("a rate"), 15_000)))
    };
    let bandwidths = [1, 2, 3, 4].map(|seed| {
        let (used, visits) = run(path(100, 0.01, seed), &[(bbr1(), film)], 20, 60);
        assert!((used.shares[0] - 0.3 * 1.052).abs() < 0.01, "{used:?}");
        visits.last_bandwidth / SEGMENT_RATE
    });
    let mean = bandwidths.iter().sum::<f64>() / 4.0;
    assert!((0.3..0.6).contains(&mean), "{bandwidths:?}");
}

/// The seed draws the phase in which the cycle starts, and nothing else does.
#[test]
fn equal_seeds_probe_at_equal_times() {
    let states = || one(path(100, 0.01, 3), 20).1.states;
    assert_eq!(states(), states());
}
