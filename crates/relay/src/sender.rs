//! From a source to other relays.

use crate::link::{Link, Peer, RelayStack};
use crate::message::{Message, Part};
use crate::source::Chunk;
use crate::statistics::Counts;
use crate::ts::{self, PACKET};
use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError};

/// Sends what a source has to all relays that want it.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) counts: Counts,
    /// When the first unit came: the time that all others count from.
    began: Option<Instant>,
    units: u32,
    /// What a stream has no room for yet.
    waiting: VecDeque<Chunk>,
    ended: Option<Instant>,
}

impl Sender {
    pub(crate) fn new() -> Self {
        Self { counts: Counts::default(), began: None, units: 0, waiting: VecDeque::new(), ended: None }
    }

    /// Takes what the source has, and sends it; says whether the source has come to its end.
    pub(crate) fn turn(&mut self, stack: &mut RelayStack, link: &mut Link, chunks: &Receiver<Chunk>) -> bool {
        let mut has_ended = false;
        while !has_ended {
            match chunks.try_recv() {
                Ok(chunk) => self.take(chunk),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => has_ended = true,
            }
        }
        self.forget_old(stack.now(), link.address.latency);
        while link.peers.iter().filter(|peer| is_here(peer)).all(|peer| peer.session.has_room())
            && let Some(chunk) = self.waiting.pop_front()
        {
            self.send(stack, link, &chunk);
        }
        has_ended
    }

    fn take(&mut self, chunk: Chunk) {
        self.counts.units += 1;
        self.counts.bytes += chunk.bytes.len() as u64;
        self.began.get_or_insert(chunk.at);
        self.waiting.push_back(chunk);
    }

    /// Leaves out what nobody can play in time any more.
    fn forget_old(&mut self, now: Instant, latency: Duration) {
        while self.waiting.pop_front_if(|chunk| now - chunk.at > latency).is_some() {
            self.counts.dropped += 1;
            self.units = self.units.wrapping_add(1);
        }
    }

    fn send(&mut self, stack: &mut RelayStack, link: &mut Link, chunk: &Chunk) {
        let unit = self.units;
        self.units = unit.wrapping_add(1);
        self.counts.dropped += u64::from(!link.peers.iter().any(is_here));
        let time_us = self.began.map_or(0, |began| (chunk.at - began).as_nanos() / 1_000);
        for index in 0..link.peers.len() {
            let peer = &mut link.peers[index];
            if is_here(peer) && send_unit(stack, peer, unit, time_us, &chunk.bytes).is_err() {
                link.drop_peer(stack, index);
            }
        }
    }

    /// Tells all that there is no more.
    pub(crate) fn end(&mut self, stack: &mut RelayStack, link: &mut Link) {
        if self.ended.is_some() {
            return;
        }
        self.ended = Some(stack.now());
        for peer in link.peers.iter_mut().filter(|peer| is_here(peer)) {
            // Who does not hear it finds out by the end of the connection.
            let _ = peer.session.say(stack, &Message::End { units: self.units }, self.units.into());
            let _ = stack.shutdown(peer.session.id);
        }
    }

    /// Says whether everything was sent that is of use, or there was time enough for it.
    pub(crate) fn is_done(&self, stack: &RelayStack, link: &Link) -> bool {
        let Some(ended) = self.ended else { return false };
        let has_all = |peer: &Peer| {
            stack
                .connection(peer.session.id)
                .map_or(true, |connection| connection.outstanding() == 0 && !connection.has_data())
        };
        let is_over = link.peers.iter().all(has_all);
        is_over || stack.now() - ended > link.address.latency + LAST_WORDS
    }
}

/// Time for the end of the stream to arrive.
const LAST_WORDS: Duration = Duration::from_secs(2);

fn is_here(peer: &Peer) -> bool {
    peer.is_ready && !peer.is_gone
}

/// Sends a unit in as few parts as fit; packets of a transport stream stay whole.
fn send_unit(
    stack: &mut RelayStack,
    peer: &mut Peer,
    unit: u32,
    time_us: u64,
    bytes: &[u8],
) -> Result<(), earlybird_live::Error> {
    let most = peer.session.largest_part(stack);
    let length = if ts::is_whole(bytes) && most >= PACKET { most / PACKET * PACKET } else { most };
    let count = bytes.len().div_ceil(length).min(usize::from(u8::MAX)) as u8;
    for (index, bytes) in (0..count).zip(bytes.chunks(length)) {
        let message = Message::Media(Part { unit, time_us, index, count, bytes });
        peer.session.say(stack, &message, unit.into())?;
    }
    Ok(())
}
