//! The real-time mode: what it is made of, and the words its interface speaks.

use crate::policy::backlog::{Backlog, SendLimit};
use crate::policy::delivery::Delivery;
use earlybird_units::Duration;

/// The policies that turn TCP into a transport for frames that are worthless when late. The default is ordinary TCP.
///
/// Three frames, of which the second gets lost. The reader asks for it and gets the third; the sender learns of it:
///
/// ```
/// use earlybird_tcp::{Config, Connection, Cx, Frame, RealTime, SendLimit};
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
/// let config = Config::rfc().with_real_time(RealTime::mtcp(SendLimit::Segments(12)));
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
/// // Nothing is there in order: the reader waits, and steps over the hole.
/// assert_eq!(listener.read_frame(cx), Some(Frame { position: 320, bytes: 160 }));
/// assert_eq!(listener.poll_skipped(), Some(160..320));
/// assert_eq!(listener.read_frame(cx), None);
///
/// deliver(cx, &mut listener, &mut speaker, None);
/// assert_eq!(speaker.losses_reported(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealTime {
    /// When the reader steps over what is missing.
    pub delivery: Delivery,
    /// What a full send buffer does.
    pub backlog: Backlog,
    /// One write is one segment is one read: frames are never merged, split or delivered in part.
    pub framing: bool,
    /// Offer and use the SNACK option, which tells the sender what was stepped over. With it the reader steps over
    /// nothing, and nothing that was sent is given up, unless the peer offered it too.
    ///
    /// The sender cannot know whether the peer's reader steps over holes, so both ends are taken to be configured alike: what
    /// was sent is given up only if [`Self::delivery`] skips here too. Without the option a peer that waits for everything
    /// would wait for ever.
    pub skip_notice: bool,
    /// What the sender does when it learns that something was stepped over.
    pub skip_response: SkipResponse,
    /// Never send a frame twice (MTP): what is lost is given up, and the window answers as if it had been sent again. Where
    /// nothing that was sent may be given up this has no effect; and the last frame that the receiver's window has room for
    /// is repeated all the same, for without it nothing could be sent any more.
    pub never_retransmits: bool,
    /// Inconsistent retransmission (TCP Hollywood): what would be sent again and could not be there within this time of its
    /// writing makes way for the oldest frame of its length that was never sent and could be. The peer's TCP sees a
    /// retransmission like any other; where no such frame waits, it is one.
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
        backlog: Backlog::Block(SendLimit::Unlimited),
        framing: false,
        skip_notice: false,
        skip_response: SkipResponse::None,
        never_retransmits: false,
        replaces_after: None,
    };

    /// The MTCP paper's mode, and TCP-RTM's: nobody waits for anybody. The limit is what one playback delay holds: what
    /// is older is worthless. A loss that is stepped over reduces the window, which the paper leaves open: a reader that always waits would else hide every
    /// loss from the sender, which then takes nearly all of a link from SACK.
    pub const fn mtcp(limit: SendLimit) -> Self {
        Self {
            delivery: Delivery::SkipWhenWaiting,
            backlog: Backlog::DiscardOldest(limit),
            framing: true,
            skip_notice: true,
            skip_response: SkipResponse::Reduce,
            never_retransmits: false,
            replaces_after: None,
        }
    }

    /// TLTCP (Mukherjee and Brecht, ICNP 2000): the sender gives up what was written longer ago than `deadline` and moves on.
    /// The receiver learns of it as of any other hole, by reading; the option of the original is not known.
    pub const fn tltcp(deadline: Duration) -> Self {
        Self { backlog: Backlog::DiscardPastDeadline(deadline), ..Self::mtcp(SendLimit::Unlimited) }
    }

    /// TCP-RC (`McCreary` and others, 2005): the receiver steps over holes and acknowledges what never came; the sender is an
    /// ordinary one.
    pub const fn tcp_rc() -> Self {
        let backlog = Backlog::Block(SendLimit::Unlimited);
        Self { skip_notice: false, backlog, ..Self::mtcp(SendLimit::Unlimited) }
    }

    /// MTP (Chung, Claypool and Kinicki, 2005): nothing is sent twice. The receiver steps over a hole at once, so that only
    /// its notice tells the sender of a loss.
    pub const fn mtp(limit: SendLimit) -> Self {
        Self { delivery: Delivery::SkipAtDeadline(Duration::ZERO), never_retransmits: true, ..Self::mtcp(limit) }
    }

    /// Goel, Krasic and Walpole: the send buffer holds A·`cwnd` + min(B, `cwnd`) segments with A = 1 and B = 3; what it has no
    /// room for, the application drops.
    pub const fn limited_buffer() -> Self {
        let limit = SendLimit::Window { per_window: 1.0, extra: 3 };
        Self {
            delivery: Delivery::InOrder,
            backlog: Backlog::Block(limit),
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
            backlog: Backlog::Block(SendLimit::Unlimited),
            framing: true,
            skip_notice: false,
            skip_response: SkipResponse::None,
            never_retransmits: false,
            replaces_after: Some(deadline),
        }
    }

    /// Our own mode, for frames that must be there `deadline` after they were written; see
    /// [`Config::earlybird_rt`](crate::Config::earlybird_rt).
    pub const fn earlybird_rt(deadline: Duration) -> Self {
        Self { backlog: Backlog::DiscardHopeless(deadline), ..Self::tltcp(deadline) }
    }
}

/// What the sender does about a frame that was lost and stepped over before its window was reduced
/// (docs/real-time-mode.md, `skip-reduces`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SkipResponse {
    /// Nothing beyond the usual: only the third duplicate and the timer reduce.
    #[default]
    None,
    /// Reduces as for a fast retransmit, at most once per window.
    Reduce,
}

/// A frame as the reader gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Place of its first byte in the stream: 0 is the first byte behind the SYN.
    pub position: u64,
    /// Its bytes.
    pub bytes: u16,
}

/// Counters of the real-time mode over a connection's whole life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RealTimeStatistics {
    /// Frames taken from the writer.
    pub frames_written: u64,
    /// Frames that the sender gave up: before they were sent, or while they might still have arrived.
    pub frames_discarded: u64,
    /// Skip notices that came with ACKs not older than those before.
    pub notices_received: u64,
    /// Of these, those with totals or ranges that cannot be: they were ignored.
    pub bad_notices: u64,
    /// Reductions of the window for what was stepped over ([`SkipResponse::Reduce`]).
    pub skip_reductions: u64,
    /// Frames handed to the reader.
    pub frames_delivered: u64,
    /// Segments that the reader stepped over: as few as the missing bytes can have been, if none was longer than the
    /// longest that came.
    pub segments_skipped: u64,
    /// Bytes that the reader stepped over.
    pub bytes_skipped: u64,
    /// Segments that came after they had been stepped over, and were dropped.
    pub late_after_skip: u64,
    /// Segments sent that carried a skip notice.
    pub notices_sent: u64,
}

/// Why something could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// It does not fit into a segment.
    TooLong {
        /// The most bytes that do.
        mss: u16,
    },
    /// It has no bytes.
    Empty,
    /// The send buffer is full, and discards nothing.
    Full,
    /// This side sends no more.
    Closed,
    /// The connection keeps no frames apart: [`RealTime::framing`] is off.
    Unframed,
    /// One write is one segment, and a frame: [`RealTime::framing`] is on.
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
