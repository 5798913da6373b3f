//! The interface to the application: writing, reading, state and counters.

use super::Connection;
use super::drop_counters::DropCounters;
use super::events::Event;
use super::state::{RfcState, SendSide, TcpState};
use crate::policy::control::Gauges;
use crate::real_time::{Frame, RealTimeStatistics, WriteError};
use crate::send::counters::busy_time::LimitedTimes;
use crate::send::loss::timer::TimerValue;
use crate::trace::{Cx, Statistics};
use core::ops::Range;
use earlybird_units::{Duration, Instant, Rate};
use earlybird_wire::IcmpError;

const fn frame_at(range: Range<u64>) -> Frame {
    // Stream position 0 is the SYN.
    Frame { position: range.start - 1, bytes: (range.end - range.start) as u16 }
}

impl Connection {
    // Events.

    /// Returns whether [`Self::poll_event`] may return an event: cheaper than the call itself.
    #[must_use]
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty() || self.awaits_send_space
    }

    /// Returns the next event. To be called until there is none, after every other call.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.next().or_else(|| self.take_writable())
    }

    // Writing.

    /// Queues `bytes` for sending; returns how many of them were taken: all, unless [`BufferConfig::send`] or
    /// [`BufferConfig::unsent_limit`] leaves less room. Then [`Event::Writable`] reports when there is room again.
    ///
    /// # Errors
    ///
    /// Returns an error if this side has closed, or if one write is one segment: then [`Self::write_frame`] is to be used.
    ///
    /// [`BufferConfig::send`]: crate::BufferConfig::send
    /// [`BufferConfig::unsent_limit`]: crate::BufferConfig::unsent_limit
    pub fn write(&mut self, bytes: u64) -> Result<u64, WriteError> {
        if self.config.real_time.framing {
            return Err(WriteError::Framed);
        }
        if !self.is_open_for_writing() {
            return Err(WriteError::Closed);
        }
        let taken = bytes.min(self.room());
        // The next `Writable` is due only after a short write.
        self.awaits_send_space |= taken < bytes;
        self.sender.write(taken);
        Ok(taken)
    }

    /// Returns how many bytes a [`write`](Self::write) would take.
    pub fn room(&self) -> u64 {
        let holds_unsent = self.config.buffers.unsent_limit.is_none_or(|limit| self.notsent() < limit);
        match self.config.buffers.send {
            _ if !holds_unsent => 0,
            Some(buffer) => buffer.saturating_sub(self.held()),
            None => u64::MAX - self.held(),
        }
    }

    /// Returns the bytes that were written and never sent (`tcpi_notsent_bytes`).
    pub fn notsent(&self) -> u64 {
        self.sender.buffer().queue().unsent()
    }

    /// Returns the bytes that were written and not acknowledged.
    fn held(&self) -> u64 {
        let queue = self.sender.buffer().queue();
        let sent = queue.fin_at().unwrap_or(self.sender.buffer().scoreboard().end_position()).saturating_sub(1);
        (sent - self.acknowledged().min(sent)).saturating_add(queue.unsent())
    }

    /// Changes the limits of what is held: [`BufferConfig::send`](crate::BufferConfig::send) and
    /// [`BufferConfig::unsent_limit`](crate::BufferConfig::unsent_limit).
    pub fn set_send_limits(&mut self, send_buffer: Option<u64>, unsent_limit: Option<u64>) {
        self.config.buffers.send = send_buffer;
        self.config.buffers.unsent_limit = unsent_limit;
    }

    /// Changes the time after its write at which a frame is abandoned, as two sides agree on it after the handshake. Without effect
    /// unless the backlog is [`Backlog::AbandonPastDeadline`](crate::Backlog::AbandonPastDeadline) or
    /// [`Backlog::AbandonUndeliverable`](crate::Backlog::AbandonUndeliverable).
    pub fn set_frame_deadline(&mut self, deadline: Duration) {
        self.sender.set_frame_deadline(deadline);
    }

    /// Returns, once, that there is room again after a short write.
    #[inline]
    fn take_writable(&mut self) -> Option<Event> {
        if !self.awaits_send_space {
            return None;
        }
        // A third of the buffer (as in Linux, `sk_stream_is_writeable`), so that a writer is not woken for every segment.
        let enough = self.config.buffers.send.map_or(1, |buffer| buffer.div_ceil(3).max(1));
        self.awaits_send_space = self.room() < enough;
        (!self.awaits_send_space).then_some(Event::Writable)
    }

    /// Switches Nagle's algorithm on or off, as [`SegmentConfig::nagle`](crate::SegmentConfig::nagle) does. Switched off, waiting data is sent at
    /// once.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.sender.set_nagle(nagle);
    }

    /// Sets whether data that do not fill a segment are held back, until more are written, this side closes, or 200 ms are over.
    pub fn cork(&mut self, is_corked: bool) {
        self.sender.set_corked(is_corked);
    }

    /// Ends a record: later writes go into other segments, and the last segment of the record carries PSH.
    pub fn end_record(&mut self) {
        self.sender.end_record();
    }

    fn is_open_for_writing(&self) -> bool {
        match self.state {
            TcpState::Transfer(sides) => sides.send == SendSide::Open,
            TcpState::Listen | TcpState::SynSent | TcpState::SynReceived => !self.sender.buffer().queue().is_finished(),
            TcpState::TimeWait | TcpState::Closed => false,
        }
    }

    /// Queues one frame for sending and returns its number: 0, 1, 2 … in order of writing. A frame is one segment, never merged
    /// with others and never split.
    ///
    /// Consecutive frames with the same `unit` belong together: if one of them is abandoned, all are, and so are those of the unit
    /// that are written later.
    ///
    /// Before the handshake the limit is our own MSS. If the peer's is smaller, frames that no longer fit are abandoned.
    ///
    /// # Errors
    ///
    /// Returns an error if the frame is empty or longer than the MSS, if the send buffer is full with [`Backlog::Block`], if this
    /// side has closed, or if [`RealTime::framing`](crate::RealTime::framing) is off.
    ///
    /// [`Backlog::Block`]: crate::Backlog::Block
    pub fn write_frame(&mut self, cx: &mut Cx<'_>, bytes: u64, unit: u64) -> Result<u64, WriteError> {
        match (self.config.real_time.framing, self.is_open_for_writing()) {
            (false, _) => Err(WriteError::Unframed),
            (true, false) => Err(WriteError::Closed),
            (true, true) => self.sender.write_frame(cx.now, bytes, unit),
        }
    }

    /// Returns the number of the next frame that was abandoned, before it was sent or while it may still arrive. Frames that the
    /// peer is known to have are not among them. If it is not polled, only the newest ones are kept; all are counted.
    pub fn poll_abandoned(&mut self) -> Option<u64> {
        self.sender.poll_abandoned()
    }

    /// Reads up to `bytes` of what arrived in order; returns how many there were. With framing, whole frames are read.
    ///
    /// Where the reader has skipped a hole, the bytes before and behind it are adjacent; [`poll_skipped`](Self::poll_skipped)
    /// returns where.
    #[inline]
    pub fn read(&mut self, bytes: u64) -> u64 {
        self.receiver.read(bytes)
    }

    /// Reads everything that arrived in order if [`Event::Readable`] is pending, and clears that event: for applications that only
    /// count what arrives.
    #[inline]
    pub fn drain_readable(&mut self) {
        if self.events.remove(Event::Readable) {
            self.receiver.read(u64::MAX);
        }
    }

    // Reading.

    /// Reads one frame, which is one segment as the peer wrote it; needs [`RealTime::framing`](crate::RealTime::framing).
    ///
    /// If there is none, the reader *waits* until a frame is returned or until [`stop_waiting`](Self::stop_waiting). While it waits,
    /// [`Delivery::SkipWhenWaiting`](crate::Delivery::SkipWhenWaiting) returns the next frame that arrives, whatever is missing
    /// before it (MTCP paper, rules R2 and R3). The time of reading therefore decides what is lost: a missing frame can be
    /// repaired until it is asked for. A hole before the end of the stream is skipped too, and [`Event::PeerClosed`] follows.
    ///
    /// The data of a peer that does not send frames, and cuts retransmissions differently, are read in the pieces that arrived.
    pub fn read_frame(&mut self, cx: &mut Cx<'_>) -> Option<Frame> {
        let frame = self.receiver.read_frame().or_else(|| {
            self.receiver.wait();
            self.close_if_finished(cx.now);
            self.receiver.read_frame()
        });
        frame.map(frame_at)
    }

    /// Returns the frame that [`read_frame`](Self::read_frame) would return, without reading it.
    ///
    /// An application that knows the deadline of a frame from its payload can wait until then before it skips a hole.
    pub fn peek_frame(&self) -> Option<Frame> {
        self.receiver.peek_frame().map(frame_at)
    }

    /// Returns the highest frame that arrived and was not read, behind holes or not, without reading it.
    ///
    /// Its delay is that of the path; frames before it may have waited for a repair.
    pub fn newest_frame(&self) -> Option<Frame> {
        self.receiver.newest_frame().map(frame_at)
    }

    /// Returns the bytes that can be read without a skip.
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Returns the stream offset below which no frame is left to be read: a driver can drop the bytes before it.
    pub fn read_below(&self) -> u64 {
        self.receiver.read_below().saturating_sub(1)
    }

    /// Makes the reader wait, as a [`read_frame`](Self::read_frame) without result does: for connections without framing, whose
    /// [`read`](Self::read) returned nothing. The wait ends with a read that returns something.
    ///
    /// Reports [`Event::Readable`] if there is something at once. A reader that has something to read does not wait.
    pub fn wait(&mut self, cx: &mut Cx<'_>) {
        let readable = self.receiver.wait();
        self.on_skipped(cx.now, readable);
    }

    /// Ends the wait for a frame: missing data can be repaired again.
    pub fn stop_waiting(&mut self) {
        self.receiver.stop_waiting();
    }

    /// Returns the next part of the stream that the reader skipped, by positions as in [`Frame::position`]. Without framing it
    /// shows where data are missing in what [`read`](Self::read) returned.
    ///
    /// The last 256 are kept for a reader that does not poll.
    pub fn poll_skipped(&mut self) -> Option<Range<u64>> {
        let skipped = self.receiver.poll_skipped()?;
        Some(skipped.start - 1..skipped.end - 1)
    }

    /// Returns the counters of the real-time mode.
    pub fn real_time_statistics(&self) -> RealTimeStatistics {
        let mut statistics = self.receiver.real_time_statistics();
        self.sender.add_to(&mut statistics);
        statistics
    }

    /// Reports what a skip made readable, which may be the end of the stream.
    pub(super) fn on_skipped(&mut self, now: Instant, readable: u64) {
        if readable > 0 {
            self.events.add(Event::Readable);
        }
        self.close_if_finished(now);
    }

    /// Sets whether ACKs are sent at once for a while, or delayed until the application answers: Linux's `TCP_QUICKACK`.
    ///
    /// It has an effect only with [`Acking::Adaptive`](crate::Acking::Adaptive), which adapts again to what arrives.
    pub fn quick_ack(&mut self, is_quick: bool) {
        self.receiver.set_interactive(!is_quick);
    }

    /// Returns the delay of ACKs where it adapts, once data have arrived.
    pub fn ack_delay(&self) -> Option<Duration> {
        self.receiver.ack_delay()
    }

    // State and counters.

    /// Returns the state's name in RFC 9293.
    pub fn state(&self) -> RfcState {
        self.state.rfc()
    }

    /// Returns whether anything written waits to be sent or acknowledged.
    pub fn has_data(&self) -> bool {
        !self.sender.has_nothing_to_send()
    }

    /// Returns the bytes received in order so far, without those that were skipped.
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Returns the sender's counters.
    pub fn statistics(&self) -> &Statistics {
        self.sender.counters().statistics()
    }

    /// Returns the congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.sender.rate().cwnd()
    }

    /// Returns the slow-start threshold in segments.
    pub fn ssthresh(&self) -> f64 {
        self.sender.rate().control().ssthresh()
    }

    /// Returns the segments sent and not acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.sender.buffer().scoreboard().outstanding()
    }

    /// Returns the estimate of the segments in the network; without SACK, those not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.sender.loss().recovery().pipe(self.sender.buffer().scoreboard())
    }

    /// Returns the segments above the first hole that the peer has reported by SACK.
    pub fn sacked(&self) -> u64 {
        self.sender.buffer().scoreboard().sacked().total()
    }

    /// Returns the segments that count as lost and were not retransmitted since.
    pub fn lost(&self) -> u64 {
        let (scoreboard, mut count) = (&self.sender.buffer().scoreboard(), 0);
        self.sender.loss().recovery().visit_lost(scoreboard, &mut |_| count += 1);
        count
    }

    /// Returns the outstanding segments that were retransmitted and not reported by SACK.
    pub fn retransmitted(&self) -> u64 {
        self.sender.buffer().scoreboard().retransmitted()
    }

    /// Returns the degree of reordering, in segments: 3 before any was seen, as Linux counts (`tcpi_reordering`).
    pub fn reordering(&self) -> u64 {
        self.sender.buffer().scoreboard().reordering()
    }

    /// Returns whether a gradual reduction of the window is under way (PRR).
    pub fn is_reducing(&self) -> bool {
        self.sender.rate().is_reducing()
    }

    /// Returns how many bytes of the stream the peer has acknowledged: a driver can drop them.
    pub fn acknowledged(&self) -> u64 {
        self.sender
            .buffer()
            .scoreboard()
            .acknowledged()
            .min(self.sender.buffer().queue().fin_at().unwrap_or(u64::MAX))
            .saturating_sub(1)
    }

    /// Returns the largest payload of a segment, in bytes.
    pub fn effective_mss(&self) -> u64 {
        self.sender.buffer().size().mss()
    }

    /// Returns the number of the highest segment acknowledged in order, the SYN being 0; `None` before that.
    pub fn highest_acknowledged(&self) -> Option<u64> {
        self.sender.buffer().scoreboard().una().checked_sub(1)
    }

    /// Returns the state of the retransmission timer.
    pub fn timer(&self) -> TimerValue {
        self.sender.loss().timer().value()
    }

    /// Returns the shortest round trip that the timer measured; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.sender.loss().timer().min_rtt()
    }

    /// Returns the mean deviation of round trips (RTTVAR of RFC 6298); `None` before the first sample.
    pub fn rttvar(&self) -> Option<Duration> {
        self.sender.loss().timer().rttvar()
    }

    /// Returns the rate at which payload was acknowledged over the last round trip; `None` before that is over.
    pub fn delivery_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_second(self.sender.counters().delivery_rate()?)
    }

    /// Returns for how long each limit has held the sender back until `now`.
    pub fn limited_times(&self, now: Instant) -> LimitedTimes {
        self.sender.counters().limited_times(now)
    }

    /// Returns the threshold of early retransmission, if that rule is on and has a sample.
    pub fn early_threshold(&self) -> Option<Duration> {
        self.sender.loss().dupthresh().threshold()
    }

    /// Returns the pacing rate of payload; `None` without pacing, or before the rate is known.
    pub fn pacing_rate(&self) -> Option<Rate> {
        let bits = self.sender.pacing_rate()? * self.sender.buffer().size().mss() as f64 * 8.0;
        Rate::from_bits_per_second(bits as u64)
    }

    /// Returns the internal values of the congestion control.
    pub fn gauges(&self) -> Gauges {
        self.sender.rate().control().gauges()
    }

    /// Returns whether a recovery is under way.
    pub fn is_recovering(&self) -> bool {
        self.sender.loss().recovery().is_recovering()
    }

    /// Returns how many segments the peer's reader has skipped, as its SNACKs report.
    pub fn losses_reported(&self) -> u64 {
        self.sender.partial().snack().skipped()
    }

    /// Returns the number of frames that are neither acknowledged nor abandoned.
    pub fn frames_held(&self) -> u64 {
        self.sender.buffer().frames_held()
    }

    /// Returns the numbers of segments that were dropped, by reason.
    pub fn drop_counters(&self) -> DropCounters {
        DropCounters {
            echoes: self.sender.counters().impossible_echoes(),
            sack_blocks: self.sender.buffer().scoreboard().impossible_blocks(),
            ..self.drop_counters
        }
    }

    /// Returns the last ICMP report of a segment that did not arrive.
    pub fn last_icmp_error(&self) -> Option<IcmpError> {
        self.last_icmp_error
    }
}
