//! The measurements of a link in the measured interval of a run.

use crate::media::quantile;
use earlybird_sim::{Arrivals, Link, LinkCounts, LinkReading};
use earlybird_units::Duration;

/// The measures of a link in the tables and the summary.
// A large network has more links than flows: nothing is kept that no column needs.
#[derive(Clone, Debug)]
pub(crate) struct LinkMeasures {
    /// Counts from the start of the run to the end of the measured interval.
    pub(crate) total: LinkCounts,
    /// Fates of the packets that arrived in the interval.
    pub(crate) arrivals: Arrivals,
    /// By group, if the link counts groups.
    pub(crate) groups: Vec<GroupMeasures>,
    /// Bits that the link sent divided by those that it could have sent, from 0 to 1.
    pub(crate) utilisation: f64,
    pub(crate) packets_per_second: f64,
    pub(crate) mean_queue_packets: f64,
    pub(crate) mean_queue_delay_ms: f64,
    /// p50, p95 and p99 of the queueing delay; NaN if delays are not kept.
    pub(crate) queue_delay_percentiles_ms: [f64; 3],
    pub(crate) max_queue_packets: u64,
}

/// The same of the packets of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupMeasures {
    pub(crate) total: LinkCounts,
    pub(crate) arrivals: Arrivals,
    /// Bytes of packets whose transmission ended in the interval.
    pub(crate) bytes_out: u64,
}

impl LinkMeasures {
    pub(crate) fn of(link: &Link) -> Self {
        let (start, end) = (link.reading_at_start(), link.reading_at_end());
        let packets = end.total.packets_out - start.total.packets_out;
        Self {
            total: end.total,
            arrivals: end.total.arrived_after(&start.total),
            groups: end.groups.iter().zip(&start.groups).map(GroupMeasures::between).collect(),
            utilisation: utilisation(link, &start, &end),
            packets_per_second: packets as f64 / (end.at - start.at).as_secs_f64(),
            mean_queue_packets: end.mean_queue_since(&start),
            mean_queue_delay_ms: end.mean_queue_delay_ms_since(&start),
            queue_delay_percentiles_ms: percentiles_ms(link.queueing_delays()),
            max_queue_packets: end.max_queue as u64,
        }
    }
}

impl GroupMeasures {
    fn between((end, start): (&LinkCounts, &LinkCounts)) -> Self {
        Self { total: *end, arrivals: end.arrived_after(start), bytes_out: end.bytes_out - start.bytes_out }
    }
}

/// Returns p50, p95 and p99 in milliseconds; NaN of nothing.
fn percentiles_ms(delays: &[Duration]) -> [f64; 3] {
    let mut delays = delays.to_vec();
    delays.sort_unstable();
    [0.5, 0.95, 0.99].map(|share| quantile(&delays, share).map_or(f64::NAN, |delay| 1e3 * delay.as_secs_f64()))
}

fn utilisation(link: &Link, start: &LinkReading, end: &LinkReading) -> f64 {
    let possible = link.settings().bits_before(end.at) - link.settings().bits_before(start.at);
    // A trace may have no opportunity in the interval.
    if possible > 0.0 { (end.bits_sent - start.bits_sent) / possible } else { 0.0 }
}
