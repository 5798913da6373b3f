//! Senders and roads that nobody thought of: each setting by chance, from what the named ones have and what lies beside it.

use crate::road::{Conditions, Narrow, Reading, Writing};
use crate::senders;
use earlybird_tcp::{
    Acking, Backlog, Config, Control, Delivery, EcnMode, IpVersion, RackConfig, RealTime, ReceiveBuffer, Restart,
    RtoConfig, SendLimit, SkipResponse, WindowReduction,
};
use earlybird_units::{Duration, Random, SeedTree};

/// Returns the numbers of those that are recorded.
pub(crate) fn numbers() -> impl Iterator<Item = u64> {
    0..400
}

/// Returns the sender and the road of a number.
pub(crate) fn draw(number: u64) -> (Config, Conditions) {
    let seeds = SeedTree::new(number);
    let mut chance = seeds.child("sender").random();
    let config = std::iter::repeat_with(|| sender(&mut chance)).find(|config| config.check().is_ok());
    (config.expect("some settings go together"), road(&mut seeds.child("road").random()))
}

fn one_of<T: Copy>(chance: &mut Random, values: &[T]) -> T {
    values[chance.below(values.len() as u64) as usize]
}

/// Says yes so many times in a hundred.
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
    if is(chance, 20) { Config { real_time: real_time(chance), ..mixed } } else { mixed }
}

fn with_parts_of(chance: &mut Random, base: Config, named: &[Config]) -> Config {
    let recoveries = distinct(named.iter().map(|config| config.recovery));
    let [detection, marks, trigger, reduction] = [(); 4].map(|()| one_of(chance, named));
    Config {
        recovery: one_of(chance, &recoveries),
        trigger: trigger.trigger,
        spurious: detection.spurious,
        window_reduction: reduction.window_reduction,
        ecn: marks.ecn,
        ..base
    }
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
    let restarts = [config.restart, Restart::Progress, Restart::Duplicates];
    let reductions = [config.window_reduction, config.window_reduction, WindowReduction::Proportional];
    let timers = [config.rto, RtoConfig::NS2, RtoConfig::RFC, RtoConfig::LINUX, RtoConfig::NS2.fine_grained()];
    let racks = [
        RackConfig::RFC,
        RackConfig::LINUX,
        RackConfig {
            reordering_window: one_of(chance, &[0.0, 0.125, 1.0]),
            longest_ack_delay: ack_delay,
            follows_stream: is(chance, 50),
            ..RackConfig::RFC
        },
    ];
    let rto = one_of(chance, &timers);
    Config {
        mss,
        segmentation: one_of(chance, &[config.segmentation, Config::ns2().segmentation, Config::rfc().segmentation]),
        ip: one_of(chance, &[IpVersion::V4, IpVersion::V4, IpVersion::V6]),
        nagle: is(chance, 25),
        finds_black_holes: flips(chance, config.finds_black_holes),
        unsent_limit: one_of(chance, &[None, None, Some(u64::from(mss) * 3)]),
        window: one_of(chance, &[1, 3, 8, 30, 200]),
        receive_buffer: one_of(chance, &buffers),
        initial_window: one_of(chance, &[1, 2, 4, 10]),
        bounded_ssthresh: flips(chance, config.bounded_ssthresh),
        limited_transmit: flips(chance, config.limited_transmit),
        holds_new_data: flips(chance, config.holds_new_data),
        precise_halving: flips(chance, config.precise_halving),
        timestamps: flips(chance, config.timestamps),
        sack_blocks: one_of(chance, &[0, 1, 2, 3, 4]),
        duplicate_sack: flips(chance, config.duplicate_sack),
        ecn: one_of(chance, &[config.ecn, config.ecn, EcnMode::Classic, EcnMode::Accurate]),
        acking: one_of(chance, &ackings),
        control: with_other_control(chance, config.control),
        grows_only_when_used: flips(chance, config.grows_only_when_used),
        counts_segments: flips(chance, config.counts_segments),
        restarts_after_idle: flips(chance, config.restarts_after_idle),
        paces: flips(chance, config.paces),
        window_reduction: one_of(chance, &reductions),
        rack: one_of(chance, &racks),
        rto: if is(chance, 30) { RtoConfig { floor, ..rto } } else { rto },
        restart: one_of(chance, &restarts),
        keeps_idle_timer: flips(chance, config.keeps_idle_timer),
        ..config
    }
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
        SendLimit::Unlimited,
        SendLimit::Segments(1 + chance.below(30) as u32),
        SendLimit::Window { per_window: 1.0, extra: chance.below(4) as u32 },
    ];
    let limit = one_of(chance, &limits);
    let patience = millis(chance, 800);
    let backlogs = [
        Backlog::Block(limit),
        Backlog::DiscardOldest(limit),
        Backlog::DiscardPastDeadline(patience),
        Backlog::DiscardHopeless(patience),
    ];
    let deliveries = [Delivery::InOrder, Delivery::SkipWhenWaiting, Delivery::SkipAtDeadline(millis(chance, 800))];
    RealTime {
        delivery: one_of(chance, &deliveries),
        backlog: one_of(chance, &backlogs),
        framing: is(chance, 75),
        skip_notice: is(chance, 75),
        skip_response: one_of(chance, &[SkipResponse::None, SkipResponse::Reduce]),
        never_retransmits: is(chance, 20),
        replaces_after: None,
    }
}

/// A little of this and much of that; little passes, so that many may be tried.
fn road(chance: &mut Random) -> Conditions {
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
    let narrow = Narrow { from: millis(chance, 1500), most: one_of(chance, &[90, 400, 900]), tells: is(chance, 50) };
    Conditions {
        service: Duration::from_micros(one_of(chance, &[200, 2000, 8000])),
        queue: one_of(chance, &[3, 10, 40, 200]),
        delay: millis(chance, 120),
        lost: share(chance, 150),
        acks_lost: share(chance, 500),
        late: share(chance, 150),
        repeated: share(chance, 60),
        marks_from: is(chance, 30).then(|| chance.below(12) as usize),
        silence: span(chance, 20),
        narrow: is(chance, 15).then_some(narrow),
        squeezed: span(chance, 15),
        answers: one_of(chance, &[0, 0, 1, 700, 4000]),
        opens_fast: is(chance, 15),
        seed: chance.below(1 << 32),
        writing: one_of(chance, &writings),
        reading: one_of(chance, &readings),
    }
}
