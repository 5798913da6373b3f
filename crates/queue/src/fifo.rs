use crate::QueuedPacket;
use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;

/// Packets in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Fifo {
    packets: VecDeque<QueuedPacket>,
    bytes: u64,
}

impl Fifo {
    pub(crate) fn push(&mut self, packet: QueuedPacket) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedPacket> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how long the first packet has waited; nothing if there is none.
    pub(crate) fn delay(&self, now: Instant) -> Duration {
        self.packets.front().map_or(Duration::ZERO, |packet| now - packet.since)
    }
}
