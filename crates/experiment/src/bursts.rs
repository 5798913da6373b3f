//! The delay that single bursts of losses cause to a media flow, and TCP's reaction to each ("Receiver Playout Buffer Requirement
//! for TCP Video Streaming in the presence of Burst Packet Drops", the burst-loss paper).

mod isolated_burst;
mod tables;

pub(crate) use isolated_burst::isolated_burst;
pub(crate) use tables::{summary, table};

use crate::media::Delivery;
use crate::plan::Plan;
use crate::recorder::{FlowRecord, LossReaction, Recorder};
use earlybird_scenario::{Application, Bursts};
use earlybird_sim::Carrier;
use earlybird_tcp::{RtoConfig, RtoRule};
use earlybird_units::{Duration, Instant};

/// Reactions this soon after the last late unit still belong to its burst.
const AFTERMATH: Duration = Duration::from_millis(100);

/// The effect of one burst of losses on one flow.
#[derive(Clone, Copy, Debug)]
struct Burst {
    /// The first late unit is written …
    start: Instant,
    /// … and the last one delivered.
    end: Instant,
    longest: f64,
    late: u64,
    affected: u64,
    fast_retransmits: u32,
    timeouts: u32,
    expired: Duration,
    begins_with_timeout: bool,
}

/// The way in which TCP recovered from a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// One fast retransmit.
    Fr,
    /// Several, one after the other.
    Dr,
    /// Fast retransmits, then timeouts.
    DrTo,
    /// Timeouts first: one (phase I) or several (phase II).
    To,
    /// None of these.
    Other,
}

/// The properties of a flow's path in the paper's equations.
#[derive(Clone, Copy, Debug)]
struct Path {
    rtt: f64,
    /// Time between two units.
    period: f64,
    /// The RTO after many samples of this round-trip time.
    timeout: f64,
}

/// The bursts of one media flow.
#[derive(Clone, Debug)]
struct FlowBursts {
    flow: String,
    path: Path,
    /// The smallest delay of a unit.
    base: f64,
    bursts: Vec<Burst>,
}

impl Mode {
    const ALL: [Self; 5] = [Self::Dr, Self::DrTo, Self::Fr, Self::To, Self::Other];

    const fn name(self) -> &'static str {
        match self {
            Self::Fr => "FR",
            Self::Dr => "DR",
            Self::DrTo => "DRTO",
            Self::To => "TO",
            Self::Other => "other",
        }
    }
}

impl Burst {
    const fn mode(&self) -> Mode {
        match (self.fast_retransmits, self.timeouts) {
            (0, 0) => Mode::Other,
            // The paper's TO mode: the burst took the whole window, so that there were no duplicate ACKs.
            _ if self.begins_with_timeout => Mode::To,
            (1, 0) => Mode::Fr,
            (_, 0) => Mode::Dr,
            _ => Mode::DrTo,
        }
    }

    fn label(&self) -> String {
        let phase = match (self.mode(), self.timeouts) {
            (Mode::To, 1) => "-I",
            (Mode::To, _) => "-II",
            _ => "",
        };
        format!("{}{phase}", self.mode().name())
    }

    /// Returns the delay by the paper's equations: half a round trip, and 3·t + RTT for each of up to two fast retransmits, and the
    /// timeouts, each twice as long as the previous one.
    fn expected(&self, path: &Path) -> f64 {
        let waits: f64 = (0..self.timeouts).map(|expiry| path.timeout * f64::from(expiry).exp2()).sum();
        self.without_waits(path) + waits
    }

    /// Returns the same with the lengths that the expired timers had.
    fn expected_as_expired(&self, path: &Path) -> f64 {
        self.without_waits(path) + self.expired.as_secs_f64()
    }

    fn without_waits(&self, path: &Path) -> f64 {
        let repairs = match self.mode() {
            Mode::Fr => 1.0,
            Mode::Dr | Mode::DrTo => 2.0,
            Mode::To | Mode::Other => 0.0,
        };
        path.rtt / 2.0 + repairs * (3.0 * path.period + path.rtt)
    }
}

impl Path {
    fn of(plan: &Plan, flow: usize) -> Option<Self> {
        let rtt = plan.round_trip(flow)?;
        let group = &plan.groups[plan.flows[flow].group];
        let timeout = match &group.carrier {
            Carrier::Tcp(settings) => settled_timeout(&settings.opener.timers.rto, rtt).as_secs_f64(),
            Carrier::Datagrams(_) | Carrier::External(_) => f64::NAN,
        };
        Some(Self { rtt: rtt.as_secs_f64(), period: period_of(&group.flow.application), timeout })
    }
}

/// Returns the timeout after many equal round trips: a whole tick more than what a tick clock reads, or than the round trip.
fn settled_timeout(timer: &RtoConfig, rtt: Duration) -> Duration {
    // A coarse clock reads one tick more than elapsed, and the rule adds one tick for the variance.
    let ticks = rtt.as_nanos() / timer.tick.as_nanos() + 2;
    let settled = if timer.rule == RtoRule::Coarse { timer.tick * ticks } else { rtt + timer.tick };
    settled.max(timer.floor)
}

/// Returns the mean time between two units in seconds.
fn period_of(application: &Application) -> f64 {
    match application {
        Application::Cbr(cbr) => {
            let by_rate = || f64::from(cbr.packet) * 8.0 / cbr.rate.rate().bits_per_second() as f64;
            cbr.interval.unwrap_or_else(by_rate)
        }
        Application::Media(media) => media.length / media.sizes.len() as f64,
        _ => f64::NAN,
    }
}

/// Returns the bursts of every media flow.
fn all(plan: &Plan, recorder: &Recorder, settings: &Bursts) -> Vec<FlowBursts> {
    let flows = recorder.flows.iter().enumerate();
    flows.filter_map(|(index, record)| bursts_of(index, record, plan, settings)).collect()
}

fn bursts_of(index: usize, record: &FlowRecord, plan: &Plan, settings: &Bursts) -> Option<FlowBursts> {
    let path = Path::of(plan, index)?;
    let units: Vec<Unit> = units(record, plan)?.collect();
    // The smallest delay is that of a unit that found no queue and no loss.
    let base = units.iter().map(|unit| unit.delay).min()?;
    let bearable = base + Duration::from_secs_f64(path.period);
    // A late unit is one that waited for a recovery: above the base delay by the tolerance.
    let late: Vec<Unit> = units.into_iter().filter(|unit| unit.delay > base + settings.tolerance.duration()).collect();
    // Late units with a short gap between them belong to one burst.
    let clusters = late.chunk_by(|one, next| next.number - one.number <= settings.pause);
    // The scenario limits how many bursts are evaluated.
    let most = settings.count.map_or(usize::MAX, |count| count as usize);
    let bursts = clusters.map(|late| burst(late, record, bearable)).take(most).collect();
    Some(FlowBursts { flow: plan.flows[index].name.clone(), path, base: base.as_secs_f64(), bursts })
}

/// A unit of media that was written after the warm-up.
#[derive(Clone, Copy, Debug)]
struct Unit {
    number: u64,
    written: Instant,
    delivered: Instant,
    delay: Duration,
}

fn units(record: &FlowRecord, plan: &Plan) -> Option<impl Iterator<Item = Unit>> {
    let deliveries = record.media.as_ref()?.deliveries.as_ref()?;
    let (warm_up, end) = (plan.warm_up, plan.end);
    let unit = move |(number, delivery): (u64, &Delivery)| {
        let delivered = delivery.delivered.unwrap_or(end);
        Unit { number, written: delivery.written, delivered, delay: delivered - delivery.written }
    };
    Some((0..).zip(deliveries).map(unit).filter(move |unit| unit.written >= warm_up))
}

fn burst(late: &[Unit], record: &FlowRecord, bearable: Duration) -> Burst {
    let (start, end) = (late[0].written, late[late.len() - 1].delivered);
    let longest = late.iter().map(|unit| unit.delay).max().unwrap_or_default();
    let loss_reactions =
        || record.loss_reactions.iter().filter(|(at, _)| (start..end + AFTERMATH).contains(at)).map(|(_, cut)| *cut);
    let timers =
        || loss_reactions().filter_map(|cut| if let LossReaction::Timeout(timer) = cut { Some(timer) } else { None });
    Burst {
        start,
        end,
        longest: longest.as_secs_f64(),
        late: late.len() as u64,
        affected: late.iter().filter(|unit| unit.delay > bearable).count() as u64,
        fast_retransmits: (loss_reactions().count() - timers().count()) as u32,
        timeouts: timers().count() as u32,
        expired: timers().fold(Duration::ZERO, |sum, timer| sum + timer),
        // Only the first reaction decides the mode, as in the paper.
        begins_with_timeout: matches!(loss_reactions().next(), Some(LossReaction::Timeout(_))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    fn burst(fast_retransmits: u32, timeouts: u32, begins_with_timeout: bool) -> Burst {
        Burst {
            start: Instant::ZERO,
            end: Instant::ZERO,
            longest: 0.0,
            late: 1,
            affected: 1,
            fast_retransmits,
            timeouts,
            expired: Duration::ZERO,
            begins_with_timeout,
        }
    }

    #[test]
    fn modes_follow_what_came_first_and_how_often() {
        let labels = [(1, 0, false), (2, 0, false), (2, 1, false), (1, 1, true), (0, 3, true), (0, 0, false)]
            .map(|(repairs, timeouts, first)| burst(repairs, timeouts, first).label());
        assert_eq!(labels, ["FR", "DR", "DRTO", "TO-I", "TO-II", "other"]);
    }

    /// The expressions for 30 frames per second and a timeout of 200 ms, in milliseconds.
    #[test]
    fn expected_delays_are_those_of_the_papers_expressions() {
        let expected = |rtt: f64, burst: Burst| {
            let path = Path { rtt, period: 1.0 / 30.0, timeout: 0.2 };
            (1e3 * burst.expected(&path)).round() as u64
        };
        for (rtt, values) in [(0.02, [130, 250, 450, 210]), (0.1, [250, 450, 650, 250])] {
            let bursts = [burst(1, 0, false), burst(2, 0, false), burst(2, 1, false), burst(0, 1, true)];
            assert_eq!(bursts.map(|burst| expected(rtt, burst)), values);
        }
        assert_eq!(expected(0.1, burst(0, 3, true)), 1450);
        conforms(
            Area::Recovery,
            "delay of a burst of losses",
            "burst-loss paper, equations (1) to (4)",
            "four modes at 20 and 100 ms",
            "9 of 9 agree to 1 ms",
        );
    }

    #[test]
    fn a_settled_timer_is_two_ticks_above_a_round_trip_of_whole_ticks() {
        let [coarse, fine] = [RtoConfig::NS2, RtoConfig { floor: Duration::ZERO, ..RtoConfig::RFC }]
            .map(|timer| settled_timeout(&timer, Duration::from_millis(200)));
        assert_eq!((coarse, fine), (Duration::from_millis(220), Duration::from_millis(201)));
        assert_eq!(settled_timeout(&RtoConfig::NS2, Duration::from_millis(20)), Duration::from_millis(200));
    }
}
