//! The tables of a run.

mod encoder;
mod playout;

use crate::bursts;
use crate::link_measures::LinkMeasures;
use crate::media::{quantile, required_startup_delay};
use crate::plan::Plan;
use crate::recorder::{FIRST_LINK_SUBJECT, FlowDrops, FlowRecord, Recorder, WebTimes};
use crate::register;
use crate::repair_times::RepairLog;
use crate::summary::summarise;
use crate::table::{Summary, Table};
use earlybird_scenario::Scenario;
use earlybird_sim::{Arrivals, DropCause, FlowId, Network};
use earlybird_units::{Duration, Instant};

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The run in a few numbers.
    pub summary: Summary,
    /// Tables by name.
    pub tables: Vec<(&'static str, Table)>,
}

pub(crate) fn report(scenario: &Scenario, plan: &Plan, seed: u64, recorder: &Recorder, network: &Network) -> Report {
    let measures: Vec<LinkMeasures> = network.links().map(LinkMeasures::of).collect();
    let mut tables = vec![
        ("flows", flows(plan, recorder)),
        ("lateness", lateness(plan, recorder)),
        ("links", links(network, &measures)),
        ("link_groups", link_groups(plan, network, &measures)),
        ("drops", drops(plan, recorder, network)),
        ("timeouts", timeouts(plan, recorder)),
    ];
    // Tables that need a measure or an application are absent, not empty.
    tables.extend(playout::stalls_table(plan, &recorder.flows).map(|table| ("stalls", table)));
    tables.extend(playout::renditions_table(plan, &recorder.flows).map(|table| ("renditions", table)));
    tables.extend(encoder::table(plan, recorder).map(|table| ("encoder", table)));
    if scenario.measure.duplicates {
        tables.push(("duplicates", duplicates(plan, recorder)));
    }
    if scenario.measure.queue_positions {
        tables.push(("queue_positions", queue_positions(plan, network)));
    }
    if scenario.measure.deliveries {
        tables.push(("deliveries", deliveries(plan, recorder)));
    }
    if let Some(settings) = &scenario.measure.bursts {
        tables.push(("bursts", bursts::table(plan, recorder, settings)));
    }
    if scenario.measure.transmissions {
        tables.push(("transmissions", transmissions(plan, recorder)));
    }
    if scenario.measure.series.is_some() {
        tables.push(("series", recorder.series.table(|subject| subject_name(subject, plan, network))));
    }
    let summary = summarise(scenario, plan, seed, recorder, network);
    // Debug builds only: the tests check the same tables.
    if cfg!(debug_assertions) {
        register::check(&tables, &summary);
    }
    Report { summary, tables }
}

fn subject_name(subject: u32, plan: &Plan, network: &Network) -> String {
    if subject < FIRST_LINK_SUBJECT {
        return plan.flows[subject as usize].name.clone();
    }
    // Subjects of links are numbered after all possible flows.
    let link = network.links().nth((subject - FIRST_LINK_SUBJECT) as usize);
    link.map_or(String::new(), |link| link.settings().name.clone())
}

fn flows(plan: &Plan, recorder: &Recorder) -> Table {
    let records = || recorder.flows.iter();
    let plans = || plan.flows.iter();
    let drops = recorder.drops.by_flow(plan.flows.len());
    let group = |index: usize| &plan.groups[index];
    let rtts: Option<Vec<_>> = recorder.rtts.as_ref().map(|log| log.by_flow.iter().map(|rtts| sorted(rtts)).collect());
    let rtt = |share: f64| -> Vec<f64> {
        let of_flow = |rtts: &Vec<Duration>| 1e3 * seconds(quantile(rtts, share));
        rtts.as_ref().map_or_else(|| vec![f64::NAN; plan.flows.len()], |rtts| rtts.iter().map(of_flow).collect())
    };
    let transports: Vec<String> = plan.groups.iter().map(|group| group.transport.to_string()).collect();
    let table = Table::default()
        .string("group", plans().map(|flow| group(flow.group).flow.name.clone()))
        .string("flow", plans().map(|flow| flow.name.clone()))
        .integer("index", plans().map(|flow| u64::from(flow.index)))
        .string("transport", plans().map(|flow| transports[flow.group].clone()))
        .float("start_s", plans().map(|flow| flow.start.as_secs_f64()))
        .integer("packets_sent", records().map(|flow| flow.statistics.segments_sent))
        .integer("retransmissions", records().map(|flow| flow.statistics.retransmissions))
        .integer("packets_dropped", drops.iter().map(|drops| drops.by_queues + drops.random))
        .float("flow_drop_rate", drops.iter().zip(records()).map(drop_rate))
        .integer("queue_drops", drops.iter().map(|drops| drops.by_queues))
        .integer("random_losses", drops.iter().map(|drops| drops.random))
        .integer("rto_count", records().map(|flow| flow.statistics.timeouts))
        .integer("rto_without_fast_retransmit", records().map(|flow| flow.statistics.timeouts_untriggered))
        .float("frozen_s", records().map(|flow| flow.statistics.frozen.as_secs_f64()))
        .float("expired_rto_s", records().map(|flow| flow.statistics.frozen_timers.as_secs_f64()))
        .integer("fast_retransmits", records().map(|flow| flow.statistics.fast_retransmits))
        .integer("early_retransmits_first_dupack", records().map(|flow| flow.statistics.early_on_first))
        .integer("early_retransmits_second_dupack", records().map(|flow| flow.statistics.early_on_second))
        .integer("ecn_reductions", records().map(|flow| flow.statistics.mark_responses))
        .integer("early_responses", records().map(|flow| flow.early_responses))
        .integer("bytes_delivered", records().map(|flow| flow.bytes_delivered))
        .float("throughput_bps", records().map(|flow| flow.throughput(plan)))
        .float("completion_time_s", records().map(|flow| seconds(flow.completion_time())))
        .float("min_rtt_ms", records().map(|flow| 1e3 * seconds(flow.min_rtt)))
        .float("rtt_p50_ms", rtt(0.5))
        .float("rtt_p95_ms", rtt(0.95))
        .float("rtt_p99_ms", rtt(0.99))
        .float("limited_by_network", records().map(|flow| share(flow, flow.limited.network)))
        .float("limited_by_window", records().map(|flow| share(flow, flow.limited.largest_window)))
        .float("limited_by_receiver", records().map(|flow| share(flow, flow.limited.receiver)))
        .float("limited_by_send_buffer", records().map(|flow| share(flow, flow.limited.send_buffer)))
        // A sender is idle because nothing is left to send: the application limits it, as in RFC 7661.
        .float(
            "limited_by_application",
            records().map(|flow| share(flow, flow.limited.application + flow.limited.idle)),
        );
    // These columns exist for every flow, so that groups of a table can be joined; flows without media have 0 or NaN.
    let table = playout::columns(media_columns(table, recorder), &recorder.flows, plan.end);
    let table = playout::real_time_columns(table, &recorder.flows);
    web_columns(encoder::columns(table, &recorder.flows, plan.end), &recorder.flows)
}

/// Returns the share of the time in which the flow's connections were open; NaN for flows that have none.
fn share(flow: &FlowRecord, time: Duration) -> f64 {
    time.as_secs_f64() / (flow.limited.busy() + flow.limited.idle).as_secs_f64()
}

fn drop_rate((drops, flow): (&FlowDrops, &FlowRecord)) -> f64 {
    // A flow that sent nothing has rate 0, not NaN. What was sent before the interval may be dropped in it.
    let dropped = if flow.is_finite() { drops.by_queues + drops.random } else { drops.measured };
    (dropped as f64 / flow.packets_measured().max(1) as f64).min(1.0)
}

fn media_columns(table: Table, recorder: &Recorder) -> Table {
    let records = || recorder.flows.iter();
    let media =
        |flow: &FlowRecord| flow.media.as_ref().map_or((0, 0), |log| (log.units_written(), log.units_delivered()));
    let delays: Vec<Vec<Duration>> = records()
        .map(|flow| flow.media.as_ref().map_or_else(Vec::new, super::media::MediaLog::sorted_delays))
        .collect();
    // Sorted once for all quantiles; undelivered units count with their age at the end of the run.
    let delay =
        |share: f64| delays.iter().map(move |delays| 1e3 * seconds(quantile(delays, share))).collect::<Vec<_>>();
    let median = |samples: &[Duration]| seconds(quantile(&sorted(samples), 0.5));
    table
        .integer("units_written", records().map(|flow| media(flow).0))
        .integer("units_delivered", records().map(|flow| media(flow).1))
        .float(
            "interarrival_stddev_ms",
            records().map(|flow| flow.media.as_ref().map_or(f64::NAN, |log| 1e3 * log.spacing_deviation())),
        )
        .float("delay_p50_ms", delay(0.5))
        .float("delay_p95_ms", delay(0.95))
        .float("delay_p99_ms", delay(0.99))
        .float("delay_p999_ms", delay(0.999))
        .float("delay_max_ms", delay(1.0))
        .float("required_startup_delay_s", delays.iter().map(|delays| seconds(required_startup_delay(delays))))
        .float("rto_unclamped_median_s", records().map(|flow| median(&flow.base_timeouts)))
        .float("er_threshold_median_s", records().map(|flow| median(&flow.thresholds)))
}

/// Appends the completion times of objects and pages of the web.
fn web_columns(table: Table, records: &[FlowRecord]) -> Table {
    let quantiles = |times: fn(&WebTimes) -> &Vec<Duration>| -> [Vec<f64>; 2] {
        let sorted: Vec<_> = records.iter().map(|flow| flow.web.as_ref().map(|web| sorted(times(web)))).collect();
        let at = |share: f64| move |times: &Vec<Duration>| quantile(times, share);
        [0.5, 0.95].map(|share| sorted.iter().map(|times| seconds(times.as_ref().and_then(at(share)))).collect())
    };
    let ([object_p50, object_p95], [page_p50, page_p95]) = (quantiles(|web| &web.objects), quantiles(|web| &web.pages));
    let completed = |times: fn(&WebTimes) -> &Vec<Duration>| {
        records.iter().map(move |flow| flow.web.as_ref().map_or(0, |web| times(web).len() as u64))
    };
    table
        .integer("objects_completed", completed(|web| &web.objects))
        .float("object_time_p50_s", object_p50)
        .float("object_time_p95_s", object_p95)
        .integer("pages_completed", completed(|web| &web.pages))
        .float("page_time_p50_s", page_p50)
        .float("page_time_p95_s", page_p95)
}

fn sorted(samples: &[Duration]) -> Vec<Duration> {
    let mut samples = samples.to_vec();
    samples.sort_unstable();
    samples
}

/// Returns seconds, NaN for no value: columns of floats have no nulls.
fn seconds(span: Option<Duration>) -> f64 {
    span.map_or(f64::NAN, Duration::as_secs_f64)
}

fn lateness(plan: &Plan, recorder: &Recorder) -> Table {
    let media = plan.flows.iter().zip(&recorder.flows);
    let rows: Vec<_> = media
        .flat_map(|(flow, record)| {
            record.media.iter().flat_map(super::media::MediaLog::lateness).map(move |row| (flow, row))
        })
        .collect();
    Table::default()
        .string("group", rows.iter().map(|(flow, _)| plan.groups[flow.group].flow.name.clone()))
        .string("flow", rows.iter().map(|(flow, _)| flow.name.clone()))
        .float("startup_delay_s", rows.iter().map(|(_, row)| row.startup_delay.as_secs_f64()))
        .integer("due", rows.iter().map(|(_, row)| row.due))
        .integer("late", rows.iter().map(|(_, row)| row.late))
        .boolean("on_time", rows.iter().map(|(_, row)| row.is_on_time()))
}

fn links(network: &Network, measures: &[LinkMeasures]) -> Table {
    let links = || measures.iter();
    let total = || links().map(|link| link.total);
    // A link without packets has the rates 0, unlike the summary, which leaves them out.
    let share = |share: fn(&Arrivals) -> u64| {
        links().map(move |link| link.arrivals.share(share(&link.arrivals)).unwrap_or(0.0))
    };
    Table::default()
        .string("link", network.links().map(|link| link.settings().name.clone()))
        .integer("packets_in", total().map(|counts| counts.packets_in))
        .integer("packets_out", total().map(|counts| counts.packets_out))
        .integer("packets_dropped", total().map(|counts| counts.packets_dropped))
        .integer("packets_waiting", total().map(|counts| counts.packets_waiting))
        .integer("packets_marked", total().map(|counts| counts.packets_marked))
        .integer("bytes_out", total().map(|counts| counts.bytes_out))
        .float("drop_rate", share(|arrivals| arrivals.packets_dropped))
        .float("mark_rate", share(|arrivals| arrivals.packets_marked))
        .float("utilisation", links().map(|link| link.utilisation))
        .float("packets_per_second", links().map(|link| link.packets_per_second))
        .float("mean_queue_packets", links().map(|link| link.mean_queue_packets))
        .float("mean_queue_delay_ms", links().map(|link| link.mean_queue_delay_ms))
        .float("queue_delay_p50_ms", links().map(|link| link.queue_delay_percentiles_ms[0]))
        .float("queue_delay_p95_ms", links().map(|link| link.queue_delay_percentiles_ms[1]))
        .float("queue_delay_p99_ms", links().map(|link| link.queue_delay_percentiles_ms[2]))
        .integer("max_queue_packets", links().map(|link| link.max_queue_packets))
        // Impairments are in the order of the links, one for each.
        .integer("packets_reordered", network.all_impairments().map(|link| link.packets_reordered))
        .integer("packets_duplicated", network.all_impairments().map(|link| link.packets_duplicated))
}

fn link_groups(plan: &Plan, network: &Network, measures: &[LinkMeasures]) -> Table {
    let rows: Vec<_> = network
        .links()
        .zip(measures)
        .flat_map(|(link, measures)| measures.groups.iter().enumerate().map(move |group| (link, group)))
        .collect();
    let counts = || rows.iter().map(|(_, (_, group))| group.total);
    let arrivals = || rows.iter().map(|(_, (_, group))| group.arrivals);
    Table::default()
        .string("link", rows.iter().map(|(link, _)| link.settings().name.clone()))
        .string("group", rows.iter().map(|(_, (group, _))| plan.groups[*group].flow.name.clone()))
        .integer("packets_in", counts().map(|counts| counts.packets_in))
        .integer("packets_out", counts().map(|counts| counts.packets_out))
        .integer("packets_dropped", counts().map(|counts| counts.packets_dropped))
        .integer("packets_waiting", counts().map(|counts| counts.packets_waiting))
        .integer("packets_marked", counts().map(|counts| counts.packets_marked))
        .integer("bytes_out", counts().map(|counts| counts.bytes_out))
        .integer("measured_packets_in", arrivals().map(|arrivals| arrivals.packets_in))
        .integer("measured_packets_dropped", arrivals().map(|arrivals| arrivals.packets_dropped))
        .float("drop_rate", arrivals().map(|arrivals| arrivals.share(arrivals.packets_dropped).unwrap_or(0.0)))
}

/// Drops of each link by flow and cause.
fn drops(plan: &Plan, recorder: &Recorder, network: &Network) -> Table {
    let rows = || recorder.drops.rows();
    let flow = |id: FlowId| &plan.flows[id.0 as usize];
    let cause = |cause| match cause {
        DropCause::Loss => "loss",
        DropCause::Queue => "queue",
    };
    Table::default()
        .string("link", rows().map(|((link, ..), _)| network.link(*link).settings().name.clone()))
        .string("group", rows().map(|((_, id, _), _)| plan.groups[flow(*id).group].flow.name.clone()))
        .string("flow", rows().map(|((_, id, _), _)| flow(*id).name.clone()))
        .string("cause", rows().map(|((.., why), _)| cause(*why).to_owned()))
        .integer("packets", rows().map(|(_, drops)| drops.packets))
        .integer("data_packets", rows().map(|(_, drops)| drops.data_packets))
}

fn queue_positions(plan: &Plan, network: &Network) -> Table {
    let by_group = || network.links().flat_map(|link| link.queue_lengths().iter().zip(&plan.groups));
    let rows = || by_group().flat_map(|(counts, group)| (0..).zip(counts).map(move |row| (&group.flow.name, row)));
    Table::default()
        .string("group", rows().map(|(group, _)| group.clone()))
        .integer("packets_waiting", rows().map(|(_, (waiting, _))| waiting))
        .integer("packets_in", rows().map(|(_, (_, packets))| *packets))
}

fn timeouts(plan: &Plan, recorder: &Recorder) -> Table {
    let rows = || recorder.timeouts.iter();
    Table::default()
        .string("flow", rows().map(|row| plan.flows[row.flow.0 as usize].name.clone()))
        .float("time_s", rows().map(|row| row.at.as_secs_f64()))
        .float("rto_s", rows().map(|row| row.timer.as_secs_f64()))
        .float("frozen_s", rows().map(|row| row.frozen_for.as_secs_f64()))
}

fn duplicates(plan: &Plan, recorder: &Recorder) -> Table {
    let rows = || recorder.duplicates.iter();
    Table::default()
        .string("flow", rows().map(|row| plan.flows[row.flow.0 as usize].name.clone()))
        .float("time_s", rows().map(|row| row.at.as_secs_f64()))
        .integer("dupacks", rows().map(|row| u64::from(row.count)))
        .float("age_s", rows().map(|row| row.age.as_secs_f64()))
        .float("er_threshold_s", rows().map(|row| seconds(row.threshold)))
}

fn deliveries(plan: &Plan, recorder: &Recorder) -> Table {
    let mut rows = Vec::new();
    for (flow, record) in plan.flows.iter().zip(&recorder.flows) {
        let Some(log) = &record.media else { continue };
        for (unit, delivery) in log.deliveries.iter().flatten().enumerate() {
            let written = delivery.written.as_secs_f64();
            let delivered = delivery.delivered.map_or(f64::INFINITY, Instant::as_secs_f64);
            rows.push((&flow.name, unit as u64, delivery.bytes, written, delivered));
        }
    }
    Table::default()
        .string("flow", rows.iter().map(|row| row.0.clone()))
        .integer("unit", rows.iter().map(|row| row.1))
        .integer("bytes", rows.iter().map(|row| row.2))
        .float("written_s", rows.iter().map(|row| row.3))
        .float("delivered_s", rows.iter().map(|row| row.4))
}

fn transmissions(plan: &Plan, recorder: &Recorder) -> Table {
    let media = plan.flows.iter().zip(&recorder.flows);
    let rows: Vec<_> = media
        .flat_map(|(flow, record)| {
            record.transmissions.iter().flat_map(RepairLog::rows).map(move |row| (&flow.name, row))
        })
        .collect();
    Table::default()
        .string("flow", rows.iter().map(|(flow, _)| (*flow).clone()))
        .integer("packet", rows.iter().map(|(_, row)| u64::from(row.packet)))
        .float("first_sent_s", rows.iter().map(|(_, row)| row.first.as_secs_f64()))
        .float("last_sent_s", rows.iter().map(|(_, row)| row.last.as_secs_f64()))
        .integer("times_sent", rows.iter().map(|(_, row)| row.sent))
        .integer("times_dropped", rows.iter().map(|(_, row)| row.dropped))
}
