//! The sending side: from a source to all connected relays.

use crate::message::{Fragment, Message};
use crate::peers::{Peer, Peers, RelayStack};
use crate::source::{MediaUnit, Source};
use crate::statistics::Counters;
use crate::transport::AFTER_LATENCY;
use crate::ts::{self, PACKET_BYTES};
use earlybird_live::Error;
use earlybird_tcp::{Connection, WriteError};
use earlybird_units::{Duration, Instant};
use std::sync::Arc;

/// Sends the units of a source to all relays that have requested them.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    pub(crate) counters: Counters,
    /// Time of the first unit: the origin of all timestamps.
    started: Option<Instant>,
    /// The number of units so far.
    units: u32,
    ended: Option<Instant>,
}

/// The time that the end of the stream may take to arrive, in addition to the latency.
const END_TIMEOUT: Duration = Duration::from_secs(2);

impl Sender {
    /// Queues the units of the source and sends as many as the connections have room for. Returns whether the source has ended.
    pub(crate) fn turn(&mut self, stack: &mut RelayStack, peers: &mut Peers, source: &mut Source) -> bool {
        let has_ended = source.read(|unit| self.enqueue(unit, peers));
        for index in 0..peers.all.len() {
            if is_active(&peers.all[index]) && self.send_to(stack, &mut peers.all[index]).is_err() {
                peers.drop_peer(stack, index);
            }
        }
        has_ended
    }

    fn enqueue(&mut self, unit: MediaUnit, peers: &mut Peers) {
        self.counters.units += 1;
        self.counters.bytes += unit.bytes.len() as u64;
        self.started.get_or_insert(unit.at);
        self.units = unit.number.wrapping_add(1);
        // Shared: each peer may send it at another time.
        let unit = Arc::new(unit);
        self.counters.dropped += u64::from(!peers.all.iter().any(is_active));
        for peer in peers.all.iter_mut().filter(|peer| is_active(peer)) {
            peer.waiting.push_back(unit.clone());
        }
    }

    /// Sends as many units to a peer as its connection has room for, and drops units that have waited for too long.
    fn send_to(&mut self, stack: &mut RelayStack, peer: &mut Peer) -> Result<(), Error> {
        let (now, longest) = (stack.now(), peer.latency + AFTER_LATENCY);
        while peer.waiting.pop_front_if(|unit| now - unit.at > longest).is_some() {
            self.drop_unit(peer);
        }
        while peer.channel.is_writable()
            && let Some(unit) = peer.waiting.pop_front()
        {
            let time = self.started.map_or(Duration::ZERO, |started| unit.at - started);
            match send_unit(stack, peer, &unit, time.as_nanos() / 1_000) {
                // The transport abandons nothing to make room, or the path MTU has become smaller than a fragment.
                Err(Error::Write(WriteError::Full | WriteError::TooLong { .. })) => self.drop_unit(peer),
                Err(error) => return Err(error),
                Ok(()) => {
                    peer.bytes_out += unit.bytes.len() as u64;
                    self.counters.bytes_out += unit.bytes.len() as u64;
                }
            }
        }
        Ok(())
    }

    fn drop_unit(&mut self, peer: &mut Peer) {
        peer.dropped += 1;
        self.counters.dropped += 1;
    }

    /// Sends the end of the stream to each peer that has no units waiting, and closes that direction.
    pub(crate) fn end(&mut self, stack: &mut RelayStack, peers: &mut Peers) {
        self.ended.get_or_insert(stack.now());
        for peer in peers.all.iter_mut().filter(|peer| is_active(peer) && peer.waiting.is_empty() && !peer.is_end_sent)
        {
            peer.is_end_sent = true;
            // A failure needs no handling: the peer sees the end of the connection instead.
            let time_us = self.started.map_or(0, |started| (stack.now() - started).as_nanos() / 1_000);
            let _ = peer.channel.send(stack, &Message::End { units: self.units, time_us }, self.units.into());
            let _ = stack.shutdown(peer.channel.id);
        }
    }

    /// Returns whether all data is acknowledged, or the drain timeout expired.
    pub(crate) fn is_done(&self, stack: &RelayStack, peers: &Peers) -> bool {
        let Some(ended) = self.ended else { return false };
        peers.all.iter().all(|peer| is_drained(stack, peer))
            || stack.now() - ended > longest_latency(peers) + END_TIMEOUT
    }
}

fn longest_latency(peers: &Peers) -> Duration {
    peers.all.iter().map(|peer| peer.latency).max().unwrap_or(peers.address.latency)
}

fn is_active(peer: &Peer) -> bool {
    peer.is_ready && !peer.is_gone
}

fn is_drained(stack: &RelayStack, peer: &Peer) -> bool {
    let is_acknowledged = |connection: &Connection| connection.outstanding() == 0 && !connection.has_data();
    peer.waiting.is_empty() && stack.connection(peer.channel.id).map_or(true, is_acknowledged)
}

/// Sends a unit in as few fragments as possible. TS packets are not split, so that a lost fragment damages no others.
fn send_unit(stack: &mut RelayStack, peer: &mut Peer, unit: &MediaUnit, time_us: u64) -> Result<(), Error> {
    let bytes = &unit.bytes;
    let max = peer.channel.max_fragment(stack);
    let length = if ts::is_ts(bytes) && max >= PACKET_BYTES { max / PACKET_BYTES * PACKET_BYTES } else { max };
    let count = bytes.len().div_ceil(length).min(usize::from(u8::MAX)) as u8;
    for (index, bytes) in (0..count).zip(bytes.chunks(length)) {
        let message = Message::Media(Fragment { unit: unit.number, time_us, index, count, bytes });
        peer.channel.send(stack, &message, unit.number.into())?;
    }
    Ok(())
}
