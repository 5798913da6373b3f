//! Runs both implementations of PERT side by side.

use earlybird_kernel::parameters::{ONE, Parameters};
use earlybird_kernel::program::load_replay;
use earlybird_tcp::{Config, CongestionControl, Control, Cx, Flight, PertFlags, Progress};
use earlybird_units::{Duration, Instant, Random, SeedTree};
use libbpf_rs::{Object, ProgramInput};
use std::fmt;

/// Linux's slow-start threshold before the first loss (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;
const INITIAL_WINDOW: f64 = 10.0;

/// The largest differences between both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Differences {
    pub(crate) window: f64,
    pub(crate) alpha: f64,
    pub(crate) probability: f64,
    /// In ns.
    pub(crate) queueing: u64,
    /// The number of different slow-start thresholds.
    pub(crate) thresholds: u32,
    /// Total samples and early responses.
    pub(crate) steps: u64,
    pub(crate) responses: u64,
    /// The largest window.
    pub(crate) largest: f64,
}

impl Differences {
    pub(crate) fn most(self, other: Self) -> Self {
        Self {
            window: self.window.max(other.window),
            alpha: self.alpha.max(other.alpha),
            probability: self.probability.max(other.probability),
            queueing: self.queueing.max(other.queueing),
            thresholds: self.thresholds + other.thresholds,
            steps: self.steps + other.steps,
            responses: self.responses + other.responses,
            largest: self.largest.max(other.largest),
        }
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { window, alpha, probability, queueing, thresholds, steps, responses, largest } = self;
        write!(
            formatter,
            "{steps} samples, {responses} early responses, windows up to {largest:.0}: window {window:.1e}, alpha {alpha:.1e}, \
             probability {probability:.1e}, q {queueing} ns, {thresholds} thresholds"
        )
    }
}

/// Input and output of the eBPF program (`struct replay_step` of `bpf/replay.h`).
#[derive(Clone, Copy, Default)]
struct UndoStep {
    kind: u32,
    now: u64,
    rtt: u64,
    una: u32,
    nxt: u32,
    acked: u32,
    growth: u32,
    draw: u32,
    cwnd: u64,
    ssthresh: u64,
}

const START: u32 = 0;
const ACK: u32 = 1;
const LOSS: u32 = 2;
const TIMEOUT: u32 = 3;

impl UndoStep {
    fn bytes(&self) -> Vec<u8> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>();
        let longs = |longs: &[u64]| longs.iter().flat_map(|long| long.to_ne_bytes()).collect::<Vec<_>>();
        [
            words(&[self.kind, 0]),
            longs(&[self.now, self.rtt]),
            words(&[self.una, self.nxt, self.acked, self.growth, self.draw, 0]),
            longs(&[self.cwnd, self.ssthresh, 0, 0, 0, 0]),
        ]
        .concat()
    }
}

/// The state after a step.
struct State {
    cwnd: f64,
    ssthresh: u64,
    probability: f64,
    alpha: f64,
    queueing: u64,
}

impl State {
    fn of(bytes: &[u8]) -> Self {
        let long = |place: usize| u64::from_ne_bytes(bytes[place..place + 8].try_into().expect("eight bytes"));
        let real = |place| long(place) as f64 / ONE;
        Self { cwnd: real(48), ssthresh: long(56), probability: real(64), alpha: real(72), queueing: long(80) }
    }
}

/// Both implementations, each with its own window.
pub(crate) struct Twins {
    kernel: Object,
    endpoint: Box<dyn CongestionControl>,
    is_guarded: bool,
    draws: Random,
    mark: u64,
    now: Instant,
    una: u64,
    pub(crate) differences: Differences,
}

impl Twins {
    pub(crate) fn new(flags: PertFlags, seed: u64) -> Self {
        let config = Config::linux().with_control(Control::Pert(flags)).with_max_window(u32::MAX);
        let setup = config.control_setup(SeedTree::new(seed));
        let kernel = load_replay(&Parameters::from(flags)).expect("the kernel takes it");
        let mut endpoint = config.control.factory().build(&setup);
        endpoint.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, INITIAL_WINDOW);
        let twins = Self {
            kernel,
            endpoint,
            is_guarded: flags.is_guarded,
            draws: setup.seeds.child("pert").random(),
            mark: 0,
            now: Instant::ZERO,
            una: 0,
            differences: Differences::default(),
        };
        let start = (INITIAL_WINDOW * ONE) as u64;
        twins.kernel_step(&UndoStep { kind: START, cwnd: start, ssthresh: NO_THRESHOLD.into(), ..UndoStep::default() });
        twins
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.endpoint.cwnd()
    }

    fn kernel_step(&self, step: &UndoStep) -> State {
        let mut bytes = step.bytes();
        let program = self.kernel.progs_mut().find(|program| program.name() == "pert_replay").expect("it is there");
        program.test_run(ProgramInput { context_in: Some(&mut bytes), ..ProgramInput::default() }).expect("it runs");
        State::of(&bytes)
    }

    /// Processes an ACK that arrives `after` the last one, of a sender that fills its window.
    pub(crate) fn ack(&mut self, after: Duration, rtt: Option<Duration>, acked: u32, growth: u32) {
        let una = self.una + u64::from(acked);
        let nxt = una + self.cwnd() as u64;
        self.take(&Ack { now: self.now + after, rtt, una, nxt, acked, growth });
    }

    /// Processes an ACK.
    pub(crate) fn take(&mut self, ack: &Ack) {
        let &Ack { now, rtt, una, nxt, acked, growth } = ack;
        (self.now, self.una) = (now, una);
        let mut ahead = self.draws.clone();
        let step = UndoStep {
            kind: ACK,
            now: self.now.as_nanos(),
            rtt: rtt.map_or(0, Duration::as_nanos),
            una: self.una as u32,
            nxt: nxt as u32,
            acked,
            growth,
            draw: (ahead.unit() * ONE) as u32,
            ..UndoStep::default()
        };
        let was_slow_start = self.cwnd() < self.endpoint.ssthresh();
        let responses = self.endpoint.gauges().early_responses;
        let mut progress = Progress::new(acked.into(), self.cwnd() as u64, rtt);
        (progress.una, progress.nxt, progress.snd_max, progress.growth) = (self.una, nxt, nxt, growth.into());
        self.endpoint.on_progress(&mut Cx { now: self.now, trace: &mut () }, &progress);
        let state = self.kernel_step(&step);
        // The endpoint draws a random number only if a response is possible.
        let may_respond = self.una > self.mark || !self.is_guarded;
        if !was_slow_start && may_respond && self.endpoint.gauges().probability > Some(0.0) {
            self.draws = ahead;
        }
        if self.endpoint.gauges().early_responses > responses {
            self.mark = nxt;
            self.differences.responses += 1;
        }
        self.differences.steps += 1;
        self.compare(&state);
    }

    pub(crate) fn lose(&mut self) {
        self.endpoint.on_loss(&mut Cx { now: self.now, trace: &mut () }, &Flight::new(1));
        let state = self.kernel_step(&UndoStep { kind: LOSS, ..UndoStep::default() });
        self.compare(&state);
    }

    pub(crate) fn time_out(&mut self) {
        self.endpoint.on_timeout(&mut Cx { now: self.now, trace: &mut () }, &Flight::new(1));
        let state = self.kernel_step(&UndoStep { kind: TIMEOUT, ..UndoStep::default() });
        self.compare(&state);
    }

    fn compare(&mut self, state: &State) {
        let (endpoint, gauges) = (&self.endpoint, self.endpoint.gauges());
        let worst = &mut self.differences;
        let ssthresh = endpoint.ssthresh().min(NO_THRESHOLD.into());
        worst.window = worst.window.max((endpoint.cwnd() - state.cwnd).abs());
        worst.alpha = worst.alpha.max((gauges.alpha.expect("PERT has it") - state.alpha).abs());
        worst.probability = worst.probability.max((gauges.probability.expect("PERT has it") - state.probability).abs());
        worst.queueing =
            worst.queueing.max(gauges.queueing_delay.expect("PERT has it").as_nanos().abs_diff(state.queueing));
        worst.thresholds += u32::from(ssthresh as u64 != state.ssthresh);
        worst.largest = worst.largest.max(endpoint.cwnd());
    }
}

/// An ACK that advances `snd_una` (`struct ack` of `bpf/window.h`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) now: Instant,
    pub(crate) rtt: Option<Duration>,
    /// In arbitrary units: only their order matters.
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) acked: u32,
    pub(crate) growth: u32,
}

/// A sequence of events for both: a queue that grows and shrinks, and losses.
pub(crate) struct Sequence {
    pub(crate) steps: u64,
    /// The range of RTTs, in µs.
    pub(crate) shortest: u64,
    pub(crate) longest: u64,
    /// One ACK in so many reports a loss or follows a timeout.
    pub(crate) losses: u64,
    pub(crate) timeouts: u64,
}

/// Windows above this cause a loss, as every network is finite.
const ROOM: f64 = 3000.0;

impl Sequence {
    pub(crate) fn run(&self, twins: &mut Twins, seed: u64) -> Differences {
        let mut random = SeedTree::new(seed).child("network").random();
        // Half of the paths have a queue of some ms, the range of PERT; the others any.
        let base = self.shortest + random.below((self.longest - self.shortest) / 2);
        let span = if random.below(2) == 0 { 60_000.min(self.longest - base) } else { self.longest - base };
        let mut queue = 0;
        for _ in 0..self.steps {
            let step = 1 + span / 20;
            queue = (queue + random.below(2 * step)).saturating_sub(step).min(span);
            let rtt = Duration::from_micros(base + queue);
            let is_measured = random.below(20) > 0;
            let acked = 1 + random.below(4) as u32;
            let growth = if random.below(10) == 0 { 0 } else { acked };
            let after = rtt.mul_f64(f64::from(acked) / twins.cwnd().max(1.0));
            twins.ack(after, is_measured.then_some(rtt), acked, growth);
            if random.below(self.losses) == 0 && self.losses < u64::MAX || twins.cwnd() > ROOM {
                twins.lose();
            }
            if self.timeouts < u64::MAX && random.below(self.timeouts) == 0 {
                twins.time_out();
            }
        }
        twins.differences
    }
}

/// Replays a recorded connection: lines of `event,now,rtt,una,nxt,acked,growth`; see `recorded/README.md`.
pub(crate) fn replay(recorded: &str, twins: &mut Twins) -> Differences {
    for line in recorded.lines().skip(1) {
        let (event, numbers) = line.split_once(',').expect("an event and numbers");
        match event {
            "loss" => twins.lose(),
            "timeout" => twins.time_out(),
            _ => twins.take(&recorded_ack(numbers)),
        }
    }
    twins.differences
}

fn recorded_ack(numbers: &str) -> Ack {
    let numbers: Vec<u64> = numbers.split(',').map(|number| number.parse().expect("a number")).collect();
    let &[now, rtt, una, nxt, acked, growth] = &numbers[..] else { panic!("six numbers: {numbers:?}") };
    let rtt = Some(Duration::from_nanos(rtt)).filter(|&rtt| rtt > Duration::ZERO);
    Ack { now: Instant::from_nanos(now), rtt, una, nxt, acked: acked as u32, growth: growth as u32 }
}
