//! Watchers that count and remember.

use earlybird_sim::{FlowId, LinkId, Observer, Packet, PacketEvent};
use earlybird_tcp::Connection;
use earlybird_units::Instant;

/// Counts every packet at every place.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// Packets that endpoints gave to the network.
    pub(crate) sent: u64,
    /// Packets that reached their endpoint.
    pub(crate) arrived: u64,
    /// Per link.
    pub(crate) entered: Vec<u64>,
    pub(crate) dropped: Vec<u64>,
    /// Copies that links made.
    pub(crate) duplicated: u64,
    pub(crate) bytes_entered: Vec<u64>,
}

impl Census {
    fn at(counts: &mut Vec<u64>, link: LinkId) -> &mut u64 {
        let index = link.0 as usize;
        if counts.len() <= index {
            counts.resize(index + 1, 0);
        }
        &mut counts[index]
    }
}

impl Observer for Census {
    const PACKETS: bool = true;

    fn on_packet(&mut self, _at: Instant, event: PacketEvent, packet: &Packet) {
        match event {
            PacketEvent::Sent | PacketEvent::Retransmitted => self.sent += 1,
            PacketEvent::Entered(link) => {
                *Self::at(&mut self.entered, link) += 1;
                *Self::at(&mut self.bytes_entered, link) += u64::from(packet.bytes);
            }
            PacketEvent::Dropped(link, _) => *Self::at(&mut self.dropped, link) += 1,
            PacketEvent::Duplicated(_) => self.duplicated += 1,
            PacketEvent::Arrived => self.arrived += 1,
        }
    }
}

/// Remembers for one link, packet by packet, whether it was let in.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    pub(crate) link: u32,
    pub(crate) let_in: Vec<bool>,
}

impl Observer for Gate {
    const PACKETS: bool = true;

    fn on_packet(&mut self, _at: Instant, event: PacketEvent, _packet: &Packet) {
        match event {
            PacketEvent::Entered(link) if link.0 == self.link => self.let_in.push(true),
            PacketEvent::Dropped(link, _) if link.0 == self.link => self.let_in.push(false),
            _ => {}
        }
    }
}

impl Gate {
    /// Returns the numbers of the packets that were dropped.
    pub(crate) fn dropped(&self) -> Vec<u64> {
        (0..).zip(&self.let_in).filter(|(_, is_in)| !**is_in).map(|(number, _)| number).collect()
    }
}

/// Remembers what endpoints sent and received, and when; of one flow, or of all.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Diary {
    pub(crate) only: Option<FlowId>,
    pub(crate) entries: Vec<(Instant, Entry, u32, u32)>,
    pub(crate) cwnd: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Entry {
    Sent,
    Retransmitted,
    Dropped,
    Arrived,
}

impl Diary {
    pub(crate) fn of(flow: FlowId) -> Self {
        Self { only: Some(flow), ..Self::default() }
    }
}

impl Observer for Diary {
    const PACKETS: bool = true;
    const STATES: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        let entry = match event {
            PacketEvent::Sent => Entry::Sent,
            PacketEvent::Retransmitted => Entry::Retransmitted,
            PacketEvent::Dropped(..) => Entry::Dropped,
            PacketEvent::Arrived => Entry::Arrived,
            PacketEvent::Entered(_) | PacketEvent::Duplicated(_) => return,
        };
        if self.only.is_none_or(|flow| flow == packet.flow) {
            self.entries.push((at, entry, packet.number, packet.segment().map_or(0, |segment| segment.ack.0)));
        }
    }

    fn on_state(&mut self, _at: Instant, flow: FlowId, _arrived: Option<&Packet>, opener: &Connection) {
        if self.only.is_none_or(|only| only == flow) {
            self.cwnd = opener.cwnd();
        }
    }
}
