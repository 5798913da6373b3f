//! Statistics of an emulated network.

use crate::bridge::BridgeStats;
use crate::emulator::{Emulator, Rejections};
use earlybird_sim::{Counters, Link, LinkId};
use earlybird_units::Instant;

/// The state of an emulated network.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Time since the start.
    pub at: Instant,
    /// Its links, in order.
    pub links: Vec<LinkSnapshot>,
    /// Packets that were rejected.
    pub rejections: Rejections,
    /// Statistics of the delivery.
    pub stats: BridgeStats,
}

/// The state of a link.
#[derive(Clone, Debug)]
pub struct LinkSnapshot {
    /// Its name.
    pub name: String,
    /// Counters since the start.
    pub total: Counters,
    /// Packets in the queue now.
    pub waiting: usize,
    /// The largest number of packets in the queue.
    pub most_waiting: usize,
    /// Mean queueing delay of transmitted packets, in milliseconds.
    pub mean_queue_delay_ms: f64,
}

impl Snapshot {
    pub(super) fn new(at: Instant, emulator: &mut Emulator, stats: &BridgeStats) -> Self {
        let count = emulator.network().links().count() as u32;
        let links = (0..count).map(|number| {
            let waiting = emulator.backlog(at, LinkId(number));
            LinkSnapshot::new(emulator.network().link(LinkId(number)), waiting)
        });
        let links = links.collect();
        Self { at, links, rejections: emulator.rejections(), stats: stats.clone() }
    }
}

impl LinkSnapshot {
    fn new(link: &Link, waiting: usize) -> Self {
        Self {
            name: link.settings().name.clone(),
            total: link.total,
            waiting,
            most_waiting: link.max_backlog,
            mean_queue_delay_ms: link.mean_queue_delay_ms(),
        }
    }
}
