//! One end of a conversation; the test plays the other.

use crate::notation;
use earlybird_tcp::{
    Config, Connection, Cx, Event, FastOpenOffer, Identity, KeepAlive, RfcState, Trace, TraceEvent, WriteError,
};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{FastOpen, Flags, SackBlock, Segment, SeqNum};
use std::collections::VecDeque;
use std::ops::Range;

/// The number of the test's SYN: sequence numbers wrap after 1500 bytes of data.
const PEER: SeqNum = SeqNum(u32::MAX - 1500);
/// The window that the test tells unless it says otherwise.
const PEER_WINDOW: u16 = 64_000;
/// Payload of a full segment where numbers of segments are spoken of.
const MSS: u64 = 1000;

/// A connection with its clock, and what it sent that the test has not looked at.
pub(crate) struct Host {
    pub(crate) connection: Connection,
    now: Instant,
    sent: VecDeque<Sent>,
    /// Number of our SYN, known from the first segment.
    origin: Option<SeqNum>,
    shown_window: Option<u16>,
    decisions: Decisions,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    segment: Segment,
    number: Option<u64>,
    frame: Option<u64>,
}

#[derive(Default)]
struct Decisions(Vec<TraceEvent>);

impl Trace for Decisions {
    fn record(&mut self, _at: Instant, event: TraceEvent) {
        self.0.push(event);
    }
}

impl Host {
    /// Opens a connection at time 0: the SYN is sent.
    pub(crate) fn connect(config: &Config) -> Self {
        Self::new(Connection::connect(config, SeedTree::new(1)))
    }

    /// Waits for the test's SYN.
    pub(crate) fn listen(config: &Config) -> Self {
        Self::new(Connection::listen(config, SeedTree::new(1)))
    }

    /// Opens a connection whose SYN asks for Fast Open or uses it, after so many bytes were written.
    pub(crate) fn connect_fast(config: &Config, offer: FastOpenOffer, bytes: u64) -> Self {
        let mut connection = Connection::connect(config, SeedTree::new(1));
        connection.open_fast(offer);
        assert_eq!(connection.write(bytes), Ok(bytes));
        Self::new(connection)
    }

    /// Takes a SYN at time 0 with its data.
    pub(crate) fn accept_fast(config: &Config, syn: &str, cookie: Option<FastOpen>) -> Self {
        let (syn, seeds) = (notation::read(syn, PEER, SeqNum(0), PEER_WINDOW), SeedTree::new(1));
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        let (connection, taken) = Connection::accept_fast(cx, config, Identity::drawn(seeds), seeds, &syn, cookie);
        assert_eq!(taken.stream, 0..u64::from(syn.len), "all that came is taken");
        Self::new(connection)
    }

    /// Opens a connection, answered 100 ms later by a peer with SACK and 1000-byte segments. Nothing of it is left to
    /// look at.
    pub(crate) fn connected(config: &Config) -> Self {
        let mut host = Self::connect(config);
        host.at(100).receives("S. 0:0(0) ack 1 <mss 1000,sackOK>");
        host.forget_sent();
        host
    }

    /// Accepts a connection from such a peer, at time 0.
    pub(crate) fn accepted(config: &Config) -> Self {
        let mut host = Self::listen(config);
        host.receives("S 0:0(0) <mss 1000,sackOK>");
        host.receives(". 1:1(0) ack 1");
        host.forget_sent();
        host
    }

    pub(crate) fn new(connection: Connection) -> Self {
        let mut host = Self {
            connection,
            now: Instant::ZERO,
            sent: VecDeque::new(),
            origin: None,
            shown_window: None,
            decisions: Decisions::default(),
        };
        host.transmit();
        host
    }

    fn transmit(&mut self) {
        let mut cx = Cx { now: self.now, trace: &mut self.decisions };
        while let Some(transmit) = self.connection.poll_transmit(&mut cx) {
            let segment = transmit.segment;
            if segment.flags.contains(Flags::SYN) {
                self.origin.get_or_insert(segment.seq);
            }
            self.sent.push_back(Sent { at: self.now, segment, number: transmit.number, frame: transmit.frame });
        }
    }

    /// Goes on to this time in milliseconds; timers that run out on the way are served.
    pub(crate) fn at(&mut self, millis: u64) -> &mut Self {
        let time = Instant::ZERO + Duration::from_millis(millis);
        assert!(time >= self.now, "the test goes back in time");
        while let Some(deadline) = self.connection.poll_timeout().filter(|deadline| *deadline <= time) {
            self.now = deadline;
            self.connection.on_timeout(&mut Cx { now: deadline, trace: &mut self.decisions });
            self.transmit();
        }
        self.now = time;
        self
    }

    /// Takes a segment from the test, in the notation of [`notation`].
    pub(crate) fn receives(&mut self, text: &str) -> &mut Self {
        let segment = notation::read(text, PEER, self.origin.unwrap_or_default(), PEER_WINDOW);
        self.receives_segment(&segment)
    }

    fn receives_segment(&mut self, segment: &Segment) -> &mut Self {
        self.connection.on_segment(&mut Cx { now: self.now, trace: &mut self.decisions }, segment);
        self.transmit();
        self
    }

    /// Takes an ACK for all segments below `next`, all full, that reports the given ranges of segments as received.
    pub(crate) fn ack(&mut self, next: u64, sacked: &[Range<u64>]) -> &mut Self {
        let origin = self.origin.expect("an open connection");
        let position = |number: u64| origin.at(1 + (number - 1) * MSS);
        let mut segment = Segment {
            seq: PEER.at(1),
            ack: position(next),
            flags: Flags::ACK,
            window: PEER_WINDOW,
            ..Segment::default()
        };
        for range in sacked {
            segment.options.sack.push(SackBlock { left: position(range.start), right: position(range.end) });
        }
        self.receives_segment(&segment)
    }

    /// Returns the number of our SYN.
    pub(crate) fn origin(&self) -> SeqNum {
        self.origin.expect("a SYN was sent")
    }

    pub(crate) fn write(&mut self, bytes: u64) -> &mut Self {
        assert_eq!(self.connection.write(bytes), Ok(bytes));
        self.transmit();
        self
    }

    pub(crate) fn is_refused(&mut self, bytes: u64, error: WriteError) -> &mut Self {
        assert_eq!(self.connection.write(bytes), Err(error));
        self.transmit();
        self
    }

    /// Writes a frame and gives its number.
    pub(crate) fn write_frame(&mut self, bytes: u64, unit: u64) -> Result<u64, WriteError> {
        let mut cx = Cx { now: self.now, trace: &mut self.decisions };
        let number = self.connection.write_frame(&mut cx, bytes, unit);
        self.transmit();
        number
    }

    /// Writes so many full frames, each a unit of its own.
    #[track_caller]
    pub(crate) fn frames(&mut self, count: u64) -> &mut Self {
        for _ in 0..count {
            let unit = self.connection.real_time_statistics().frames_written;
            assert_eq!(self.write_frame(MSS, unit), Ok(unit));
        }
        self
    }

    /// Looks at the numbers of the frames sent since the last look.
    #[track_caller]
    pub(crate) fn sends_frames(&mut self, expected: &[u64]) -> &mut Self {
        assert_eq!(self.take_frames(), expected);
        self
    }

    /// Returns the numbers of the frames sent since the last look.
    pub(crate) fn take_frames(&mut self) -> Vec<u64> {
        self.take_sent().iter().filter_map(|sent| sent.frame).collect()
    }

    /// Looks at the frames given up since the last look.
    #[track_caller]
    pub(crate) fn discards(&mut self, expected: &[u64]) -> &mut Self {
        let discarded: Vec<u64> = std::iter::from_fn(|| self.connection.poll_abandoned()).collect();
        assert_eq!(discarded, expected);
        self
    }

    pub(crate) fn read(&mut self, bytes: u64) -> u64 {
        let read = self.connection.read(bytes);
        self.transmit();
        read
    }

    /// Reads a frame; its position and length.
    pub(crate) fn read_frame(&mut self) -> Option<(u64, u16)> {
        let frame = self.connection.read_frame(&mut Cx { now: self.now, trace: &mut self.decisions });
        self.transmit();
        frame.map(|frame| (frame.position, frame.bytes))
    }

    /// Lets a reader without framing wait.
    pub(crate) fn wait(&mut self) -> &mut Self {
        self.connection.wait(&mut Cx { now: self.now, trace: &mut self.decisions });
        self.transmit();
        self
    }

    pub(crate) fn quick_ack(&mut self, is_quick: bool) -> &mut Self {
        self.connection.quick_ack(is_quick);
        self.transmit();
        self
    }

    pub(crate) fn shutdown(&mut self) -> &mut Self {
        self.connection.shutdown();
        self.transmit();
        self
    }

    pub(crate) fn close(&mut self) -> &mut Self {
        self.connection.close(&mut Cx { now: self.now, trace: &mut self.decisions });
        self.transmit();
        self
    }

    pub(crate) fn user_timeout(&mut self, limit: Option<Duration>) -> &mut Self {
        self.connection.set_user_timeout(&mut Cx { now: self.now, trace: &mut self.decisions }, limit);
        self
    }

    pub(crate) fn keep_alive(&mut self, keep_alive: Option<KeepAlive>) -> &mut Self {
        self.connection.set_keep_alive(&mut Cx { now: self.now, trace: &mut self.decisions }, keep_alive);
        self
    }

    pub(crate) fn abort(&mut self) -> &mut Self {
        self.connection.abort();
        self.transmit();
        self
    }

    /// Looks at everything sent since the last look.
    #[track_caller]
    pub(crate) fn sends(&mut self, expected: &[&str]) -> &mut Self {
        let sent = self.take_texts();
        assert_eq!(sent, expected);
        self
    }

    /// Returns everything sent since the last look.
    pub(crate) fn take_texts(&mut self) -> Vec<String> {
        self.take_sent().iter().map(|sent| self.text(&sent.segment)).collect()
    }

    #[track_caller]
    pub(crate) fn sends_nothing(&mut self) -> &mut Self {
        self.sends(&[])
    }

    /// Looks at the numbers of the segments sent since the last look; pure ACKs have none.
    #[track_caller]
    pub(crate) fn sends_numbers(&mut self, expected: &[u64]) -> &mut Self {
        assert_eq!(self.take_numbers(), expected);
        self
    }

    /// Looks at the times, in milliseconds, and numbers of the segments sent since the last look.
    #[track_caller]
    pub(crate) fn sends_timed(&mut self, expected: &[(u64, u64)]) -> &mut Self {
        let millis = |at: Instant| at.as_nanos() / 1_000_000;
        let sent = self.take_sent().into_iter();
        let timed: Vec<_> = sent.filter_map(|sent| Some((millis(sent.at), sent.number?))).collect();
        assert_eq!(timed, expected);
        self
    }

    /// Returns the numbers of the segments sent since the last look.
    pub(crate) fn take_numbers(&mut self) -> Vec<u64> {
        self.take_sent().iter().filter_map(|sent| sent.number).collect()
    }

    pub(crate) fn forget_sent(&mut self) -> &mut Self {
        self.take_sent();
        self
    }

    /// Returns the right edges of the windows told since the last look, from the test's SYN on.
    pub(crate) fn right_edges(&mut self, shift: u8) -> Vec<u64> {
        let edge =
            |segment: &Segment| u64::from(segment.ack.0.wrapping_sub(PEER.0)) + (u64::from(segment.window) << shift);
        self.take_sent().iter().map(|sent| edge(&sent.segment)).collect()
    }

    fn take_sent(&mut self) -> Vec<Sent> {
        std::mem::take(&mut self.sent).into()
    }

    fn text(&mut self, segment: &Segment) -> String {
        let known = self.shown_window.replace(segment.window);
        notation::write(segment, self.origin.unwrap_or_default(), PEER, known)
    }

    /// Looks at the events since the last look.
    #[track_caller]
    pub(crate) fn has_events(&mut self, expected: &[Event]) -> &mut Self {
        let events: Vec<Event> = std::iter::from_fn(|| self.connection.poll_event()).collect();
        assert_eq!(events, expected);
        self
    }

    #[track_caller]
    pub(crate) fn is_in(&mut self, state: RfcState) -> &mut Self {
        assert_eq!(self.connection.state(), state);
        self
    }

    /// Looks at the congestion window and slow-start threshold.
    #[track_caller]
    pub(crate) fn has_window(&mut self, cwnd: f64, ssthresh: f64) -> &mut Self {
        let is_near = |value: f64, expected: f64| value.total_cmp(&expected).is_eq() || (value - expected).abs() < 1e-9;
        let (ours, threshold) = (self.connection.cwnd(), self.connection.ssthresh());
        assert!(is_near(ours, cwnd), "cwnd is {ours}, not {cwnd}");
        assert!(is_near(threshold, ssthresh), "ssthresh is {threshold}, not {ssthresh}");
        self
    }

    /// Returns the current timeout in milliseconds.
    pub(crate) fn timeout(&self) -> u64 {
        self.connection.timer().timeout.as_nanos() / 1_000_000
    }

    /// Returns the time, in milliseconds, at which the connection wants to be woken.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.connection.poll_timeout().map(|deadline| deadline.as_nanos() / 1_000_000)
    }

    /// Returns the decisions that were traced.
    pub(crate) fn decisions(&self) -> &[TraceEvent] {
        &self.decisions.0
    }
}
