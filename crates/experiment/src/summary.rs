//! The measures of a run as a whole.
//!
//! Their order is that of `summary.json`, and of the columns of a sweep.

use crate::bursts;
use crate::encoder::EncoderLog;
use crate::plan::Plan;
use crate::playout::PlayoutLog;
use crate::recorder::{FlowRecord, Recorder};
use crate::table::{Summary, Value};
use earlybird_scenario::{Application, Profile, Queue, Scenario};
use earlybird_sim::{DropCause, Link, Network};
use earlybird_units::{Duration, Instant};

/// Startup delays in seconds at which the summary states the share of flows on time, if `measure.start-up-delays` has them.
const NAMED_DELAYS: [u64; 8] = [1, 2, 3, 5, 8, 10, 15, 20];

pub(crate) fn summarise(
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
    recorder: &Recorder,
    network: &Network,
) -> Summary {
    let view = View { scenario, plan, recorder, bottleneck: plan.bottleneck_id().map(|id| network.link(id)) };
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
        ("queue_drop_rate".into(), view.drop_rate_by(DropCause::Queue).map(Value::Float)),
        ("random_loss_rate".into(), view.drop_rate_by(DropCause::Loss).map(Value::Float)),
        ("dropped_elsewhere".into(), view.dropped_elsewhere().map(Value::Integer)),
        ("mark_rate".into(), view.mark_rate().map(Value::Float)),
        ("bottleneck_packets".into(), view.bottleneck.map(|link| Value::Integer(link.total.packets_out()))),
        ("utilisation".into(), view.utilisation().map(Value::Float)),
        ("mean_queue_delay_ms".into(), view.bottleneck.map(|link| Value::Float(link.mean_queue_delay_ms()))),
        ("first_group_rate_ratio".into(), view.first_group_rate_ratio().map(Value::Float)),
        ("rto_count".into(), media(&|flow| flow.statistics.timeouts as f64)),
        ("frozen_s".into(), media(&|flow| flow.statistics.frozen.as_secs_f64())),
        ("units_lost".into(), view.mean_over_viewers(|log| log.lost as f64)),
        ("lost_share".into(), view.mean_over_viewers(PlayoutLog::lost_share)),
        ("playback_delay_s".into(), view.mean_over_viewers(PlayoutLog::mean_delay)),
        ("frames_dropped_share".into(), view.mean_over_encoders(EncoderLog::dropped_share)),
        ("stalls".into(), view.mean_over_viewers(|log| log.stalls as f64)),
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

/// Returns the share of successful streams among those judged at this start-up delay.
fn on_time_share(recorder: &Recorder, delay: Duration) -> Option<f64> {
    let rows = recorder.flows.iter().filter_map(|flow| flow.media.as_ref()).flat_map(super::media::MediaLog::lateness);
    // A flow that starts shortly before the end has no unit due at a long delay: neither on time nor late.
    let judged: Vec<bool> =
        rows.filter(|row| row.start_up_delay == delay && row.due > 0).map(|row| row.is_on_time()).collect();
    let successes = judged.iter().filter(|success| **success).count();
    (!judged.is_empty()).then(|| successes as f64 / judged.len() as f64)
}

struct View<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    recorder: &'a Recorder,
    bottleneck: Option<&'a Link>,
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

    fn media(&self) -> impl Iterator<Item = &FlowRecord> {
        self.recorder.flows.iter().filter(|flow| flow.media.is_some())
    }

    fn mean_over_media(&self) -> impl Fn(&dyn Fn(&FlowRecord) -> f64) -> Option<Value> {
        move |value| {
            let values: Vec<f64> = self.media().map(value).collect();
            (!values.is_empty()).then(|| Value::Float(values.iter().sum::<f64>() / values.len() as f64))
        }
    }

    fn mean_over_viewers(&self, value: impl Fn(&PlayoutLog) -> f64) -> Option<Value> {
        let values: Vec<f64> = self.recorder.flows.iter().filter_map(|flow| flow.playout.as_ref()).map(value).collect();
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

    /// Returns the number of media flows, where as many bulk transfers run beside them.
    fn media_flows(&self) -> Option<u64> {
        // The papers' dumbbell: T/µ has no meaning if videos and files differ in number.
        let media = self.media().count();
        let bulk = self.lasting().count() - media;
        (media > 0 && media == bulk).then_some(media as u64)
    }

    /// Returns µ in bits per second: the mean rate of the media.
    fn media_rate(&self) -> Option<f64> {
        // All media flows of the papers have one rate; with several the first one defines µ.
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
        let delivered: u64 = self.lasting().map(|(_, flow)| flow.bytes_delivered - flow.bytes_at_warm_up).sum();
        self.per_flow_over_rate(delivered, self.warm_up())
    }

    /// The same from the bytes that left the bottleneck, headers and retransmissions included, since the warm-up.
    fn t_over_mu_wire(&self) -> Option<f64> {
        let link = self.bottleneck?;
        // Counters of the link are per group, so that web traffic can be left out.
        let lasting = |group: &usize| !self.plan.groups[*group].flow.application.is_web();
        let groups = (0..link.groups.len()).filter(lasting);
        self.per_flow_over_rate(groups.map(|group| link.groups[group].bytes_out).sum(), self.warm_up())
    }

    fn per_flow_over_rate(&self, bytes: u64, since: Duration) -> Option<f64> {
        let span = self.scenario.duration.duration().saturating_sub(since).as_secs_f64();
        let throughput = bytes as f64 * 8.0 / self.lasting().count() as f64 / span;
        self.media_rate().map(|rate| throughput / rate)
    }

    fn warm_up(&self) -> Duration {
        self.scenario.measure.warm_up.duration()
    }

    fn web_mbps(&self) -> Option<f64> {
        let link = self.bottleneck?;
        let is_web = |group: &usize| self.plan.groups[*group].flow.application.is_web();
        let groups: Vec<usize> = (0..link.groups.len()).filter(is_web).collect();
        let bytes: u64 = groups.iter().map(|group| link.groups[*group].bytes_out).sum();
        let span = self.scenario.duration.duration().saturating_sub(self.warm_up()).as_secs_f64();
        (!groups.is_empty()).then(|| bytes as f64 * 8.0 / span / 1e6)
    }

    fn utilisation(&self) -> Option<f64> {
        let end = Instant::ZERO + self.scenario.duration.duration();
        self.bottleneck.map(|link| link.utilisation(end))
    }

    /// Returns the mean rate of the first group's flows over that of all lasting flows, where there are others.
    fn first_group_rate_ratio(&self) -> Option<f64> {
        let (first, others): (Vec<_>, Vec<_>) =
            self.lasting().partition(|(index, _)| self.plan.flows[*index].group == 0);
        let delivered = |flows: &[(usize, &FlowRecord)]| -> u64 {
            flows.iter().map(|(_, flow)| flow.bytes_delivered - flow.bytes_at_warm_up).sum()
        };
        let (of_first, of_others) = (delivered(&first), delivered(&others));
        let fair = (of_first + of_others) as f64 / (first.len() + others.len()) as f64;
        let is_shared = !first.is_empty() && !others.is_empty() && fair > 0.0;
        is_shared.then(|| of_first as f64 / first.len() as f64 / fair)
    }

    fn drop_rate(&self) -> Option<f64> {
        let total = self.bottleneck?.total;
        (total.packets_in > 0).then(|| total.packets_dropped as f64 / total.packets_in as f64)
    }

    /// Returns the share of the packets that the bottleneck dropped for this reason; nothing if its queue is the only one.
    fn drop_rate_by(&self, cause: DropCause) -> Option<f64> {
        let (link, bottleneck) = (self.bottleneck?, self.plan.bottleneck_id()?);
        let at_it = self.recorder.drops.rows().filter(|((at, ..), _)| *at == bottleneck);
        let of_cause: u64 = at_it.filter(|((.., why), _)| *why == cause).map(|(_, drops)| drops.packets).sum();
        // Without random losses both parts are known: all of `drop_rate`, and nothing.
        let has_losses = !link.settings().losses.is_empty();
        (has_losses && link.total.packets_in > 0).then(|| of_cause as f64 / link.total.packets_in as f64)
    }

    /// Returns the packets that links other than the bottleneck dropped, if they did.
    fn dropped_elsewhere(&self) -> Option<u64> {
        // Measures of the bottleneck are those of the whole run, the warm-up included.
        let bottleneck = self.plan.bottleneck_id();
        let elsewhere = self.recorder.drops.rows().filter(|((link, ..), _)| Some(*link) != bottleneck);
        let dropped: u64 = elsewhere.map(|(_, drops)| drops.packets).sum();
        (dropped > 0).then_some(dropped)
    }

    /// Returns the share of the packets that the bottleneck's queue marked, if it marked any.
    fn mark_rate(&self) -> Option<f64> {
        let total = self.bottleneck?.total;
        (total.packets_marked > 0).then(|| total.packets_marked as f64 / total.packets_in as f64)
    }

    fn media_drop_rate(&self) -> Option<f64> {
        let link = self.bottleneck?;
        let is_media = |group: &usize| self.plan.groups[*group].flow.application.is_media();
        let counters = (0..link.groups.len()).filter(is_media).map(|group| link.groups[group]);
        let (dropped, offered) = counters
            .fold((0, 0), |(dropped, offered), group| (dropped + group.packets_dropped, offered + group.packets_in));
        (offered > 0).then(|| dropped as f64 / offered as f64)
    }

    fn mean_freeze(&self) -> Option<f64> {
        // Pooled, not a mean of means: flows without timeouts have no freeze.
        let timeouts: u64 = self.media().map(|flow| flow.statistics.timeouts).sum();
        let frozen: f64 = self.media().map(|flow| flow.statistics.frozen.as_secs_f64()).sum();
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
