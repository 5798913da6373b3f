//! From a source to other relays.

use crate::link::{Link, Peer, RelayStack};
use crate::message::{Message, Part};
use crate::source::Chunk;
use crate::statistics::Counts;
use crate::ts::{self, PACKET};
use earlybird_live::Error;
use earlybird_tcp::{Connection, WriteError};
use earlybird_units::{Duration, Instant};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

/// What a source had at once, with its number.
#[derive(Debug)]
pub(crate) struct Unit {
    number: u32,
    chunk: Chunk,
}

/// Sends what a source has to all relays that want it.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    pub(crate) counts: Counts,
    /// When the first unit came: the time that all others count from.
    began: Option<Instant>,
    units: u32,
    ended: Option<Instant>,
}

/// Time for the end of the stream to arrive.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Sender {
    /// Takes what the source has, and sends it; says whether the source has come to its end.
    pub(crate) fn turn(&mut self, stack: &mut RelayStack, link: &mut Link, chunks: &Receiver<Chunk>) -> bool {
        let has_ended = loop {
            match chunks.try_recv() {
                Ok(chunk) => self.take(chunk, link),
                Err(error) => break error == TryRecvError::Disconnected,
            }
        };
        for index in 0..link.peers.len() {
            if is_here(&link.peers[index]) && self.serve(stack, &mut link.peers[index], link.address.latency).is_err() {
                link.drop_peer(stack, index);
            }
        }
        has_ended
    }

    fn take(&mut self, chunk: Chunk, link: &mut Link) {
        self.counts.units += 1;
        self.counts.bytes += chunk.bytes.len() as u64;
        self.began.get_or_insert(chunk.at);
        let unit = Arc::new(Unit { number: self.units, chunk });
        self.units = self.units.wrapping_add(1);
        self.counts.dropped += u64::from(!link.peers.iter().any(is_here));
        for peer in link.peers.iter_mut().filter(|peer| is_here(peer)) {
            peer.waiting.push_back(unit.clone());
        }
    }

    /// Sends a peer what there is room for, and leaves out what it cannot play in time any more.
    fn serve(&mut self, stack: &mut RelayStack, peer: &mut Peer, latency: Duration) -> Result<(), Error> {
        let now = stack.now();
        while peer.waiting.pop_front_if(|unit| now - unit.chunk.at > latency).is_some() {
            self.counts.dropped += 1;
        }
        while peer.session.has_room()
            && let Some(unit) = peer.waiting.pop_front()
        {
            let time = self.began.map_or(Duration::ZERO, |began| unit.chunk.at - began);
            match send_unit(stack, peer, &unit, time.as_nanos() / 1_000) {
                // A transport that gives nothing up to make room, or a path that carries less than before.
                Err(Error::Write(WriteError::Full | WriteError::TooLong { .. })) => self.counts.dropped += 1,
                Err(error) => return Err(error),
                Ok(()) => self.counts.bytes_out += unit.chunk.bytes.len() as u64,
            }
        }
        Ok(())
    }

    /// Tells all that there is no more, once they have the rest.
    pub(crate) fn end(&mut self, stack: &mut RelayStack, link: &mut Link) {
        self.ended.get_or_insert(stack.now());
        for peer in link.peers.iter_mut().filter(|peer| is_here(peer) && peer.waiting.is_empty() && !peer.knows_end) {
            peer.knows_end = true;
            // Who does not hear it finds out by the end of the connection.
            let time_us = self.began.map_or(0, |began| (stack.now() - began).as_nanos() / 1_000);
            let _ = peer.session.say(stack, &Message::End { units: self.units, time_us }, self.units.into());
            let _ = stack.shutdown(peer.session.id);
        }
    }

    /// Returns whether everything was sent that is of use, or there was time enough for it.
    pub(crate) fn is_done(&self, stack: &RelayStack, link: &Link) -> bool {
        let Some(ended) = self.ended else { return false };
        link.peers.iter().all(|peer| has_all(stack, peer)) || stack.now() - ended > link.address.latency + LAST_WORDS
    }
}

fn is_here(peer: &Peer) -> bool {
    peer.is_ready && !peer.is_gone
}

fn has_all(stack: &RelayStack, peer: &Peer) -> bool {
    let is_acknowledged = |connection: &Connection| connection.outstanding() == 0 && !connection.has_data();
    peer.waiting.is_empty() && stack.connection(peer.session.id).map_or(true, is_acknowledged)
}

/// Sends a unit in as few parts as fit; packets of a transport stream stay whole.
fn send_unit(stack: &mut RelayStack, peer: &mut Peer, unit: &Unit, time_us: u64) -> Result<(), Error> {
    let bytes = &unit.chunk.bytes;
    let most = peer.session.largest_part(stack);
    let length = if ts::is_whole(bytes) && most >= PACKET { most / PACKET * PACKET } else { most };
    let count = bytes.len().div_ceil(length).min(usize::from(u8::MAX)) as u8;
    for (index, bytes) in (0..count).zip(bytes.chunks(length)) {
        let message = Message::Media(Part { unit: unit.number, time_us, index, count, bytes });
        peer.session.say(stack, &message, unit.number.into())?;
    }
    Ok(())
}
