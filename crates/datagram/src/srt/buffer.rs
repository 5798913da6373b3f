//! The send buffer: packets to send, to retransmit, or kept until acknowledged.

use super::CAPACITY;
use alloc::collections::{BTreeSet, VecDeque};
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Datagram, SrtLosses};

/// The sender's packets, from the first that is not acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    packets: VecDeque<Packet>,
    /// Number of the first packet kept …
    first: u32,
    /// … and of the first that was never sent.
    unsent: u32,
    /// Packets that the receiver reported lost and that were not retransmitted since.
    losses: BTreeSet<u32>,
}

#[derive(Clone, Debug)]
struct Packet {
    datagram: Datagram,
    written: Instant,
    repeated: Option<Instant>,
}

/// A packet to send now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub(crate) sequence: u32,
    pub(crate) datagram: Datagram,
    pub(crate) written: Instant,
    pub(crate) is_retransmission: bool,
}

impl Buffer {
    /// Stores a packet if there is room; else it is dropped (§4.8.2).
    pub(crate) fn push(&mut self, now: Instant, datagram: Datagram) {
        // A full buffer drops new packets, as `srt_sendmsg` refuses them.
        if self.packets.len() < CAPACITY {
            self.packets.push_back(Packet { datagram, written: now, repeated: None });
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns whether a packet waits to be sent.
    pub(crate) fn has_next(&self) -> bool {
        !self.losses.is_empty() || ((self.unsent - self.first) as usize) < self.packets.len()
    }

    /// Takes the next packet: repairs go first (§4.8.2).
    pub(crate) fn next(&mut self, now: Instant) -> Option<Next> {
        // Retransmissions go first, the oldest one before the others: its deadline is the nearest.
        let loss = self.losses.pop_first();
        let sequence = loss.unwrap_or(self.unsent);
        let packet = self.packets.get_mut((sequence - self.first) as usize)?;
        if loss.is_some() {
            packet.repeated = Some(now);
        } else {
            self.unsent += 1;
        }
        Some(Next { sequence, datagram: packet.datagram, written: packet.written, is_retransmission: loss.is_some() })
    }

    /// Removes packets that the receiver has, or has skipped.
    pub(crate) fn on_ack(&mut self, next: u32) {
        self.forget_up_to(next.min(self.unsent));
    }

    /// Records the packets that the receiver lacks. A retransmission less than `patience` ago may still be in flight.
    pub(crate) fn on_losses(&mut self, now: Instant, losses: SrtLosses, patience: Duration) {
        for sequence in losses.first.max(self.first)..losses.last.saturating_add(1).min(self.unsent) {
            let packet = &self.packets[(sequence - self.first) as usize];
            // A report that was sent before our retransmission could arrive does not cause another one.
            if packet.repeated.is_none_or(|repeated| repeated + patience < now) {
                self.losses.insert(sequence);
            }
        }
    }

    /// Drops packets written before that time.
    pub(crate) fn drop_older(&mut self, time: Instant) {
        // Too-late packet drop (§4.6): the receiver has skipped them.
        let old = self.packets.iter().take_while(|packet| packet.written < time).count();
        self.forget_up_to(self.first + old as u32);
    }

    fn forget_up_to(&mut self, next: u32) {
        if next > self.first {
            self.packets.drain(..(next - self.first) as usize);
            self.first = next;
            self.unsent = self.unsent.max(next);
            // Abandoned packets need no retransmission.
            self.losses = self.losses.split_off(&next);
        }
    }
}
