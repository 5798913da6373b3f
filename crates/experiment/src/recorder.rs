//! Records the data of the tables of a run.

use crate::encoder::EncoderLog;
use crate::media::MediaLog;
use crate::plan::{GroupPlan, Plan};
use crate::playout::PlayoutLog;
use crate::repair_times::RepairLog;
use crate::series::Series;
use earlybird_scenario::{Application, Scenario};
use earlybird_sim::{DropCause, FlowEnd, FlowGauges, FlowId, LinkId, Observer, Packet, PacketEvent};
use earlybird_tcp::{LimitedTimes, RealTimeStatistics, Statistics, TraceEvent};
use earlybird_traffic::{Encoding, Playout, Transfer, TransferKind};
use earlybird_units::{Duration, Instant};
use std::collections::BTreeMap;

/// A timeout of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeoutRecord {
    pub(crate) flow: FlowId,
    pub(crate) at: Instant,
    pub(crate) timer: Duration,
    pub(crate) frozen_for: Duration,
}

/// A duplicate ACK of a media flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DuplicateRecord {
    pub(crate) flow: FlowId,
    pub(crate) at: Instant,
    pub(crate) count: u32,
    pub(crate) age: Duration,
    pub(crate) threshold: Option<Duration>,
}

/// The cause of a window reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LossReaction {
    /// Duplicate ACKs indicated loss.
    FastRetransmit,
    /// A timer of this length expired.
    Timeout(Duration),
}

/// The record of one flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowRecord {
    pub(crate) statistics: Statistics,
    /// Time for which each cause limited the sender.
    pub(crate) limited: LimitedTimes,
    pub(crate) min_rtt: Option<Duration>,
    pub(crate) early_responses: u64,
    pub(crate) bytes_delivered: u64,
    /// Counts of sent and delivered data before the measured interval.
    pub(crate) before: Progress,
    pub(crate) media: Option<MediaLog>,
    /// Counters of the real-time mode at sender and receiver, of the last connection.
    pub(crate) real_time: [RealTimeStatistics; 2],
    pub(crate) transmissions: Option<RepairLog>,
    /// Log of its viewer, if it has one.
    pub(crate) playout: Option<PlayoutLog>,
    /// Log of its encoder, if it streams live or in segments.
    pub(crate) encoder: Option<EncoderLog>,
    pub(crate) base_timeouts: Vec<Duration>,
    pub(crate) thresholds: Vec<Duration>,
    /// The times and causes of window reductions of media flows, if bursts are measured.
    pub(crate) loss_reactions: Vec<(Instant, LossReaction)>,
    /// Time from its start until all its data was acknowledged or delivered, if it has an end.
    completed: Option<Duration>,
    /// The same of each object and page, if it is a session of the web.
    // Boxed: most flows have none, and their records are read one after another.
    pub(crate) web: Option<Box<WebTimes>>,
    /// The data it sends, if that is given.
    size: Option<Size>,
    start: Instant,
}

/// Times from request to completion.
#[derive(Clone, Debug, Default)]
pub(crate) struct WebTimes {
    pub(crate) objects: Vec<Duration>,
    pub(crate) pages: Vec<Duration>,
}

/// A given amount of data.
#[derive(Clone, Copy, Debug)]
enum Size {
    /// Of a file, which reports when it is complete.
    File,
    /// Units of media.
    Units(u64),
}

impl Size {
    fn of(application: &Application) -> Option<Self> {
        match application {
            Application::Bulk(bulk) => bulk.bytes.map(|_| Self::File),
            Application::Cbr(cbr) => cbr.packets.map(Self::Units),
            _ => None,
        }
    }
}

/// Counts of the data that a flow has sent and delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    packets_sent: u64,
    pub(crate) bytes_delivered: u64,
}

impl FlowRecord {
    /// Returns the payload that was delivered after the warm-up.
    pub(crate) fn bytes_after_warm_up(&self) -> u64 {
        self.bytes_delivered - self.before.bytes_delivered
    }

    /// Returns whether the amount of its data is given: then it is measured from its start to its completion.
    pub(crate) const fn is_finite(&self) -> bool {
        self.size.is_some()
    }

    /// Returns the packets that were sent while the flow was measured.
    pub(crate) fn packets_measured(&self) -> u64 {
        let before = if self.is_finite() { 0 } else { self.before.packets_sent };
        self.statistics.segments_sent - before
    }

    /// Returns the time from its start to its completion, if it is complete.
    pub(crate) fn completion_time(&self) -> Option<Duration> {
        match self.size? {
            Size::File => self.completed,
            Size::Units(units) => {
                let media = self.media.as_ref().filter(|media| media.units_delivered() == units)?;
                media.last_delivery().map(|at| at - self.start)
            }
        }
    }

    /// Returns the payload per second in bits, over the time in which the flow is measured.
    pub(crate) fn throughput(&self, plan: &Plan) -> f64 {
        let lasting = || (plan.end - self.start.max(plan.warm_up), self.bytes_after_warm_up());
        let until_end = || plan.end - self.start;
        let finite = || (self.completion_time().unwrap_or_else(until_end), self.bytes_delivered);
        let (span, bytes) = if self.is_finite() { finite() } else { lasting() };
        // A flow that would start after the end has no time.
        if span > Duration::ZERO { bytes as f64 * 8.0 / span.as_secs_f64() } else { 0.0 }
    }
}

/// The number of packets of a flow that a link dropped for one cause.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drops {
    pub(crate) packets: u64,
    pub(crate) data_packets: u64,
    /// Packets with data that were dropped in the measured interval.
    data_measured: u64,
}

/// The number of a flow's packets with data that were dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowDrops {
    /// By the queues of all links.
    pub(crate) by_queues: u64,
    /// By their losses.
    pub(crate) random: u64,
    /// For whatever reason, in the measured interval.
    pub(crate) measured: u64,
}

/// Drops by link, flow and cause. Also an observer of its own, for emulated links.
#[derive(Clone, Debug)]
pub struct DropLog {
    counts: BTreeMap<(LinkId, FlowId, DropCause), Drops>,
    /// The measured interval.
    from: Instant,
    until: Instant,
}

impl DropLog {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { counts: BTreeMap::new(), from: plan.warm_up, until: plan.end }
    }

    fn note(&mut self, at: Instant, link: LinkId, cause: DropCause, packet: &Packet) {
        // On links that only one other link feeds, drops are reported ahead of time: those after the end do not happen.
        if at >= self.until {
            return;
        }
        let count = self.counts.entry((link, packet.flow, cause)).or_default();
        count.packets += 1;
        count.data_packets += u64::from(packet.is_data());
        count.data_measured += u64::from(packet.is_data() && at >= self.from);
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = (&(LinkId, FlowId, DropCause), &Drops)> {
        self.counts.iter()
    }

    /// Returns the drops of each flow.
    pub(crate) fn by_flow(&self, flows: usize) -> Vec<FlowDrops> {
        let mut all = vec![FlowDrops::default(); flows];
        for ((_, flow, cause), drops) in self.rows() {
            let of_flow = &mut all[flow.0 as usize];
            of_flow.measured += drops.data_measured;
            match cause {
                DropCause::Loss => of_flow.random += drops.data_packets,
                DropCause::Queue => of_flow.by_queues += drops.data_packets,
            }
        }
        all
    }
}

impl Observer for DropLog {
    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if let PacketEvent::Dropped(link, cause) = event {
            self.note(at, link, cause, packet);
        }
    }
}

/// The watcher of every run.
#[derive(Debug)]
pub struct Recorder {
    pub(crate) flows: Vec<FlowRecord>,
    pub(crate) timeouts: Vec<TimeoutRecord>,
    pub(crate) duplicates: Vec<DuplicateRecord>,
    pub(crate) series: Series,
    pub(crate) drops: DropLog,
    keeps_duplicates: bool,
    keeps_loss_reactions: bool,
    /// RTT samples, if they are kept.
    pub(crate) rtts: Option<RttLog>,
}

/// By flow, the RTT samples of the time in which it is measured.
// Apart from the records of flows, which every ACK reads.
#[derive(Debug)]
pub(crate) struct RttLog {
    /// Start of the measured interval.
    from: Instant,
    pub(crate) by_flow: Vec<Vec<Duration>>,
}

/// Subjects of series: flows by their number, links from here on.
pub(crate) const FIRST_LINK_SUBJECT: u32 = 1 << 31;

impl Recorder {
    pub(crate) fn new(scenario: &Scenario, plan: &Plan) -> Self {
        let end = Instant::ZERO + scenario.duration.duration();
        let delays: Vec<Duration> = scenario.measure.start_up_delays.iter().map(|delay| delay.duration()).collect();
        let measures_bursts = scenario.measure.bursts.is_some();
        let record = |group: &GroupPlan, start: Instant| {
            let is_media = group.flow.application.is_media();
            let media = || MediaLog::new(end, &delays, scenario.measure.deliveries || measures_bursts);
            FlowRecord {
                media: is_media.then(media),
                transmissions: (is_media && scenario.measure.transmissions).then(RepairLog::default),
                playout: PlayoutLog::of(&group.flow, group.transport.kind),
                encoder: EncoderLog::of(&group.flow, start),
                web: group.flow.application.is_web().then(Box::default),
                size: Size::of(&group.flow.application),
                start,
                ..FlowRecord::default()
            }
        };
        let rtts = || RttLog { from: plan.warm_up, by_flow: vec![Vec::new(); plan.flows.len()] };
        Self {
            flows: plan.flows.iter().map(|flow| record(&plan.groups[flow.group], flow.start)).collect(),
            timeouts: Vec::new(),
            duplicates: Vec::new(),
            series: Series::default(),
            drops: DropLog::new(plan),
            keeps_duplicates: scenario.measure.duplicates,
            keeps_loss_reactions: measures_bursts,
            rtts: scenario.measure.percentiles.then(rtts),
        }
    }

    /// Adds the drops and queue lengths of links that another thread has observed.
    pub fn take_links(&mut self, drops: DropLog, backlogs: &[(Instant, LinkId, usize)]) {
        self.drops = drops;
        for (at, link, backlog) in backlogs {
            self.on_link_probe(*at, *link, *backlog);
        }
        // Samples of links are taken by another thread, after those of flows.
        self.series.put_in_order();
    }

    /// Records why a media flow reduced its window.
    fn note_loss_reaction(&mut self, at: Instant, id: FlowId, event: TraceEvent) {
        let cut = match event {
            TraceEvent::FastRetransmit => LossReaction::FastRetransmit,
            TraceEvent::Timeout { timer, .. } => LossReaction::Timeout(timer),
            _ => return,
        };
        let flow = self.flow(id);
        if flow.media.is_some() {
            flow.loss_reactions.push((at, cut));
        }
    }

    fn flow(&mut self, id: FlowId) -> &mut FlowRecord {
        &mut self.flows[id.0 as usize]
    }
}

impl Observer for Recorder {
    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        self.drops.on_packet(at, event, packet);
        if let Some(log) = &mut self.flow(packet.flow).transmissions
            && packet.is_data()
            && !packet.to.is_opener()
        {
            log.on_packet(at, event, packet.number);
        }
    }

    fn on_trace(&mut self, at: Instant, id: FlowId, event: TraceEvent) {
        if self.keeps_loss_reactions {
            self.note_loss_reaction(at, id, event);
        }
        let keeps_duplicates = self.keeps_duplicates;
        let flow = &mut self.flows[id.0 as usize];
        match event {
            TraceEvent::Timeout { timer, frozen_for } if flow.web.is_none() => {
                self.timeouts.push(TimeoutRecord { flow: id, at, timer, frozen_for });
            }
            TraceEvent::Duplicate { count, age, threshold } if flow.media.is_some() => {
                // Kept for the summary's quantiles even without the table of duplicates.
                flow.thresholds.extend(threshold);
                if keeps_duplicates {
                    self.duplicates.push(DuplicateRecord { flow: id, at, count, age, threshold });
                }
            }
            TraceEvent::RttSample(sample) => {
                if flow.media.is_some() {
                    flow.base_timeouts.push(sample.base_rto);
                }
                if let Some(log) = &mut self.rtts
                    && (flow.is_finite() || at >= log.from)
                {
                    log.by_flow[id.0 as usize].push(sample.rtt);
                }
            }
            _ => {}
        }
    }

    fn on_unit(&mut self, at: Instant, flow: FlowId, bytes: u64) {
        if let Some(media) = &mut self.flow(flow).media {
            media.on_written(at, bytes);
        }
    }

    fn on_abandoned(&mut self, flow: FlowId, bytes: u64) {
        if let Some(media) = &mut self.flow(flow).media {
            media.on_abandoned(bytes);
        }
    }

    fn on_delivered(&mut self, at: Instant, flow: FlowId, bytes: u64) {
        if let Some(media) = &mut self.flow(flow).media {
            media.on_delivered(at, bytes);
        }
    }

    fn on_unit_delivered(&mut self, at: Instant, flow: FlowId, unit: u32) {
        if let Some(media) = &mut self.flow(flow).media {
            media.on_unit_delivered(at, u64::from(unit));
        }
    }

    fn on_playout(&mut self, at: Instant, flow: FlowId, event: Playout) {
        if let Some(playout) = &mut self.flow(flow).playout {
            playout.take(at, event);
        }
    }

    fn on_encoding(&mut self, at: Instant, flow: FlowId, event: Encoding) {
        if let Some(encoder) = &mut self.flow(flow).encoder {
            encoder.take(at, event);
        }
    }

    fn on_transfer(&mut self, at: Instant, flow: FlowId, transfer: Transfer) {
        let (flow, time) = (self.flow(flow), at - transfer.began);
        match (transfer.kind, &mut flow.web) {
            (TransferKind::File, _) => flow.completed = Some(time),
            (TransferKind::Object, Some(web)) => web.objects.push(time),
            (TransferKind::Page, Some(web)) => web.pages.push(time),
            // Only sessions of the web report objects and pages.
            (TransferKind::Object | TransferKind::Page, None) => {}
        }
    }

    fn on_warm_up_end(&mut self, open: &[(FlowId, FlowEnd)]) {
        // Connections that have ended are counted in the flow already; open ones are added below.
        for flow in &mut self.flows {
            let packets_sent = flow.statistics.segments_sent;
            flow.before = Progress { packets_sent, bytes_delivered: flow.bytes_delivered };
        }
        for (flow, now) in open {
            let before = &mut self.flow(*flow).before;
            before.packets_sent += now.statistics.segments_sent;
            before.bytes_delivered += now.bytes_delivered;
        }
    }

    fn on_end(&mut self, id: FlowId, end: &FlowEnd) {
        let flow = self.flow(id);
        flow.limited += end.limited;
        flow.min_rtt = [flow.min_rtt, end.min_rtt].into_iter().flatten().min();
        flow.statistics += end.statistics;
        // Not summed: a media flow has one connection.
        flow.real_time = end.real_time;
        flow.early_responses += end.early_responses;
        flow.bytes_delivered += end.bytes_delivered;
    }

    fn on_probe(&mut self, at: Instant, id: FlowId, gauges: &FlowGauges) {
        // A web flow has many short connections at once: their samples would not form a series.
        if self.flow(id).web.is_none() {
            self.series.sample_flow(at, id.0, gauges);
        }
    }

    fn on_link_probe(&mut self, at: Instant, link: LinkId, backlog: usize) {
        self.series.sample_link(at, FIRST_LINK_SUBJECT + link.0, backlog);
    }
}
