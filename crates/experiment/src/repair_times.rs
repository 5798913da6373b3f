//! Send times of packets that were lost or retransmitted: the time that each repair took.

use earlybird_sim::PacketEvent;
use earlybird_units::Instant;
use std::collections::BTreeMap;

/// Every packet of one flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepairLog {
    /// First transmission of each packet, by number. `NEVER` for numbers that were not sent.
    first: Vec<Instant>,
    histories: BTreeMap<u32, PacketHistory>,
}

/// Events of a packet after its first transmission.
#[derive(Clone, Copy, Debug, Default)]
struct PacketHistory {
    last: Option<Instant>,
    repeats: u64,
    drops: u64,
}

/// A packet that was lost or retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepairTime {
    pub(crate) packet: u32,
    pub(crate) first: Instant,
    pub(crate) last: Instant,
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
}

impl RepairLog {
    /// Records an event of a packet with data.
    pub(crate) fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: u32) {
        match event {
            PacketEvent::Sent => self.on_sent(at, packet),
            PacketEvent::Retransmitted => {
                let trouble = self.histories.entry(packet).or_default();
                (trouble.last, trouble.repeats) = (Some(at), trouble.repeats + 1);
            }
            // A drop marks the packet even if it is never sent again.
            PacketEvent::Dropped(..) => self.histories.entry(packet).or_default().drops += 1,
            _ => {}
        }
    }

    fn on_sent(&mut self, at: Instant, packet: u32) {
        let index = packet as usize;
        if index >= self.first.len() {
            // Packets are numbered in order, so that the vector grows by one entry each.
            self.first.resize(index + 1, Instant::NEVER);
        }
        self.first[index] = at;
    }

    /// Returns the packets that were lost or retransmitted, by number.
    pub(crate) fn rows(&self) -> impl Iterator<Item = RepairTime> + '_ {
        self.histories.iter().filter_map(|(packet, trouble)| {
            let first = *self.first.get(*packet as usize)?;
            let last = trouble.last.unwrap_or(first);
            Some(RepairTime { packet: *packet, first, last, sent: 1 + trouble.repeats, dropped: trouble.drops })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_sim::{DropCause, LinkId};

    #[test]
    fn packets_that_were_lost_or_repeated_are_kept_with_their_first_and_last_time() {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let dropped = PacketEvent::Dropped(LinkId(0), DropCause::Queue);
        let mut log = RepairLog::default();
        for (time, event, packet) in [
            (0, PacketEvent::Sent, 0),
            (20, PacketEvent::Sent, 1),
            (25, dropped, 1),
            (40, PacketEvent::Sent, 2),
            (45, dropped, 2),
            (180, PacketEvent::Retransmitted, 1),
            (185, dropped, 1),
            (380, PacketEvent::Retransmitted, 1),
        ] {
            log.on_packet(at(time), event, packet);
        }
        let rows: Vec<_> = log.rows().collect();
        let once = RepairTime { packet: 2, first: at(40), last: at(40), sent: 1, dropped: 1 };
        assert_eq!(rows, [RepairTime { packet: 1, first: at(20), last: at(380), sent: 3, dropped: 2 }, once]);
    }
}
