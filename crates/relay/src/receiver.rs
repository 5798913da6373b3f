//! The receiving side: from another relay to a sink, each unit at its playout time.

use crate::message::Message;
use crate::peers::{Peers, RelayStack};
use crate::playout::{ClockOffset, PlayoutBuffer, ReceivedUnit};
use crate::sink::Sink;
use crate::statistics::Counters;
use earlybird_live::Id;
use earlybird_units::{Duration, Instant};
use std::io;

/// Receives units and plays them.
#[derive(Debug)]
pub(crate) struct Receiver {
    counters: Counters,
    playout: Playout,
    /// Whether the sender has announced the end of the stream.
    pub(crate) has_ended: bool,
}

/// The playout of one connection.
#[derive(Debug, Default)]
struct Playout {
    connection: Option<Id>,
    offset: ClockOffset,
    buffer: PlayoutBuffer,
    latency: Duration,
    /// The offset of the previous connection and the number of its next unit, until the first unit of this one.
    earlier: Option<(i64, Option<u32>)>,
}

/// A sender that has the same offset after a reconnect, as far as transit times vary, is the same one: its numbers continue.
const SAME_OFFSET_US: u64 = 1_000_000;

/// A unit that is delivered later than this after its playout time counts as late. Shorter delays come from thread scheduling.
const LATE_TOLERANCE: Duration = Duration::from_millis(5);

impl Receiver {
    pub(crate) fn new() -> Self {
        Self { counters: Counters::default(), playout: Playout::default(), has_ended: false }
    }

    /// Receives messages and plays the units that are due. Returns when the next turn is due.
    ///
    /// # Errors
    ///
    /// If the sink failed permanently.
    pub(crate) fn turn(&mut self, stack: &mut RelayStack, peers: &mut Peers, sink: &mut Sink) -> io::Result<Instant> {
        let mut next = Instant::NEVER;
        if let Some(index) = peers.all.iter().position(|peer| peer.is_ready && !peer.is_gone) {
            next = self.receive(stack, peers, index, sink)?;
        }
        self.play(stack.now(), sink)?;
        Ok(next.min(self.playout.next()))
    }

    fn receive(
        &mut self,
        stack: &mut RelayStack,
        peers: &mut Peers,
        index: usize,
        sink: &mut Sink,
    ) -> io::Result<Instant> {
        let peer = &mut peers.all[index];
        if self.playout.connection != Some(peer.channel.id) {
            self.switch_connection(peer.channel.id, peer.latency, sink)?;
        }
        let (counters, playout, has_ended) = (&mut self.counters, &mut self.playout, &mut self.has_ended);
        let now = stack.now();
        // The newest message first, as it may lower the offset that decides whether a hole is due.
        peer.channel.peek_newest(stack, |message| playout.update_offset(now, message));
        // Read the clock in each iteration: a long batch must not make the rest late.
        loop {
            let now = stack.now();
            let (offset, latency) = (playout.offset.clone(), playout.latency);
            let is_due = |message: &Message<'_>| due(&offset, latency, message).is_none_or(|due| due <= now);
            let received =
                peer.channel.recv(stack, is_due, |message| playout.take(now, message.as_ref(), counters, has_ended));
            match received {
                Ok(Some(true)) => {}
                Ok(None) => break,
                Ok(Some(false)) | Err(_) => {
                    peers.drop_peer(stack, index);
                    return Ok(Instant::NEVER);
                }
            }
        }
        // The end message is read in order, so that all units before it are in the buffer.
        if *has_ended {
            peers.close_peer(stack, index);
            return Ok(Instant::NEVER);
        }
        let waiting = peer.channel.peek_next(stack, |message| due(&playout.offset, playout.latency, message));
        Ok(waiting.flatten().unwrap_or(Instant::NEVER))
    }

    /// Starts the playout of a new connection, which has its own timestamps. Units of the old one are delivered at once.
    fn switch_connection(&mut self, connection: Id, latency: Duration, sink: &mut Sink) -> io::Result<()> {
        let old = std::mem::replace(
            &mut self.playout,
            Playout { connection: Some(connection), latency, ..Playout::default() },
        );
        self.counters.lost += old.buffer.lost;
        self.playout.earlier = old.offset.offset().map(|offset| (offset, old.buffer.next()));
        let mut buffer = old.buffer;
        while let Some(unit) = buffer.pop() {
            self.deliver(&unit, sink)?;
        }
        // The new connection may belong to a sender that was restarted.
        self.has_ended = false;
        Ok(())
    }

    fn play(&mut self, now: Instant, sink: &mut Sink) -> io::Result<()> {
        while self.playout.next() <= now
            && let Some(unit) = self.playout.buffer.pop()
        {
            let due = self.playout.offset.playout(unit.time_us, self.playout.latency);
            // Only whole units that missed their time count as late; incomplete ones count as lost.
            self.counters.late += u64::from(now - due > LATE_TOLERANCE);
            self.deliver(&unit, sink)?;
        }
        Ok(())
    }

    fn deliver(&mut self, unit: &ReceivedUnit, sink: &mut Sink) -> io::Result<()> {
        let is_taken = sink.put(unit.time_us, &unit.bytes)?;
        self.counters.refused += u64::from(!is_taken);
        self.counters.bytes_out += if is_taken { unit.bytes.len() as u64 } else { 0 };
        Ok(())
    }

    /// Returns whether all received units were played.
    pub(crate) fn is_done(&self) -> bool {
        self.playout.buffer.is_empty()
    }

    /// Returns the counters and the duration of the playout buffer.
    pub(crate) fn snapshot(&self) -> (Counters, Duration) {
        let lost = self.counters.lost + self.playout.buffer.lost;
        (Counters { lost, ..self.counters }, Duration::from_micros(self.playout.buffer.span_us()))
    }
}

/// Returns the time until which the data before a message may arrive: the playout time for media and the end of the stream,
/// `None` (at once) for others.
fn due(offset: &ClockOffset, latency: Duration, message: &Message<'_>) -> Option<Instant> {
    match message {
        Message::Media(fragment) => Some(offset.playout(fragment.time_us, latency)),
        Message::End { time_us, .. } => Some(offset.playout(*time_us, latency)),
        _ => None,
    }
}

impl Playout {
    /// Processes a message. Returns whether it was valid.
    fn take(
        &mut self,
        now: Instant,
        message: Option<&Message<'_>>,
        counters: &mut Counters,
        has_ended: &mut bool,
    ) -> bool {
        match message {
            Some(Message::Media(fragment)) => {
                self.offset.update(now, fragment.time_us);
                self.continue_numbers();
                counters.units += u64::from(fragment.index == 0);
                counters.bytes += fragment.bytes.len() as u64;
                self.buffer.push(fragment);
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

    /// Continues the numbers of units after a reconnect, so that those in between count as lost.
    fn continue_numbers(&mut self) {
        if let Some((offset, next)) = self.earlier.take()
            && self.offset.offset().is_some_and(|own| own.abs_diff(offset) < SAME_OFFSET_US)
        {
            self.buffer.continue_from(next);
        }
    }

    /// Updates the clock offset from the newest message, even behind a hole: otherwise a loss would delay the first estimate.
    fn update_offset(&mut self, now: Instant, message: &Message<'_>) {
        if let Message::Media(fragment) = message {
            self.offset.update(now, fragment.time_us);
        }
    }

    /// Returns the playout time of the first unit.
    fn next(&self) -> Instant {
        self.buffer.first_time().map_or(Instant::NEVER, |time| self.offset.playout(time, self.latency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Fragment;

    /// Returns the units that count as lost after a reconnect, if the first unit of the new connection has this number and source time.
    fn lost_after_reconnect(unit: u32, time_us: u64) -> u64 {
        let now = Instant::ZERO + Duration::from_secs(10);
        let mut playout = Playout { earlier: Some((4_000_000, Some(100))), ..Playout::default() };
        let fragment = Fragment { unit, time_us, index: 0, count: 1, bytes: &[7; 10] };
        playout.take(now, Some(&Message::Media(fragment)), &mut Counters::default(), &mut false);
        playout.buffer.lost
    }

    /// The symptom: 16,067 of 18,238 units were lost between connections, and `pktRcvDrop` was 0.
    #[test]
    fn units_between_two_connections_to_a_sender_count_as_lost() {
        assert_eq!(lost_after_reconnect(130, 6_000_000), 30);
        assert_eq!(lost_after_reconnect(130, 5_500_000), 30, "the path was 0.5 s faster before");
        assert_eq!(lost_after_reconnect(130, 200_000), 0, "another sender");
        assert_eq!(lost_after_reconnect(0, 6_000_000), 0, "a sender that was restarted");
    }
}
