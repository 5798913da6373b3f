//! The real-time mode: its policies, statistics and errors.

use crate::policy::backlog::{Backlog, SendBufferLimit};
use crate::policy::delivery::Delivery;
use earlybird_units::Duration;

/// The policies that turn TCP into a transport for frames that are worthless when late. The default is ordinary TCP.
///
/// Three frames, of which the second is lost. The reader skips it and gets the third; a notice reports the skip to the sender:
///
/// ```
/// use earlybird_tcp::{Config, Connection, Cx, Frame, RealTime, SendBufferLimit};
/// use earlybird_units::{Instant, SeedTree};
///
/// /// Delivers all that one side has to send but one frame.
/// fn deliver(cx: &mut Cx, from: &mut Connection, to: &mut Connection, lost: Option<u64>) {
///     while let Some(transmit) = from.poll_transmit(cx) {
///         if transmit.frame.is_none() || transmit.frame != lost {
///             to.on_segment(cx, &transmit.segment);
///         }
///     }
/// }
///
/// // The sender holds 12 frames at most: those of a playback delay.
/// let config = Config::rfc().with_real_time(RealTime::mtcp(SendBufferLimit::Segments(12)));
/// let mut speaker = Connection::connect(&config, SeedTree::new(1));
/// let mut listener = Connection::listen(&config, SeedTree::new(2));
/// let cx = &mut Cx { now: Instant::from_nanos(1), trace: &mut () };
/// for _ in 0..2 {
///     deliver(cx, &mut speaker, &mut listener, None);
///     deliver(cx, &mut listener, &mut speaker, None);
/// }
///
/// for unit in 0..3 {
///     assert_eq!(speaker.write_frame(cx, 160, unit), Ok(unit));
/// }
/// deliver(cx, &mut speaker, &mut listener, Some(1));
///
/// assert_eq!(listener.read_frame(cx), Some(Frame { position: 0, bytes: 160 }));
/// // No frame is in order: the reader waits, and skips the hole.
/// assert_eq!(listener.read_frame(cx), Some(Frame { position: 320, bytes: 160 }));
/// assert_eq!(listener.poll_skipped(), Some(160..320));
/// assert_eq!(listener.read_frame(cx), None);
///
/// deliver(cx, &mut listener, &mut speaker, None);
/// assert_eq!(speaker.losses_reported(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealTime {
    /// The rule for the reader to skip a hole.
    pub delivery: Delivery,
    /// The treatment of writes to a full send buffer.
    pub backlog: Backlog,
    /// Whether a frame that was sent stays in flight when it is abandoned, until the cumulative ACK passes it or a timeout.
    ///
    /// Without this the window advances past abandoned frames at once, "independent of acknowledgments" (MTCP paper), so that a
    /// writer that is faster than the window opens it.
    pub abandoned_stay_in_flight: bool,
    /// Whether one write is one segment and one read: frames are never merged, split or delivered in part.
    pub framing: bool,
    /// Whether the SNACK option, which reports skips to the sender, is offered and used. With it the reader skips, and the sender
    /// abandons sent frames, only if the peer offers it too.
    ///
    /// The sender does not know whether the peer's reader skips holes, so it assumes its own settings: it abandons sent frames only
    /// if [`Self::delivery`] skips. Otherwise a peer that reads everything in order would wait for ever.
    pub skip_notice: bool,
    /// The response of the sender to a reported skip.
    pub skip_response: SkipResponse,
    /// Whether no frame is sent twice (MTP): lost frames are abandoned, and the window responds as to a retransmission. It has no
    /// effect if sent frames may not be abandoned. The last frame that fits into the receiver's window is retransmitted in any
    /// case, as nothing else could be sent.
    pub never_retransmits: bool,
    /// Inconsistent retransmission (TCP Hollywood): a retransmission that could not arrive within this time of its write carries the
    /// oldest unsent frame of its length instead, if that could. To the peer's TCP it is an ordinary retransmission.
    pub replaces_after: Option<Duration>,
}

impl Default for RealTime {
    fn default() -> Self {
        Self::OFF
    }
}

impl RealTime {
    /// Ordinary TCP: no frames, nothing is skipped or abandoned.
    pub const OFF: Self = Self {
        delivery: Delivery::InOrder,
        backlog: Backlog::Block(SendBufferLimit::Unlimited),
        abandoned_stay_in_flight: true,
        framing: false,
        skip_notice: false,
        skip_response: SkipResponse::None,
        never_retransmits: false,
        replaces_after: None,
    };

    /// Returns the mode of the MTCP paper and of TCP-RTM: the writer never blocks and the reader skips holes. The limit holds the
    /// frames of one playback delay; older ones are worthless. A skipped loss reduces the window, which the paper leaves open:
    /// otherwise with a reader that always waits the sender would see no loss and starve SACK flows.
    pub const fn mtcp(limit: SendBufferLimit) -> Self {
        Self {
            delivery: Delivery::SkipWhenWaiting,
            backlog: Backlog::AbandonOldest(limit),
            abandoned_stay_in_flight: false,
            framing: true,
            skip_notice: true,
            skip_response: SkipResponse::Reduce,
            never_retransmits: false,
            replaces_after: None,
        }
    }

    /// Returns TLTCP (Mukherjee and Brecht, ICNP 2000): the sender abandons frames that were written longer ago than `deadline`. The
    /// receiver skips them as any other hole; the option of the original is unknown.
    pub const fn tltcp(deadline: Duration) -> Self {
        // The limit is the deadline, so that no number of segments is needed.
        let backlog = Backlog::AbandonPastDeadline(deadline);
        Self { backlog, abandoned_stay_in_flight: true, ..Self::mtcp(SendBufferLimit::Unlimited) }
    }

    /// Returns TCP-RC (`McCreary` and others, 2005): the receiver skips holes and acknowledges missing data; the sender is an ordinary
    /// one.
    pub const fn tcp_rc() -> Self {
        let backlog = Backlog::Block(SendBufferLimit::Unlimited);
        Self { skip_notice: false, backlog, ..Self::mtcp(SendBufferLimit::Unlimited) }
    }

    /// Returns MTP (Chung, Claypool and Kinicki, 2005): nothing is sent twice. The receiver skips a hole at once, so that only its
    /// notice reports a loss to the sender.
    pub const fn mtp(limit: SendBufferLimit) -> Self {
        let delivery = Delivery::SkipAtDeadline(Duration::ZERO);
        Self { delivery, abandoned_stay_in_flight: true, never_retransmits: true, ..Self::mtcp(limit) }
    }

    /// Returns the mode of Goel, Krasic and Walpole: the send buffer holds A·`cwnd` + min(B, `cwnd`) segments with A = 1 and B = 3; the
    /// application drops what does not fit.
    pub const fn limited_buffer() -> Self {
        let limit = SendBufferLimit::Window { per_window: 1.0, extra: 3 };
        Self {
            delivery: Delivery::InOrder,
            backlog: Backlog::Block(limit),
            abandoned_stay_in_flight: true,
            framing: true,
            skip_notice: false,
            skip_response: SkipResponse::None,
            never_retransmits: false,
            replaces_after: None,
        }
    }

    /// TCP Hollywood (`McQuistin`, Perkins and Fayed, IFIP Networking 2016), for messages with a lifetime of `deadline`: unordered,
    /// time-lined, and on the wire plain TCP. Known from its abstract and from its authors' patch of Linux
    /// (`check_message_liveness`, `process_tx`, `enqueue_hollywood_input_segment`).
    pub const fn hollywood(deadline: Duration) -> Self {
        Self {
            delivery: Delivery::Unordered,
            backlog: Backlog::Block(SendBufferLimit::Unlimited),
            abandoned_stay_in_flight: true,
            framing: true,
            skip_notice: false,
            skip_response: SkipResponse::None,
            never_retransmits: false,
            replaces_after: Some(deadline),
        }
    }

    /// Returns our own mode, for frames with a deadline of `deadline` after they were written; see
    /// [`Config::earlybird_rt`](crate::Config::earlybird_rt).
    pub const fn earlybird_rt(deadline: Duration) -> Self {
        Self { backlog: Backlog::AbandonUndeliverable(deadline), ..Self::tltcp(deadline) }
    }
}

/// The response of the sender to a lost frame that was skipped before the window was reduced (docs/real-time-mode.md,
/// `skip-reduces`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SkipResponse {
    /// None: only the third duplicate and the timer reduce the window.
    #[default]
    None,
    /// A reduction as for a fast retransmit, at most once per window.
    Reduce,
}

/// A frame that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Position of its first byte in the stream; 0 is the first byte after the SYN.
    pub position: u64,
    /// Its length in bytes.
    pub bytes: u16,
}

/// Counters of the real-time mode of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RealTimeStatistics {
    /// Frames that the application wrote.
    pub frames_written: u64,
    /// Frames that the sender abandoned, sent or not.
    pub frames_abandoned: u64,
    /// SNACKs that arrived with ACKs that are not older than earlier ones.
    pub notices_received: u64,
    /// SNACKs with impossible totals or ranges, which were ignored.
    pub bad_notices: u64,
    /// Reductions of the window because of skips ([`SkipResponse::Reduce`]).
    pub skip_reductions: u64,
    /// Frames that were read.
    pub frames_delivered: u64,
    /// Segments that were skipped: the least number that the missing bytes can have been, if none was longer than the longest that
    /// arrived.
    pub segments_skipped: u64,
    /// Bytes that were skipped.
    pub bytes_skipped: u64,
    /// Segments that arrived after they were skipped, and were dropped.
    pub late_after_skip: u64,
    /// Segments that were sent with a SNACK.
    pub notices_sent: u64,
}

/// The reason for which a write failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// It does not fit into a segment.
    TooLong {
        /// The most bytes that fit.
        mss: u16,
    },
    /// It has no bytes.
    Empty,
    /// The send buffer is full, and abandons nothing.
    Full,
    /// The sending side is closed.
    Closed,
    /// The connection has no frames: [`RealTime::framing`] is off.
    Unframed,
    /// The connection accepts whole frames only: [`RealTime::framing`] is on.
    Framed,
}

impl core::fmt::Display for WriteError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooLong { mss } => {
                write!(formatter, "a frame may have {mss} bytes at most: one frame is one segment")
            }
            Self::Empty => formatter.write_str("a frame needs at least one byte"),
            Self::Full => formatter.write_str("the send buffer is full"),
            Self::Closed => formatter.write_str("this side sends no more"),
            Self::Framed => formatter.write_str("the connection takes whole frames: framing is on"),
            Self::Unframed => formatter.write_str("the connection keeps no frames apart: framing is off"),
        }
    }
}

impl core::error::Error for WriteError {}
