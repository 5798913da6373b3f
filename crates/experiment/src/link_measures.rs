//! The measurements of a link in the measured interval of a run.

use earlybird_sim::{Arrivals, Link, LinkCounts, LinkReading};

/// What the tables and the summary tell of a link.
// A large network has more links than flows: nothing is kept that no column needs.
#[derive(Clone, Debug)]
pub(crate) struct LinkMeasures {
    /// Counts from the start of the run to the end of the measured interval.
    pub(crate) total: LinkCounts,
    /// What became of the packets that arrived in the interval.
    pub(crate) arrivals: Arrivals,
    /// By group, if the link counts groups.
    pub(crate) groups: Vec<GroupMeasures>,
    /// How much of what the link could send it sent, from 0 to 1.
    pub(crate) utilisation: f64,
    pub(crate) packets_per_second: f64,
    pub(crate) mean_queue_packets: f64,
    pub(crate) mean_queue_delay_ms: f64,
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
            max_queue_packets: end.max_queue as u64,
        }
    }
}

impl GroupMeasures {
    fn between((end, start): (&LinkCounts, &LinkCounts)) -> Self {
        Self { total: *end, arrivals: end.arrived_after(start), bytes_out: end.bytes_out - start.bytes_out }
    }
}

fn utilisation(link: &Link, start: &LinkReading, end: &LinkReading) -> f64 {
    let possible = link.settings().bits_before(end.at) - link.settings().bits_before(start.at);
    // A trace may have no opportunity in the interval.
    if possible > 0.0 { (end.bits_sent - start.bits_sent) / possible } else { 0.0 }
}
