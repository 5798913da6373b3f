//! The measures of a run as a whole.
//!
//! Their order is that of `summary.json`, and of the columns of a sweep.

use crate::bursts;
use crate::encoder::EncoderLog;
use crate::link_measures::LinkMeasures;
use crate::link_paths::crosses;
use crate::plan::Plan;
use crate::playout::PlayoutLog;
use crate::recorder::{FlowRecord, Recorder};
use crate::table::{Summary, Value};
use earlybird_scenario::{Application, Profile, Queue, Scenario};
use earlybird_sim::{Arrivals, Link, Network};
use earlybird_units::Duration;

/// Startup delays in seconds at which the summary states the share of flows on time, if `measure.start-up-delays` has them.
const NAMED_DELAYS: [u64; 8] = [1, 2, 3, 5, 8, 10, 15, 20];

pub(crate) fn summarise(
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
    recorder: &Recorder,
    network: &Network,
) -> Summary {
    let link = plan.bottleneck_id().map(|id| network.link(id));
    let crossing = plan.groups.iter().map(|group| crosses(&plan.network, &plan.bottleneck, &group.flow)).collect();
    let flows = || recorder.flows.iter();
    let view = View {
        scenario,
        plan,
        recorder,
        link,
        bottleneck: link.map(LinkMeasures::of),
        crossing,
        media: flows().filter(|flow| flow.media.is_some()).collect(),
        viewers: flows().filter_map(|flow| flow.playout.as_ref()).collect(),
    };
    let media = view.mean_over_media();
    // `None` leaves a measure out: a mean over no media flows would be 0 / 0.
    let mut summary: Vec<(String, Option<Value>)> = vec![
        ("buffer_packets".into(), view.buffer().map(Value::Integer)),
        ("media_flows".into(), view.media_flows().map(Value::Integer)),
        ("seed".into(), Some(Value::Integer(seed))),
        ("t_over_mu".into(), view.t_over_mu().map(Value::Float)),
        ("web_mbps".into(), view.web_mbps().map(Value::Float)),
        ("drop_rate".into(), view.drop_rate().map(Value::Float)),
        ("media_drop_rate".into(), view.media_drop_rate().map(Value::Float)),
        ("bottleneck".into(), Some(Value::String(plan.bottleneck.clone()))),
        ("queue_drop_rate".into(), view.queue_drop_rate().map(Value::Float)),
        ("random_loss_rate".into(), view.random_loss_rate().map(Value::Float)),
        ("dropped_elsewhere".into(), view.dropped_elsewhere().map(Value::Integer)),
        ("mark_rate".into(), view.mark_rate().map(Value::Float)),
        ("bottleneck_packets".into(), view.of_bottleneck(|link| Value::Integer(link.total.packets_out))),
        ("utilisation".into(), view.of_bottleneck(|link| Value::Float(link.utilisation))),
        ("mean_queue_delay_ms".into(), view.of_bottleneck(|link| Value::Float(link.mean_queue_delay_ms))),
        ("queue_delay_p50_ms".into(), view.queue_delay(0)),
        ("queue_delay_p95_ms".into(), view.queue_delay(1)),
        ("queue_delay_p99_ms".into(), view.queue_delay(2)),
        ("jain_index".into(), view.jain_index().map(Value::Float)),
        ("first_group_rate_ratio".into(), view.first_group_rate_ratio().map(Value::Float)),
        ("rto_count".into(), media(&|flow| flow.statistics.timeouts as f64)),
        ("frozen_s".into(), media(&|flow| flow.statistics.frozen.as_secs_f64())),
        ("units_lost".into(), view.mean_over_viewers(|log| log.lost as f64)),
        ("lost_share".into(), view.mean_over_viewers(PlayoutLog::lost_share)),
        ("playback_delay_s".into(), view.mean_over_viewers(PlayoutLog::mean_delay)),
        ("frames_dropped_share".into(), view.mean_over_encoders(EncoderLog::dropped_share)),
        ("stalls".into(), view.mean_over_viewers(|log| log.stalls() as f64)),
        ("mean_stall_s".into(), view.mean_stall().map(Value::Float)),
        ("longest_stall_s".into(), view.longest_stall().map(Value::Float)),
        ("interarrival_stddev_ms".into(), media(&|flow| 1e3 * spacing_deviation(flow))),
    ];
    for seconds in NAMED_DELAYS {
        let share = on_time_share(recorder, Duration::from_secs(seconds));
        summary.push((format!("on_time_share_{seconds}s"), share.map(Value::Float)));
    }
    summary.extend([
        ("t_over_mu_wire".into(), view.t_over_mu_wire().map(Value::Float)),
        ("mean_freeze_s".into(), view.mean_freeze().map(Value::Float)),
        ("transport".into(), Some(Value::String(view.transport()))),
        ("profile".into(), Some(Value::String(view.profile().into()))),
        ("duration_s".into(), Some(Value::Float(scenario.duration.duration().as_secs_f64()))),
    ]);
    summary.extend(bursts::summary(scenario, plan, recorder));
    summary.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn spacing_deviation(flow: &FlowRecord) -> f64 {
    flow.media.as_ref().map_or(f64::NAN, super::media::MediaLog::spacing_deviation)
}

/// Returns the share of successful streams among those judged at this startup delay.
fn on_time_share(recorder: &Recorder, delay: Duration) -> Option<f64> {
    let rows = recorder.flows.iter().filter_map(|flow| flow.media.as_ref()).flat_map(super::media::MediaLog::lateness);
    // A flow that starts shortly before the end has no unit due at a long delay: neither on time nor late.
    let judged: Vec<bool> =
        rows.filter(|row| row.startup_delay == delay && row.due > 0).map(|row| row.is_on_time()).collect();
    let successes = judged.iter().filter(|success| **success).count();
    (!judged.is_empty()).then(|| successes as f64 / judged.len() as f64)
}

struct View<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    recorder: &'a Recorder,
    link: Option<&'a Link>,
    /// Measurements of the bottleneck.
    bottleneck: Option<LinkMeasures>,
    /// By group, whether its data cross the bottleneck.
    crossing: Vec<bool>,
    /// Flows of media.
    media: Vec<&'a FlowRecord>,
    viewers: Vec<&'a PlayoutLog>,
}

impl View<'_> {
    fn application(&self, flow: usize) -> &Application {
        &self.plan.groups[self.plan.flows[flow].group].flow.application
    }

    /// Returns the flows whose throughput is T: media and bulk transfers, all that last.
    fn lasting(&self) -> impl Iterator<Item = (usize, &FlowRecord)> {
        let flows = self.recorder.flows.iter().enumerate();
        flows.filter(|(index, _)| !self.application(*index).is_web())
    }

    /// Returns the lasting flows that cross the bottleneck: only they share it.
    fn sharing(&self) -> impl Iterator<Item = (usize, &FlowRecord)> {
        self.lasting().filter(|(index, _)| self.crossing[self.plan.flows[*index].group])
    }

    fn of_bottleneck(&self, value: impl Fn(&LinkMeasures) -> Value) -> Option<Value> {
        self.bottleneck.as_ref().map(value)
    }

    fn mean_over_media(&self) -> impl Fn(&dyn Fn(&FlowRecord) -> f64) -> Option<Value> {
        move |value| {
            let values: Vec<f64> = self.media.iter().copied().map(value).collect();
            (!values.is_empty()).then(|| Value::Float(values.iter().sum::<f64>() / values.len() as f64))
        }
    }

    /// Returns the mean length of a stall in seconds, of all viewers together; nothing without stalls.
    fn mean_stall(&self) -> Option<f64> {
        // Pooled, not a mean of means: viewers without stalls have no length.
        let stalls: u64 = self.viewers.iter().map(|log| log.stalls()).sum();
        let stalled: f64 = self.viewers.iter().map(|log| log.stalled(self.plan.end).as_secs_f64()).sum();
        (stalls > 0).then(|| stalled / stalls as f64)
    }

    /// Returns the length of the longest stall of all viewers in seconds; nothing without stalls.
    fn longest_stall(&self) -> Option<f64> {
        let longest = self.viewers.iter().filter_map(|log| log.longest_stall(self.plan.end)).max();
        longest.map(Duration::as_secs_f64)
    }

    fn mean_over_viewers(&self, value: impl Fn(&PlayoutLog) -> f64) -> Option<Value> {
        let values: Vec<f64> = self.viewers.iter().copied().map(value).collect();
        (!values.is_empty()).then(|| Value::Float(values.iter().sum::<f64>() / values.len() as f64))
    }

    fn mean_over_encoders(&self, value: impl Fn(&EncoderLog) -> f64) -> Option<Value> {
        // An encoder that has not encoded a frame would have the share 0 / 0.
        let encoders = self.recorder.flows.iter().filter_map(|flow| flow.encoder.as_ref());
        let values: Vec<f64> = encoders.filter(|log| log.coded > 0).map(value).collect();
        (!values.is_empty()).then(|| Value::Float(values.iter().sum::<f64>() / values.len() as f64))
    }

    fn buffer(&self) -> Option<u64> {
        let name = &self.plan.bottleneck;
        let queue = match &self.scenario.network {
            earlybird_scenario::Network::Dumbbell(dumbbell) => Some(dumbbell.bottleneck.queue),
            earlybird_scenario::Network::Links(links) => {
                links.iter().find(|link| link.name() == *name).map(|link| link.queue)
            }
        };
        if let Some(Queue::Packets(packets)) = queue { Some(u64::from(packets)) } else { None }
    }

    /// Returns the number of media flows, if there are as many bulk transfers.
    fn media_flows(&self) -> Option<u64> {
        // The papers' dumbbell: T/µ has no meaning if videos and files differ in number.
        let media = self.media.len();
        let bulk = self.lasting().count() - media;
        (media > 0 && media == bulk).then_some(media as u64)
    }

    /// Returns µ in bits per second: the mean rate of the media.
    fn media_rate(&self) -> Option<f64> {
        // All media flows of the papers have one rate; with several the first one defines µ.
        self.media.first()?;
        let index = self.recorder.flows.iter().position(|flow| flow.media.is_some())?;
        match self.application(index) {
            Application::Cbr(cbr) => Some(cbr.rate.rate().bits_per_second() as f64),
            Application::Media(media) => {
                Some(media.sizes.iter().map(|size| f64::from(*size)).sum::<f64>() * 8.0 / media.length)
            }
            Application::Ingest(ingest) => Some(ingest.picture_rate() + ingest.film().sound_rate()),
            Application::Segments(film) => Some(film.highest()),
            _ => None,
        }
    }

    /// Payload delivered in order by media and bulk flows since the warm-up, per flow and over the media rate.
    fn t_over_mu(&self) -> Option<f64> {
        let rate = self.media_rate()?;
        let delivered = self.sharing().map(|(_, flow)| flow.bytes_after_warm_up()).sum();
        self.per_flow_over(rate, delivered)
    }

    /// The same from the bytes that left the bottleneck, headers and retransmissions included, since the warm-up.
    fn t_over_mu_wire(&self) -> Option<f64> {
        // Counters of the link are per group, so that web traffic and the ACKs of flows in the other direction can be
        // left out.
        let groups = self.groups(|group, is_web| !is_web && self.crossing[group]);
        self.per_flow_over(self.media_rate()?, self.bytes_out(&groups)?)
    }

    /// Returns these bytes as the mean rate of a flow that shares the bottleneck, over a rate.
    fn per_flow_over(&self, rate: f64, bytes: u64) -> Option<f64> {
        let flows = self.sharing().count();
        let throughput = bytes as f64 * 8.0 / flows as f64 / self.span();
        (flows > 0).then(|| throughput / rate)
    }

    /// Returns the numbers of the groups that a condition on number and web traffic chooses.
    fn groups(&self, choose: impl Fn(usize, bool) -> bool) -> Vec<usize> {
        let is_web = |group: usize| self.plan.groups[group].flow.application.is_web();
        (0..self.plan.groups.len()).filter(|group| choose(*group, is_web(*group))).collect()
    }

    /// Returns the bytes of these groups that left the bottleneck in the measured interval.
    fn bytes_out(&self, groups: &[usize]) -> Option<u64> {
        let link = self.bottleneck.as_ref()?;
        Some(groups.iter().map(|group| link.groups[*group].bytes_out).sum())
    }

    /// Returns the length of the measured interval in seconds.
    fn span(&self) -> f64 {
        self.scenario.duration.duration().saturating_sub(self.scenario.measure.warm_up.duration()).as_secs_f64()
    }

    fn web_mbps(&self) -> Option<f64> {
        let groups = self.groups(|_, is_web| is_web);
        let bytes = self.bytes_out(&groups).filter(|_| !groups.is_empty())?;
        Some(bytes as f64 * 8.0 / self.span() / 1e6)
    }

    /// Returns the mean rate of the first group's flows over that of all flows that share the bottleneck, if there are
    /// others.
    fn first_group_rate_ratio(&self) -> Option<f64> {
        let (first, others): (Vec<_>, Vec<_>) =
            self.sharing().partition(|(index, _)| self.plan.flows[*index].group == 0);
        let delivered =
            |flows: &[(usize, &FlowRecord)]| -> u64 { flows.iter().map(|(_, flow)| flow.bytes_after_warm_up()).sum() };
        let (of_first, of_others) = (delivered(&first), delivered(&others));
        let fair = (of_first + of_others) as f64 / (first.len() + others.len()) as f64;
        let is_shared = !first.is_empty() && !others.is_empty() && fair > 0.0;
        is_shared.then(|| of_first as f64 / first.len() as f64 / fair)
    }

    /// Returns a percentile of the queueing delay at the bottleneck, if delays are kept.
    fn queue_delay(&self, number: usize) -> Option<Value> {
        let delay = self.bottleneck.as_ref()?.queue_delay_percentiles_ms[number];
        (!delay.is_nan()).then_some(Value::Float(delay))
    }

    /// Returns Jain's fairness index of the rates of the flows that share the bottleneck, if there are two or more: 1 if
    /// all are equal, 1/n if one has all (Jain, Chiu and Hawe 1984).
    fn jain_index(&self) -> Option<f64> {
        let (mut flows, mut sum, mut squares) = (0_u32, 0.0, 0.0);
        for (_, flow) in self.sharing() {
            let bytes = flow.bytes_after_warm_up() as f64;
            (flows, sum, squares) = (flows + 1, sum + bytes, squares + bytes * bytes);
        }
        (flows > 1 && sum > 0.0).then(|| sum * sum / (f64::from(flows) * squares))
    }

    fn arrivals(&self) -> Option<Arrivals> {
        self.bottleneck.as_ref().map(|link| link.arrivals)
    }

    fn drop_rate(&self) -> Option<f64> {
        self.arrivals()?.share(self.arrivals()?.packets_dropped)
    }

    /// Returns the packets that the bottleneck dropped and lost, if it has loss rules: without them both parts of the drop rate are
    /// known, all of it and nothing.
    fn lossy_arrivals(&self) -> Option<Arrivals> {
        self.arrivals().filter(|_| self.link.is_some_and(|link| !link.settings().losses.is_empty()))
    }

    fn queue_drop_rate(&self) -> Option<f64> {
        let arrivals = self.lossy_arrivals()?;
        arrivals.share(arrivals.packets_dropped - arrivals.packets_lost)
    }

    fn random_loss_rate(&self) -> Option<f64> {
        let arrivals = self.lossy_arrivals()?;
        arrivals.share(arrivals.packets_lost)
    }

    /// Returns the packets that links other than the bottleneck dropped, if they did.
    fn dropped_elsewhere(&self) -> Option<u64> {
        // A count, and so of the whole run.
        let bottleneck = self.plan.bottleneck_id();
        let elsewhere = self.recorder.drops.rows().filter(|((link, ..), _)| Some(*link) != bottleneck);
        let dropped: u64 = elsewhere.map(|(_, drops)| drops.packets).sum();
        (dropped > 0).then_some(dropped)
    }

    /// Returns the share of the packets that the bottleneck's queue marked, if it marked any.
    fn mark_rate(&self) -> Option<f64> {
        let arrivals = self.arrivals().filter(|arrivals| arrivals.packets_marked > 0)?;
        arrivals.share(arrivals.packets_marked)
    }

    fn media_drop_rate(&self) -> Option<f64> {
        let link = self.bottleneck.as_ref()?;
        let is_media = |group: &usize| self.plan.groups[*group].flow.application.is_media() && self.crossing[*group];
        let (dropped, offered) = (0..self.plan.groups.len())
            .filter(is_media)
            .map(|group| link.groups[group].arrivals)
            .fold((0, 0), |(dropped, offered), group| (dropped + group.packets_dropped, offered + group.packets_in));
        (offered > 0).then(|| dropped as f64 / offered as f64)
    }

    fn mean_freeze(&self) -> Option<f64> {
        // Pooled, not a mean of means: flows without timeouts have no freeze.
        let timeouts: u64 = self.media.iter().map(|flow| flow.statistics.timeouts).sum();
        let frozen: f64 = self.media.iter().map(|flow| flow.statistics.frozen.as_secs_f64()).sum();
        (timeouts > 0).then(|| frozen / timeouts as f64)
    }

    /// Returns the transport of the media flows, else of the first group.
    fn transport(&self) -> String {
        let media = self.recorder.flows.iter().position(|flow| flow.media.is_some()).unwrap_or(0);
        self.plan.groups[self.plan.flows[media].group].transport.to_string()
    }

    fn profile(&self) -> &'static str {
        match self.scenario.endpoint.profile {
            Profile::Ns2 => "ns2",
            Profile::Rfc => "rfc",
            Profile::Linux => "linux",
        }
    }
}
