//! Watches a world and keeps what the tables need.

use crate::media::MediaLog;
use crate::plan::{GroupPlan, Plan};
use crate::playout::PlayoutLog;
use crate::series::Series;
use crate::transmissions::TransmissionLog;
use earlybird_datagram as datagram;
use earlybird_scenario::Scenario;
use earlybird_sim::{DropCause, FlowId, LinkId, Observer, Packet, PacketEvent};
use earlybird_tcp::{Connection, LimitedTimes, RealTimeStatistics, Statistics, TraceEvent};
use earlybird_traffic::Playout;
use earlybird_units::{Duration, Instant};
use std::collections::BTreeMap;

/// A timeout of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeoutRecord {
    pub(crate) flow: FlowId,
    pub(crate) at: Instant,
    pub(crate) timer: Duration,
    pub(crate) freeze: Duration,
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

/// Why a sender closed its window.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// Duplicate ACKs meant loss.
    FastRetransmit,
    /// A timer of this length expired.
    Timeout(Duration),
}

/// What is known of one flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowRecord {
    pub(crate) statistics: Statistics,
    /// For how long what held its sender back.
    pub(crate) limited: LimitedTimes,
    pub(crate) shortest_round_trip: Option<Duration>,
    pub(crate) early_responses: u64,
    pub(crate) bytes_delivered: u64,
    pub(crate) bytes_at_warm_up: u64,
    /// Packets with data that the bottleneck dropped.
    pub(crate) packets_dropped: u64,
    /// Packets with data that the queues of all links dropped, and those that their losses took.
    pub(crate) queue_drops: u64,
    pub(crate) random_losses: u64,
    pub(crate) media: Option<MediaLog>,
    /// What the real-time mode counted at the sender and at the receiver, in the last connection.
    pub(crate) real_time: [RealTimeStatistics; 2],
    pub(crate) transmissions: Option<TransmissionLog>,
    /// What its viewer saw, if it has one.
    pub(crate) playout: Option<PlayoutLog>,
    pub(crate) base_timeouts: Vec<Duration>,
    pub(crate) thresholds: Vec<Duration>,
    /// When and why the window of a media flow was closed, if bursts are measured.
    pub(crate) cuts: Vec<(Instant, Cut)>,
    is_web: bool,
}

/// How many packets of a flow a link dropped for one reason.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drops {
    pub(crate) packets: u64,
    pub(crate) data_packets: u64,
}

/// The watcher of every run.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) flows: Vec<FlowRecord>,
    pub(crate) timeouts: Vec<TimeoutRecord>,
    pub(crate) duplicates: Vec<DuplicateRecord>,
    pub(crate) series: Series,
    /// What each link dropped of each flow, and why.
    pub(crate) drops: BTreeMap<(LinkId, FlowId, DropCause), Drops>,
    keeps_duplicates: bool,
    keeps_cuts: bool,
    bottleneck: Option<LinkId>,
}

/// Subjects of series: flows by their number, links from here on.
pub(crate) const FIRST_LINK_SUBJECT: u32 = 1 << 31;

impl Recorder {
    pub(crate) fn new(scenario: &Scenario, plan: &Plan) -> Self {
        let end = Instant::ZERO + scenario.duration.duration();
        let delays: Vec<Duration> = scenario.measure.start_up_delays.iter().map(|delay| delay.duration()).collect();
        let measures_bursts = scenario.measure.bursts.is_some();
        let record = |group: &GroupPlan| {
            let is_media = group.flow.application.is_media();
            let media = || MediaLog::new(end, &delays, scenario.measure.deliveries || measures_bursts);
            FlowRecord {
                media: is_media.then(media),
                transmissions: (is_media && scenario.measure.transmissions).then(TransmissionLog::default),
                playout: group.flow.listener(group.transport.kind).as_ref().map(PlayoutLog::new),
                is_web: group.flow.application.is_web(),
                ..FlowRecord::default()
            }
        };
        Self {
            flows: plan.flows.iter().map(|flow| record(&plan.groups[flow.group])).collect(),
            timeouts: Vec::new(),
            duplicates: Vec::new(),
            series: Series::default(),
            drops: BTreeMap::new(),
            keeps_duplicates: scenario.measure.duplicates,
            keeps_cuts: measures_bursts,
            bottleneck: plan.bottleneck_id(),
        }
    }

    fn note_drop(&mut self, link: LinkId, cause: DropCause, packet: &Packet) {
        let count = self.drops.entry((link, packet.flow, cause)).or_default();
        count.packets += 1;
        if !packet.is_data() {
            return;
        }
        count.data_packets += 1;
        let is_bottleneck = Some(link) == self.bottleneck;
        let flow = self.flow(packet.flow);
        flow.packets_dropped += u64::from(is_bottleneck);
        match cause {
            DropCause::Loss => flow.random_losses += 1,
            DropCause::Queue => flow.queue_drops += 1,
        }
    }

    /// Keeps why a media flow closed its window.
    fn note_cut(&mut self, at: Instant, id: FlowId, event: TraceEvent) {
        let cut = match event {
            TraceEvent::FastRetransmit => Cut::FastRetransmit,
            TraceEvent::Timeout { timer, .. } => Cut::Timeout(timer),
            _ => return,
        };
        let flow = self.flow(id);
        if flow.media.is_some() {
            flow.cuts.push((at, cut));
        }
    }

    fn flow(&mut self, id: FlowId) -> &mut FlowRecord {
        &mut self.flows[id.0 as usize]
    }
}

impl Observer for Recorder {
    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if let PacketEvent::Dropped(link, cause) = event {
            self.note_drop(link, cause, packet);
        }
        if let Some(log) = &mut self.flow(packet.flow).transmissions
            && packet.is_data()
            && !packet.to.is_opener()
        {
            log.on_packet(at, event, packet.number);
        }
    }

    fn on_trace(&mut self, at: Instant, id: FlowId, event: TraceEvent) {
        if self.keeps_cuts {
            self.note_cut(at, id, event);
        }
        let keeps_duplicates = self.keeps_duplicates;
        let flow = &mut self.flows[id.0 as usize];
        match event {
            TraceEvent::Timeout { timer, freeze } if !flow.is_web => {
                self.timeouts.push(TimeoutRecord { flow: id, at, timer, freeze });
            }
            TraceEvent::Duplicate { count, age, threshold } if flow.media.is_some() => {
                flow.thresholds.extend(threshold);
                if keeps_duplicates {
                    self.duplicates.push(DuplicateRecord { flow: id, at, count, age, threshold });
                }
            }
            TraceEvent::BaseRto(base) if flow.media.is_some() => flow.base_timeouts.push(base),
            _ => {}
        }
    }

    fn on_unit(&mut self, at: Instant, flow: FlowId, bytes: u64) {
        if let Some(media) = &mut self.flow(flow).media {
            media.on_written(at, bytes);
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

    fn on_mark(&mut self, received: &[(FlowId, u64)]) {
        for flow in &mut self.flows {
            flow.bytes_at_warm_up = flow.bytes_delivered;
        }
        for (flow, bytes) in received {
            self.flow(*flow).bytes_at_warm_up += bytes;
        }
    }

    fn on_end(&mut self, at: Instant, flow: FlowId, opener: &Connection, listener: &Connection) {
        let flow = self.flow(flow);
        flow.limited += opener.limited_times(at);
        flow.shortest_round_trip = [flow.shortest_round_trip, opener.shortest_round_trip()].into_iter().flatten().min();
        flow.statistics += *opener.statistics();
        flow.real_time = [opener, listener].map(Connection::real_time_statistics);
        flow.early_responses += opener.gauges().early_responses;
        flow.bytes_delivered += listener.received();
    }

    fn on_datagrams_end(&mut self, flow: FlowId, sender: &datagram::Endpoint, received: u64) {
        let flow = self.flow(flow);
        flow.statistics.segments_sent += sender.sent();
        flow.statistics.retransmissions += sender.repeated();
        flow.bytes_delivered += received;
    }

    fn on_flow_probe(&mut self, at: Instant, flow: FlowId, opener: &Connection) {
        if !self.flow(flow).is_web {
            self.series.sample_flow(at, flow.0, opener);
        }
    }

    fn on_datagrams_probe(&mut self, at: Instant, flow: FlowId, sender: &datagram::Endpoint) {
        if let Some(gauges) = sender.gauges() {
            self.series.sample_rate(at, flow.0, &gauges);
        }
    }

    fn on_link_probe(&mut self, at: Instant, link: LinkId, backlog: usize) {
        self.series.sample_link(at, FIRST_LINK_SUBJECT + link.0, backlog);
    }
}
