//! The measurements of a link in the measured interval of a run.

use earlybird_sim::{Arrivals, Link, LinkReading};

/// The measurements of a link at both ends of the measured interval.
#[derive(Clone, Debug)]
pub(crate) struct LinkMeasures {
    pub(crate) start: LinkReading,
    pub(crate) end: LinkReading,
    bits_possible: f64,
}

impl LinkMeasures {
    pub(crate) fn of(link: &Link) -> Self {
        let (start, end) = (link.reading_at_start(), link.reading_at_end());
        let bits_possible = link.settings().bits_before(end.at) - link.settings().bits_before(start.at);
        Self { start, end, bits_possible }
    }

    /// Returns what became of the packets that arrived in the interval.
    pub(crate) fn arrivals(&self) -> Arrivals {
        self.end.total.arrived_after(&self.start.total)
    }

    /// Returns the same of a group's packets.
    pub(crate) fn arrivals_of(&self, group: usize) -> Arrivals {
        self.end.groups[group].arrived_after(&self.start.groups[group])
    }

    /// Returns the bytes of a group's packets whose transmission ended in the interval.
    pub(crate) fn bytes_out_of(&self, group: usize) -> u64 {
        self.end.groups[group].bytes_out - self.start.groups[group].bytes_out
    }

    /// Returns how much of what the link could send it sent.
    pub(crate) fn utilisation(&self) -> f64 {
        // A trace may have no opportunity in the interval.
        let sent = self.end.bits_sent - self.start.bits_sent;
        if self.bits_possible > 0.0 { sent / self.bits_possible } else { 0.0 }
    }

    pub(crate) fn packets_per_second(&self) -> f64 {
        let packets = self.end.total.packets_out - self.start.total.packets_out;
        packets as f64 / (self.end.at - self.start.at).as_secs_f64()
    }

    pub(crate) fn mean_queue_delay_ms(&self) -> f64 {
        self.end.mean_queue_delay_ms_since(&self.start)
    }
}
