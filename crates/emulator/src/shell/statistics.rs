//! Statistics of an emulated network.

use crate::bridge::BridgeStats;
use crate::emulator::{Emulator, Rejections};
use earlybird_sim::{LinkCounts, LinkId, LinkReading, LinkSettings};
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
    /// Packets that Linux dropped in front of the network, because the queue of a device was full. `None` if it is not known.
    pub device_drops: Option<u64>,
}

/// The state of a link.
#[derive(Clone, Debug)]
pub struct LinkSnapshot {
    /// Its name.
    pub name: String,
    /// Counters since the start.
    pub total: LinkCounts,
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
            let link = emulator.network().link(LinkId(number));
            LinkSnapshot::new(link.settings(), &link.reading(at), &link.reading_at_start(), waiting)
        });
        let links = links.collect();
        Self { at, links, rejections: emulator.rejections(), stats: stats.clone(), device_drops: None }
    }
}

impl LinkSnapshot {
    fn new(settings: &LinkSettings, now: &LinkReading, start: &LinkReading, waiting: usize) -> Self {
        Self {
            name: settings.name.clone(),
            total: now.total,
            waiting,
            most_waiting: now.max_queue,
            mean_queue_delay_ms: now.mean_queue_delay_ms_since(start),
        }
    }
}
