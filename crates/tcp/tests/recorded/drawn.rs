//! Senders and paths that nobody thought of: each setting by chance, from what the named ones have and what lies beside it.

use crate::path::{Conditions, Narrow, Reading, Writing};
use crate::senders;
use earlybird_tcp::{
    Acking, Backlog, Config, Control, Delivery, Dsack, EcnMode, IdleRto, InitialSsthresh, IpVersion, RackConfig,
    RealTime, ReceiveBuffer, RtoConfig, RtoRestart, SendBufferLimit, SkipResponse, WindowReduction,
};
use earlybird_units::{Duration, Random, SeedTree};

/// Returns the numbers of those that are recorded.
pub(crate) fn numbers() -> impl Iterator<Item = u64> {
    0..400
}

/// Returns the sender and the path of a number.
pub(crate) fn draw(number: u64) -> (Config, Conditions) {
    let seeds = SeedTree::new(number);
    let mut chance = seeds.child("sender").random();
    let config = std::iter::repeat_with(|| sender(&mut chance)).find(|config| config.check().is_ok());
    (config.expect("some settings go together"), path(&mut seeds.child("road").random()))
}

fn one_of<T: Copy>(chance: &mut Random, values: &[T]) -> T {
    values[chance.below(values.len() as u64) as usize]
}

/// Returns `true` with this probability in percent.
fn is(chance: &mut Random, percent: u64) -> bool {
    chance.below(100) < percent
}

fn millis(chance: &mut Random, most: u64) -> Duration {
    Duration::from_millis(1 + chance.below(most))
}

/// Returns each value once.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut known, value| {
        if !known.contains(&value) {
            known.push(value);
        }
        known
    })
}

/// Half of them are a named sender in its main parts; of the others each part is another's. All controls are as frequent.
fn sender(chance: &mut Random) -> Config {
    let named: Vec<Config> = senders::all().into_iter().map(|(_, config)| config).collect();
    let control = one_of(chance, &distinct(named.iter().map(|config| config.control)));
    let those: Vec<Config> = named.iter().copied().filter(|config| config.control == control).collect();
    let base = one_of(chance, &those);
    let mixed = if is(chance, 50) { base } else { with_parts_of(chance, base, &named) };
    let mixed = if is(chance, 60) { with_other_details(chance, mixed) } else { mixed };
    if is(chance, 20) { mixed.with_real_time(real_time(chance)) } else { mixed }
}

fn with_parts_of(chance: &mut Random, base: Config, named: &[Config]) -> Config {
    let recoveries = distinct(named.iter().map(|config| config.recovery.scheme));
    let [detection, marks, trigger, reduction] = [(); 4].map(|()| one_of(chance, named));
    base.with_recovery_only(one_of(chance, &recoveries))
        .with_dupthresh(trigger.recovery.dupthresh)
        .with_spurious(detection.recovery.spurious)
        .with_window_reduction(reduction.recovery.window_reduction)
        .with_ecn(marks.ecn)
}

fn with_other_details(chance: &mut Random, config: Config) -> Config {
    let mss = one_of(chance, &[100, 536, 1000, 1460]);
    let flips = |chance: &mut Random, value: bool| value ^ is(chance, 25);
    let [delay, floor, ack_delay] = [100, 500, 300].map(|most| millis(chance, most));
    let ackings = [Acking::EverySegment, Acking::SecondSegment(delay), Acking::Delayed(delay), Acking::Adaptive];
    let buffers = [
        ReceiveBuffer::LikeWindow,
        ReceiveBuffer::Fixed(u64::from(mss) * (2 + chance.below(60))),
        ReceiveBuffer::Tuned { initial: u64::from(mss) * (2 + chance.below(8)), largest: 200 * u64::from(mss) },
    ];
    let restarts = [config.timers.restart, RtoRestart::Progress, RtoRestart::Duplicates];
    let reductions =
        [config.recovery.window_reduction, config.recovery.window_reduction, WindowReduction::Proportional];
    let timers = [config.timers.rto, RtoConfig::NS2, RtoConfig::RFC, RtoConfig::LINUX, RtoConfig::NS2.fine_grained()];
    let racks = [
        RackConfig::RFC,
        RackConfig::LINUX,
        RackConfig {
            reordering_window: one_of(chance, &[0.0, 0.125, 1.0]),
            longest_ack_delay: ack_delay,
            rtt_from_highest_delivered: is(chance, 50),
            ..RackConfig::RFC
        },
    ];
    let rto = one_of(chance, &timers);
    config
        .with_mss(mss)
        .with_segmentation(one_of(
            chance,
            &[config.segments.segmentation, Config::ns2().segments.segmentation, Config::rfc().segments.segmentation],
        ))
        .with_ip(one_of(chance, &[IpVersion::V4, IpVersion::V4, IpVersion::V6]))
        .with_nagle(is(chance, 25))
        .with_pmtu_black_hole_detection(flips(chance, config.segments.pmtu_black_hole_detection))
        .with_unsent_limit(one_of(chance, &[None, None, Some(u64::from(mss) * 3)]))
        .with_max_window(one_of(chance, &[1, 3, 8, 30, 200]))
        .with_receive_buffer(one_of(chance, &buffers))
        .with_initial_window(one_of(chance, &[1, 2, 4, 10]))
        .with_initial_ssthresh(if flips(chance, config.window.initial_ssthresh == InitialSsthresh::MaxWindow) {
            InitialSsthresh::MaxWindow
        } else {
            InitialSsthresh::Unbounded
        })
        .with_limited_transmit(flips(chance, config.recovery.limited_transmit))
        .with_sack1_hold_new_data(flips(chance, config.recovery.sack1_hold_new_data))
        .with_precise_halving(flips(chance, config.window.precise_halving))
        .with_timestamps(flips(chance, config.timestamps.enabled))
        .with_sack_blocks(one_of(chance, &[0, 1, 2, 3, 4]))
        .with_dsack(if flips(chance, config.acks.dsack != Dsack::Off) { Dsack::Data } else { Dsack::Off })
        .with_ecn(one_of(chance, &[config.ecn, config.ecn, EcnMode::Classic, EcnMode::Accurate]))
        .with_acking(one_of(chance, &ackings))
        .with_control_only(with_other_control(chance, config.control))
        .with_cwnd_validation(flips(chance, config.growth.cwnd_validation))
        .with_byte_counting(flips(chance, config.growth.byte_counting))
        .with_slow_start_after_idle(flips(chance, config.growth.slow_start_after_idle))
        .with_pacing(flips(chance, config.pacing))
        .with_window_reduction(one_of(chance, &reductions))
        .with_rack(one_of(chance, &racks))
        .with_rto(if is(chance, 30) { RtoConfig { floor, ..rto } } else { rto })
        .with_rto_restart(one_of(chance, &restarts))
        .with_idle_rto(if flips(chance, config.timers.idle == IdleRto::Keep) { IdleRto::Keep } else { IdleRto::Stop })
}

fn with_other_control(chance: &mut Random, control: Control) -> Control {
    match control {
        Control::Pert(flags) if is(chance, 50) => {
            let others: Vec<_> = senders::all()
                .into_iter()
                .filter_map(|(_, config)| if let Control::Pert(flags) = config.control { Some(flags) } else { None })
                .collect();
            let [second, third, fourth] = [(); 3].map(|()| one_of(chance, &others));
            Control::Pert(earlybird_tcp::PertFlags {
                is_adaptive: second.is_adaptive,
                max_delay: third.max_delay,
                curve_tail: second.curve_tail,
                alpha: fourth.alpha,
                growth_on_response: is(chance, 50),
                ..flags
            })
        }
        Control::Cubic(cubic) => {
            Control::Cubic(earlybird_tcp::CubicConfig { fast_convergence: is(chance, 50), ..cubic })
        }
        other => other,
    }
}

fn real_time(chance: &mut Random) -> RealTime {
    let limits = [
        SendBufferLimit::Unlimited,
        SendBufferLimit::Segments(1 + chance.below(30) as u32),
        SendBufferLimit::Window { per_window: 1.0, extra: chance.below(4) as u32 },
    ];
    let limit = one_of(chance, &limits);
    let patience = millis(chance, 800);
    let backlogs = [
        Backlog::Block(limit),
        Backlog::AbandonOldest(limit),
        Backlog::AbandonPastDeadline(patience),
        Backlog::AbandonUndeliverable(patience),
    ];
    let deliveries = [Delivery::InOrder, Delivery::SkipWhenWaiting, Delivery::SkipAtDeadline(millis(chance, 800))];
    RealTime {
        delivery: one_of(chance, &deliveries),
        backlog: one_of(chance, &backlogs),
        framing: is(chance, 75),
        skip_notice: is(chance, 75),
        abandoned_stay_in_flight: true,
        skip_response: one_of(chance, &[SkipResponse::None, SkipResponse::Reduce]),
        never_retransmits: is(chance, 20),
        replaces_after: None,
    }
}

/// A little of this and much of that; little passes, so that many may be tried.
fn path(chance: &mut Random) -> Conditions {
    let share = |chance: &mut Random, most: u64| if is(chance, 40) { chance.below(most) } else { 0 };
    let span = |chance: &mut Random, percent| {
        let from = millis(chance, 1500);
        is(chance, percent).then(|| (from, from + millis(chance, 2500)))
    };
    let writings = [
        Writing::Bulk { segments: 20 + chance.below(150) },
        Writing::Bursts { bytes: 1 + chance.below(4000), period: millis(chance, 150), count: 40 },
        Writing::Bursts { bytes: 5000 + chance.below(40_000), period: millis(chance, 1200), count: 6 },
    ];
    let readings = [
        Reading::AtOnce,
        Reading::AtOnce,
        Reading::Slowly { bytes: 1 + chance.below(30_000), period: millis(chance, 900) },
    ];
    let narrow =
        Narrow { from: millis(chance, 1500), most: one_of(chance, &[90, 400, 900]), sends_icmp: is(chance, 50) };
    Conditions {
        service: Duration::from_micros(one_of(chance, &[200, 2000, 8000])),
        queue: one_of(chance, &[3, 10, 40, 200]),
        delay: millis(chance, 120),
        lost: share(chance, 150),
        acks_lost: share(chance, 500),
        late: share(chance, 150),
        repeated: share(chance, 60),
        marks_from: is(chance, 30).then(|| chance.below(12) as usize),
        outage: span(chance, 20),
        narrow: is(chance, 15).then_some(narrow),
        squeezed: span(chance, 15),
        answers: one_of(chance, &[0, 0, 1, 700, 4000]),
        opens_fast: is(chance, 15),
        seed: chance.below(1 << 32),
        writing: one_of(chance, &writings),
        reading: one_of(chance, &readings),
    }
}
