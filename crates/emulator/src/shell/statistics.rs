//! What an emulated network did so far.

use crate::crossing::Carried;
use crate::emulator::{Emulator, Refusals};
use earlybird_sim::{Counters, Link, LinkId};
use earlybird_units::Instant;

/// An emulated network at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Time since it began.
    pub at: Instant,
    /// Its links, in their order.
    pub links: Vec<LinkState>,
    /// What was not let in.
    pub refusals: Refusals,
    /// What came of what was.
    pub carried: Carried,
}

/// A link at a moment.
#[derive(Clone, Debug)]
pub struct LinkState {
    /// Its name.
    pub name: String,
    /// What passed it since the beginning.
    pub total: Counters,
    /// Packets that wait now.
    pub waiting: usize,
    /// The most that ever waited.
    pub most_waiting: usize,
    /// How long packets that went on had waited, on average, in milliseconds.
    pub mean_wait_ms: f64,
}

impl Snapshot {
    pub(super) fn new(at: Instant, emulator: &mut Emulator, carried: &Carried) -> Self {
        let count = emulator.network().links().count() as u32;
        let links = (0..count).map(|number| {
            let waiting = emulator.backlog(at, LinkId(number));
            LinkState::new(emulator.network().link(LinkId(number)), waiting)
        });
        let links = links.collect();
        Self { at, links, refusals: emulator.refusals(), carried: carried.clone() }
    }
}

impl LinkState {
    fn new(link: &Link, waiting: usize) -> Self {
        Self {
            name: link.settings().name.clone(),
            total: link.total,
            waiting,
            most_waiting: link.max_backlog,
            mean_wait_ms: link.mean_queue_delay_ms(),
        }
    }
}
