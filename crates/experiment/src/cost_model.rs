//! The cost of a run, estimated before it: packets, processor time, and memory by setting.
//!
//! The numbers are rough upper bounds: they prevent that a typo in a scenario fills the machine's memory. The
//! sizes below were measured with a counting allocator, the tables of Python included, and rounded up.

use crate::Outputs;
use crate::link_paths::link_names;
use crate::plan::{GroupPlan, Plan};
use earlybird_datagram as datagram;
use earlybird_scenario::{Application, Network, Queue, Scenario, ScenarioError, Speed, Start, Time};
use earlybird_sim::{Carrier, RateChanges};
use earlybird_units::Duration;

/// A flow with its endpoints, hosts, links and rows in tables.
const BYTES_PER_FLOW: f64 = 16_000.0;
/// A pair of web hosts with its links and routes; every server has a route to every client.
const BYTES_PER_HOST: f64 = 6_000.0;
const BYTES_PER_ROUTE: f64 = 100.0;
/// A web session with the connections that it has open.
const BYTES_PER_SESSION: f64 = 16_000.0;
/// A unit of media: its delay, and its place in the sender while it waits.
const BYTES_PER_UNIT: f64 = 60.0;
/// A packet in a queue, on a link, or on the board of its sender.
const BYTES_PER_PACKET: f64 = 300.0;
/// A row of a table that is written on request.
const BYTES_PER_ROW: f64 = 250.0;
/// Events of qlog per packet: its transmission, its acknowledgement, and the growth of the window.
const EVENTS_PER_PACKET: f64 = 3.0;
/// Values per sample of a TCP sender (windows, timers, gauges); a link has one.
const VALUES_PER_FLOW: f64 = 13.0;
/// Access links and the other two directions, which are sampled too.
const LINKS_PER_FLOW: f64 = 4.0;
/// The minimum for any run.
const BYTES_AT_LEAST: f64 = 64e6;
/// Packets per second of processor time on a slow machine: what `earlybird bench` measures, halved.
const PACKETS_PER_SECOND: f64 = 1e6;
/// Samples of series, and units of media, per second of processor time, tables included.
const RECORDS_PER_SECOND: f64 = 1e6;
/// Packets of a flow that find no room in the network: the first window, and retransmissions.
const PACKETS_IN_VAIN: f64 = 8.0;
/// Share of the packets that are duplicate ACKs, or lost or sent again.
const SHARE_OF_TROUBLE: f64 = 0.125;
/// Packets per second of a web session whose pages have no fixed size.
const PACKETS_OF_A_SESSION: f64 = 20.0;

/// The memory that one setting causes.
#[derive(Clone, Debug, PartialEq)]
pub struct CostShare {
    /// The setting, such as `flows.video.count`.
    pub path: String,
    /// Its value.
    pub value: String,
    /// Bytes of memory.
    pub bytes: f64,
}

/// The estimated cost of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Data packets sent.
    pub packets: f64,
    /// Seconds of processor time.
    pub seconds: f64,
    /// Bytes of memory at the end.
    pub bytes: f64,
    /// The settings that cause memory use, the largest first.
    pub shares: Vec<CostShare>,
}

/// Estimates the memory and time of a run that writes these files.
///
/// # Errors
/// If the scenario cannot be built.
pub fn estimate(scenario: &Scenario, outputs: &Outputs) -> Result<Estimate, ScenarioError> {
    let view =
        View { scenario, plan: Plan::of_groups(scenario, 0)?, seconds: scenario.duration.duration().as_secs_f64() };
    let packets: f64 = view.packets_by_group().iter().sum();
    // Shares are computed by setting, so that an error can name the one to change.
    let mut shares: Vec<CostShare> =
        view.flows().chain(view.records(packets, outputs)).chain([view.waiting(packets)]).collect();
    // The error message names the first: the setting to change.
    shares.sort_by(|one, other| other.bytes.total_cmp(&one.bytes));
    let seconds = packets / PACKETS_PER_SECOND + (view.samples() + view.all_units()) / RECORDS_PER_SECOND;
    let bytes = BYTES_AT_LEAST + shares.iter().map(|share| share.bytes).sum::<f64>();
    Ok(Estimate { packets, seconds, bytes, shares })
}

impl Estimate {
    /// Rejects a run that needs more than a number of bytes.
    ///
    /// # Errors
    /// Names the setting that needs most of them.
    pub fn within(&self, bytes: f64) -> Result<(), ScenarioError> {
        let greediest = self.shares.first().filter(|_| self.bytes > bytes);
        greediest.map_or(Ok(()), |share| {
            Err(ScenarioError {
                path: share.path.clone(),
                value: share.value.clone(),
                problem: format!("makes the run take about {} of memory", gigabytes(self.bytes)),
                allowed: format!("what {} are enough for", gigabytes(bytes)),
                hint: "measure less often, or make the run shorter or smaller.".to_owned(),
            })
        })
    }
}

fn gigabytes(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.0} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

/// The data that a group would send, and the links that they cross.
struct Demand {
    /// Bytes with headers that its flows would send over links without limit.
    bytes: f64,
    /// Bytes that the slowest link on the path carries.
    path: f64,
    links: Vec<String>,
    /// Bytes of a packet.
    packet: f64,
    flows: f64,
    /// Whether the links limit the flows; else all is sent in any case.
    is_controlled: bool,
}

impl Demand {
    fn within_path(&self) -> f64 {
        self.bytes.min(self.path)
    }
}

/// Bytes of the headers of TCP and IPv4 without options (RFC 9293 §3.1, RFC 791 §3.1).
const HEADERS: f64 = 40.0;

/// Returns whether the links of its path limit the rate of a group.
fn is_controlled(group: &GroupPlan) -> bool {
    match &group.carrier {
        // A file over UDP is sent at once, and media wait at a sender that TFRC slows down.
        Carrier::Datagrams(settings) => {
            settings.config.control == datagram::Control::Tfrc && !group.flow.application.is_media()
        }
        Carrier::Tcp(_) | Carrier::External(_) => true,
    }
}

struct View<'a> {
    scenario: &'a Scenario,
    plan: Plan,
    seconds: f64,
}

impl View<'_> {
    fn groups(&self) -> impl Iterator<Item = &GroupPlan> {
        self.plan.groups.iter()
    }

    fn flows(&self) -> impl Iterator<Item = CostShare> {
        self.groups().map(|group| {
            let web = group.flow.application.web_sessions();
            let hosts = web.map_or(0.0, |web| f64::from(web.pairs));
            let own = BYTES_PER_FLOW
                + web.map_or(0.0, |web| f64::from(web.count)) * BYTES_PER_SESSION
                + hosts * (BYTES_PER_HOST + hosts * BYTES_PER_ROUTE)
                + self.units(group) * BYTES_PER_UNIT;
            let count = f64::from(group.flow.count);
            let (key, value) = match web {
                Some(web) if web.pairs > group.flow.count => ("application", format!("pairs = {}", web.pairs)),
                _ if count * BYTES_PER_FLOW > own => ("count", group.flow.count.to_string()),
                _ => ("application", group.flow.application.name().to_owned()),
            };
            CostShare { path: format!("flows.{}.{key}", group.flow.name), value, bytes: count * own }
        })
    }

    /// Returns the memory of requested measurements.
    fn records(&self, packets: f64, outputs: &Outputs) -> impl Iterator<Item = CostShare> {
        let measure = &self.scenario.measure;
        let asked = |path: &str, is_asked: bool, rows: f64| {
            let bytes = if is_asked { rows * BYTES_PER_ROW } else { 0.0 };
            CostShare { path: path.to_owned(), value: "true".to_owned(), bytes }
        };
        let traced = self.traced(outputs);
        let period = measure.series.map(|period| period.to_string()).unwrap_or_default();
        [
            CostShare { path: "measure.series".to_owned(), value: period, bytes: self.samples() * BYTES_PER_ROW },
            asked("measure.deliveries", measure.deliveries || measure.bursts.is_some(), self.all_units()),
            asked("measure.duplicates", measure.duplicates, packets * SHARE_OF_TROUBLE),
            asked("measure.transmissions", measure.transmissions, packets * SHARE_OF_TROUBLE),
            asked("trace", outputs.trace.is_some(), traced),
            asked("qlog", outputs.qlog.is_some(), traced * EVENTS_PER_PACKET),
            asked("link-trace", outputs.link_trace.is_some(), packets / 4.0),
        ]
        .into_iter()
    }

    fn samples(&self) -> f64 {
        let Some(period) = self.scenario.measure.series else { return 0.0 };
        let lasting = self.groups().filter(|group| !group.flow.application.is_web());
        let values: f64 = lasting.map(|group| f64::from(group.flow.count) * (VALUES_PER_FLOW + LINKS_PER_FLOW)).sum();
        let web = self.groups().filter_map(|group| group.flow.application.web_sessions());
        let web_links: f64 = web.map(|web| f64::from(web.pairs) * LINKS_PER_FLOW).sum();
        let links = self.scenario.network.link_names().len() as f64;
        self.seconds / period.duration().as_secs_f64() * (values + web_links + links)
    }

    /// Returns the memory of packets in queues and on links, and of data in flight.
    fn waiting(&self, packets: f64) -> CostShare {
        let places: f64 =
            self.channels().iter().map(|(speed, delay, queue)| room(queue) + self.rate_of(speed) * delay).sum();
        let (tcp, datagrams): (Vec<_>, Vec<_>) = self.groups().partition(|group| window(group).is_finite());
        let windows: f64 = tcp.iter().map(|group| f64::from(group.flow.count) * window(group)).sum();
        // Data in flight is in a queue or on a link, or was lost less than a round trip ago.
        let unanswered = windows.min(2.0 * places) + if datagrams.is_empty() { 0.0 } else { places };
        let value = format!("queue and delay of {}", self.plan.bottleneck);
        CostShare { path: "network".to_owned(), value, bytes: packets.min(unanswered) * BYTES_PER_PACKET }
    }

    fn all_units(&self) -> f64 {
        self.groups().map(|group| f64::from(group.flow.count) * self.units(group)).sum()
    }

    /// Returns the units that one flow of a group writes.
    fn units(&self, group: &GroupPlan) -> f64 {
        let span = (self.seconds - first_start(&group.flow.start).as_secs_f64()).max(0.0);
        match &group.flow.application {
            Application::Cbr(cbr) => {
                let period =
                    cbr.interval.unwrap_or(f64::from(cbr.packet) * 8.0 / cbr.rate.rate().bits_per_second() as f64);
                (span / period + 1.0).min(cbr.packets.map_or(f64::INFINITY, |packets| packets as f64))
            }
            Application::Media(media) => (span / media.length + 1.0) * media.sizes.len() as f64,
            Application::Ingest(ingest) => {
                let film = ingest.film();
                let units = film.sizes.len() + film.audio.as_ref().map_or(0, |sound| sound.sizes.len());
                (span / film.length + 1.0) * units as f64
            }
            // Of a film that is not live a buffer comes before its time.
            Application::Segments(film) => {
                let ahead = film.most().duration().as_secs_f64();
                (span + ahead) / film.unit().duration().as_secs_f64() + 1.0
            }
            _ => 0.0,
        }
    }

    /// Returns the packets that each group sends: what its application offers, as far as the links on its path carry it.
    fn packets_by_group(&self) -> Vec<f64> {
        let demands: Vec<Demand> = self.groups().map(|group| self.demand(group)).collect();
        let carried = |demand: &Demand| {
            // All groups of a link share it in proportion to their offered load.
            let shares = demand.links.iter().map(|link| {
                let offered: f64 =
                    demands.iter().filter(|other| other.links.contains(link)).map(Demand::within_path).sum();
                if offered > 0.0 { (self.bytes_of(link) / offered).min(1.0) } else { 1.0 }
            });
            demand.within_path() * shares.fold(1.0, f64::min)
        };
        let packets = demands.iter().map(|demand| {
            let bytes = if demand.is_controlled { carried(demand) } else { demand.bytes };
            bytes / demand.packet + demand.flows * PACKETS_IN_VAIN
        });
        packets.collect()
    }

    fn demand(&self, group: &GroupPlan) -> Demand {
        let packet = mss(group) + HEADERS;
        let links = link_names(&self.scenario.network, &group.flow).map(|[there, _]| there).unwrap_or_default();
        let own: Vec<f64> = links.iter().map(|link| self.bytes_of(link)).collect();
        Demand {
            bytes: (self.greedy_packets(group) + self.offered_packets(group)) * packet,
            path: own.into_iter().fold(f64::INFINITY, f64::min),
            links,
            packet,
            flows: f64::from(group.flow.count),
            is_controlled: is_controlled(group),
        }
    }

    /// Returns the most bytes that a link carries in the run. Access links are one for each flow, and rarely the limit.
    fn bytes_of(&self, link: &str) -> f64 {
        let names = self.scenario.network.link_names();
        let index = names.iter().position(|name| name == link);
        let channel = index.and_then(|index| self.channels().into_iter().nth(index));
        channel.map_or(f64::INFINITY, |(speed, ..)| bytes_per_second(&speed) * self.seconds)
    }

    /// Returns the share of the packets that are those of the flows to trace.
    fn traced(&self, outputs: &Outputs) -> f64 {
        let packets = self.packets_by_group();
        let of_group = |(group, packets): (&GroupPlan, &f64)| {
            let chosen =
                outputs.trace_flows.iter().filter(|name| group.flow.members().any(|flow| flow == **name)).count();
            let usual = if group.flow.application.is_web() { 0.0 } else { 1.0 };
            let share =
                if outputs.trace_flows.is_empty() { usual } else { chosen as f64 / f64::from(group.flow.count) };
            packets * share
        };
        self.groups().zip(&packets).map(of_group).sum()
    }

    /// Returns the packets that the flows of a media group write.
    fn offered_packets(&self, group: &GroupPlan) -> f64 {
        let bytes_per_unit = match &group.flow.application {
            Application::Cbr(cbr) => f64::from(cbr.packet),
            Application::Media(media) => {
                media.sizes.iter().map(|size| f64::from(*size)).sum::<f64>() / media.sizes.len().max(1) as f64
            }
            Application::Ingest(ingest) => {
                let film = ingest.film();
                film.picture_rate() / 8.0 * film.length / film.sizes.len() as f64
            }
            Application::Segments(film) => film.highest() / 8.0 * film.unit().duration().as_secs_f64(),
            _ => 0.0,
        };
        f64::from(group.flow.count) * self.units(group) * (bytes_per_unit / mss(group)).ceil()
    }

    fn greedy_packets(&self, group: &GroupPlan) -> f64 {
        let windowfuls = self.seconds / self.least_round_trip();
        let packets = match &group.flow.application {
            Application::Bulk(bulk) => bulk.bytes.map_or(f64::INFINITY, |bytes| (bytes as f64 / mss(group)).ceil()),
            Application::Cbr(_)
            | Application::Media(_)
            | Application::Frames(_)
            | Application::Ingest(_)
            | Application::Segments(_) => 0.0,
            Application::Webtraf(web) => return self.web_packets(web.sessions, web.think, web.object_packets),
            Application::HttpSimple(web) => {
                let bytes = web.page as f64 + f64::from(web.objects) * web.object as f64;
                return self.web_packets(web.sessions, web.think, bytes / mss(group));
            }
            Application::Mah(earlybird_scenario::Mah { sessions, .. })
            | Application::Surge(earlybird_scenario::Surge { sessions, .. }) => {
                return f64::from(*sessions) * self.seconds * PACKETS_OF_A_SESSION;
            }
        };
        // A sender cannot send more than a window per round trip.
        f64::from(group.flow.count) * packets.min(window(group) * windowfuls)
    }

    /// Returns the packets of sessions that think between pages of this size; an object alone takes its own time too.
    fn web_packets(&self, sessions: u32, think: Time, page: f64) -> f64 {
        let period = think.duration().as_secs_f64().max(self.least_round_trip()).max(1e-3);
        f64::from(sessions) * self.seconds / period * (page + PACKETS_IN_VAIN)
    }

    /// Returns the propagation time in seconds there and back over the shortest of the links.
    fn least_round_trip(&self) -> f64 {
        // A lower bound of the round trip gives an upper bound of the packets.
        2.0 * self.channels().iter().map(|(_, delay, _)| *delay).fold(f64::INFINITY, f64::min)
    }

    /// Returns speed, delay in seconds and queue of the links that flows share, each direction on its own.
    fn channels(&self) -> Vec<(Speed, f64, Queue)> {
        let of = |channel: earlybird_scenario::Channel| {
            (channel.speed(), channel.delay.duration().as_secs_f64(), channel.queue)
        };
        match &self.scenario.network {
            Network::Dumbbell(dumbbell) => [dumbbell.bottleneck.clone(), dumbbell.backward()].map(of).into(),
            Network::Links(links) => links.iter().flat_map(|link| [link.forward(), link.backward()].map(of)).collect(),
        }
    }

    /// Returns the most packets per second that a link carries.
    fn rate_of(&self, speed: &Speed) -> f64 {
        let smallest = self.groups().map(mss).fold(f64::INFINITY, f64::min).max(1.0);
        bytes_per_second(speed) / smallest
    }
}

/// Returns the most bytes per second that a link carries.
fn bytes_per_second(speed: &Speed) -> f64 {
    let rates = speed.rate.into_iter().chain(speed.rate_steps.iter().map(|step| step.rate));
    let fastest = rates.map(|rate| rate.rate().bits_per_second() as f64 / 8.0).fold(0.0, f64::max);
    let times = speed.trace.as_ref().map_or(&[][..], earlybird_scenario::Trace::times);
    let of_trace = times.last().map_or(0.0, |last| times.len() as f64 / (*last as f64 / 1e3).max(1e-3));
    // A link has steps or a trace: the other one is 0.
    fastest.max(of_trace * f64::from(RateChanges::OPPORTUNITY_BYTES))
}

fn room(queue: &Queue) -> f64 {
    match queue.limit() {
        earlybird_sim::QueueLimit::Unlimited => f64::INFINITY,
        earlybird_sim::QueueLimit::Packets(packets) => f64::from(packets),
        earlybird_sim::QueueLimit::Bytes(bytes) => bytes as f64 / 40.0,
    }
}

fn window(group: &GroupPlan) -> f64 {
    match &group.carrier {
        Carrier::Tcp(settings) => f64::from(settings.opener.window.max),
        Carrier::Datagrams(_) | Carrier::External(_) => f64::INFINITY,
    }
}

fn mss(group: &GroupPlan) -> f64 {
    f64::from(match &group.carrier {
        Carrier::Tcp(settings) => settings.opener.segments.mss,
        Carrier::Datagrams(settings) => settings.config.mss,
        Carrier::External(settings) => settings.mss,
    })
}

fn first_start(start: &Start) -> Duration {
    match start {
        Start::At(at) => at.duration(),
        Start::Uniform([low, _]) => low.duration(),
        Start::Each(times) => times.iter().map(|at| at.duration()).min().unwrap_or_default(),
    }
}
