//! From another relay to a sink, each unit at its time.

use crate::link::{Link, RelayStack};
use crate::message::Message;
use crate::playout::{Buffer, Offset, Unit};
use crate::sink::Sink;
use crate::statistics::Counts;
use earlybird_live::Id;
use earlybird_units::{Duration, Instant};
use std::io;

/// Plays what a relay sends.
#[derive(Debug)]
pub(crate) struct Receiver {
    counts: Counts,
    player: Player,
    /// The sender said that this was all.
    pub(crate) has_ended: bool,
}

/// What came over one connection.
#[derive(Debug, Default)]
struct Player {
    connection: Option<Id>,
    offset: Offset,
    buffer: Buffer,
    latency: Duration,
}

/// A unit that leaves this much later than it was due counts as late: a thread may have to wait for its processor.
const TOLERANCE: Duration = Duration::from_millis(5);

impl Receiver {
    pub(crate) fn new() -> Self {
        Self { counts: Counts::default(), player: Player::default(), has_ended: false }
    }

    /// Takes what came and plays what is due; gives the time at which to come back.
    ///
    /// # Errors
    ///
    /// If the sink is broken for good.
    pub(crate) fn turn(&mut self, stack: &mut RelayStack, link: &mut Link, sink: &mut Sink) -> io::Result<Instant> {
        let mut next = Instant::NEVER;
        if let Some(index) = link.peers.iter().position(|peer| peer.is_ready && !peer.is_gone) {
            next = self.hear(stack, link, index, sink)?;
        }
        self.play(stack.now(), sink)?;
        Ok(next.min(self.player.next()))
    }

    fn hear(&mut self, stack: &mut RelayStack, link: &mut Link, index: usize, sink: &mut Sink) -> io::Result<Instant> {
        let peer = &mut link.peers[index];
        if self.player.connection != Some(peer.session.id) {
            self.change_over(peer.session.id, peer.latency, sink)?;
        }
        let (counts, player, has_ended) = (&mut self.counts, &mut self.player, &mut self.has_ended);
        let now = stack.now();
        peer.session.newest(stack, |message| player.note_way(now, message));
        loop {
            let now = stack.now();
            let (offset, latency) = (player.offset.clone(), player.latency);
            let is_due = |message: &Message<'_>| due(&offset, latency, message).is_none_or(|due| due <= now);
            let heard =
                peer.session.hear(stack, is_due, |message| player.take(now, message.as_ref(), counts, has_ended));
            match heard {
                Ok(Some(true)) => {}
                Ok(None) => break,
                Ok(Some(false)) | Err(_) => {
                    link.drop_peer(stack, index);
                    return Ok(Instant::NEVER);
                }
            }
        }
        if *has_ended {
            link.close_peer(stack, index);
            return Ok(Instant::NEVER);
        }
        let waiting = peer.session.behind_hole(stack, |message| due(&player.offset, player.latency, message));
        Ok(waiting.flatten().unwrap_or(Instant::NEVER))
    }

    /// A new connection has times of its own; what came over the old one is handed on at once.
    fn change_over(&mut self, connection: Id, latency: Duration, sink: &mut Sink) -> io::Result<()> {
        let old =
            std::mem::replace(&mut self.player, Player { connection: Some(connection), latency, ..Player::default() });
        self.counts.lost += old.buffer.lost;
        let mut buffer = old.buffer;
        while let Some(unit) = buffer.pop() {
            self.hand_on(&unit, sink)?;
        }
        self.has_ended = false;
        Ok(())
    }

    fn play(&mut self, now: Instant, sink: &mut Sink) -> io::Result<()> {
        while self.player.next() <= now
            && let Some(unit) = self.player.buffer.pop()
        {
            let due = self.player.offset.playout(unit.time_us, self.player.latency);
            self.counts.late += u64::from(now - due > TOLERANCE);
            self.hand_on(&unit, sink)?;
        }
        Ok(())
    }

    fn hand_on(&mut self, unit: &Unit, sink: &mut Sink) -> io::Result<()> {
        let is_taken = sink.put(unit.time_us, &unit.bytes)?;
        self.counts.refused += u64::from(!is_taken);
        self.counts.bytes_out += if is_taken { unit.bytes.len() as u64 } else { 0 };
        Ok(())
    }

    /// Returns whether everything was played that came.
    pub(crate) fn is_done(&self) -> bool {
        self.player.buffer.is_empty()
    }

    /// Returns what was counted, and how much waits for its time.
    pub(crate) fn state(&self) -> (Counts, Duration) {
        let lost = self.counts.lost + self.player.buffer.lost;
        (Counts { lost, ..self.counts }, Duration::from_micros(self.player.buffer.span_us()))
    }
}

/// Returns the time at which a message is of use: media and their end at theirs, anything else at once.
fn due(offset: &Offset, latency: Duration, message: &Message<'_>) -> Option<Instant> {
    match message {
        Message::Media(part) => Some(offset.playout(part.time_us, latency)),
        Message::End { time_us, .. } => Some(offset.playout(*time_us, latency)),
        _ => None,
    }
}

impl Player {
    /// Takes a message; says whether it makes sense.
    fn take(&mut self, now: Instant, message: Option<&Message<'_>>, counts: &mut Counts, has_ended: &mut bool) -> bool {
        match message {
            Some(Message::Media(part)) => {
                self.offset.note(now, part.time_us);
                counts.units += u64::from(part.index == 0);
                counts.bytes += part.bytes.len() as u64;
                self.buffer.take(part);
                true
            }
            Some(Message::End { units, .. }) => {
                self.buffer.end(*units);
                *has_ended = true;
                true
            }
            _ => false,
        }
    }

    /// Learns from a message that came how long the way is.
    fn note_way(&mut self, now: Instant, message: &Message<'_>) {
        if let Message::Media(part) = message {
            self.offset.note(now, part.time_us);
        }
    }

    /// Returns the time at which the first unit is due.
    fn next(&self) -> Instant {
        self.buffer.first_time().map_or(Instant::NEVER, |time| self.offset.playout(time, self.latency))
    }
}
