//! What was written, and how it is cut into segments.

use super::frames::Frames;
use super::nagle_cork::NagleCork;
use super::resegmentation::Piece;
use super::sender::Sender;
use crate::config::Config;
use crate::policy::segmentation::{ALL_OPTIONS, Segmentation, TIMESTAMPS};
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant};
use earlybird_wire::Flags;

/// What was written and not yet cut into segments.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Bytes.
    pub(crate) unsent: u64,
    /// A FIN waits behind them.
    pub(crate) fin_queued: bool,
    /// Stream position of the FIN, once it was cut.
    pub(crate) fin_at: Option<u64>,
    /// Present if one write is one segment.
    pub(super) frames: Option<Box<Frames>>,
    /// Largest payload of a segment.
    pub(crate) mss: u64,
    /// Segments are cut as real networks ask.
    pub(super) is_real: bool,
    /// Largest segment with its options; without bound in simulations.
    pub(super) whole: u64,
    /// While a router's report makes segments shorter: what both sides agreed on, and when that is tried again.
    pub(super) agreed: Option<(u64, Instant)>,
    /// Bytes of options that every segment carries.
    pub(super) options: u64,
    /// The size below which no silent path is suspected; `None`: none ever is.
    pub(super) least_suspected: Option<u64>,
    /// Present if segments wait for more to be written, or end where records do.
    pub(super) holding: Option<Box<NagleCork>>,
    /// The next new segment is what the receiver's window holds, one byte at least.
    pub(super) probes_window: bool,
}

/// A path that was found to be small is tried with larger packets after so long (RFC 1191 §6.3 and RFC 8201 §5.3: "twice the
/// recommended" five minutes).
const PATH_IS_SMALL_FOR: Duration = Duration::from_secs(600);

impl Queue {
    pub(super) fn new(config: &Config) -> Self {
        let mut queue = Self {
            unsent: 0,
            fin_queued: false,
            fin_at: None,
            frames: config.real_time.framing.then(|| Box::new(Frames::new())),
            mss: u64::from(config.mss),
            is_real: config.segmentation == Segmentation::Real,
            whole: u64::MAX,
            agreed: None,
            options: if config.timestamps { TIMESTAMPS } else { 0 },
            least_suspected: config.finds_black_holes.then(|| u64::from(config.ip.default_mss())),
            holding: Sender::holding_of(config.nagle && !config.real_time.framing),
            probes_window: false,
        };
        if queue.is_real {
            queue.set_whole(u64::from(config.mss));
        }
        queue
    }

    /// Sets the size of the largest segment with its options: what they leave is payload, one byte at least.
    pub(crate) fn set_whole(&mut self, whole: u64) {
        self.whole = whole;
        self.mss = whole.saturating_sub(self.options).max(1);
    }

    /// A router says at this time that segments with their options can be no larger than `whole`.
    pub(super) fn limit_whole(&mut self, now: Instant, whole: u64) {
        let agreed = self.agreed.map_or(self.whole, |(agreed, _)| agreed);
        self.set_whole(whole);
        self.agreed = Some((agreed, now + PATH_IS_SMALL_FOR));
    }

    /// Tries what both sides agreed on again, once a router's report is old: new segments are as large as they were. If the path
    /// is still small, its router says so again.
    #[inline]
    pub(super) fn forget_old_limit(&mut self, now: Instant) {
        if let Some((agreed, at)) = self.agreed
            && at <= now
        {
            self.agreed = None;
            self.set_whole(agreed);
        }
    }

    /// Returns whether options of any length fit beside so much payload.
    #[inline]
    pub(crate) fn has_room_beside(&self, len: u16) -> bool {
        u64::from(len) + ALL_OPTIONS <= self.whole
    }

    /// Returns whether a FIN was written: nothing may follow it.
    pub(crate) fn ends(&self) -> bool {
        self.fin_queued || self.fin_at.is_some()
    }
}

impl Sender {
    /// Returns the length and flags of the next new segment, if there is one and the receiver has room for it.
    #[inline(never)]
    pub(super) fn new_segment(&self) -> Option<(u64, Flags)> {
        let room = self.room();
        let len = self.new_len(room);
        if len == 0 {
            self.queue.fin_queued.then_some((0, Flags::ACK | Flags::FIN))
        } else if (len <= room || self.queue.probes_window) && !self.is_held_back(len) {
            Some((len, self.flags_of_new(len, room)))
        } else {
            None
        }
    }

    /// Returns the length of the next new segment if nothing but its size and the room for it decides: frames, records and
    /// probes aside.
    #[inline]
    pub(super) fn plain_segment(&self) -> Option<u64> {
        let len = self.queue.unsent.min(self.queue.mss);
        let is_plain = self.queue.frames.is_none() && self.queue.holding.is_none() && len > 0;
        (is_plain && len <= self.room()).then_some(len)
    }

    /// Returns whether there is a next new segment for which the receiver has room: asked with every ACK.
    #[inline]
    pub(super) fn has_new_segment(&self) -> bool {
        self.plain_segment().is_some() || self.new_segment().is_some()
    }

    /// The last segment of what was written says so, and takes the FIN along if the receiver has room for it.
    #[inline]
    fn flags_of_new(&self, len: u64, room: u64) -> Flags {
        let ends = len == self.queue.unsent;
        if !self.queue.is_real || !(ends || self.ends_record(len)) {
            Flags::ACK
        } else if ends && self.queue.fin_queued && len < room && self.queue.frames.is_none() {
            Flags::ACK | Flags::PSH | Flags::FIN
        } else {
            Flags::ACK | Flags::PSH
        }
    }

    /// Returns whether all that is left to send is a FIN: it waits for no congestion window, for it is no load (Linux,
    /// `tcp_cwnd_test`), but for what is to be sent again before it.
    pub(super) fn may_close(&self) -> bool {
        self.queue.is_real
            && self.queue.fin_queued
            && self.queue.unsent == 0
            && self.scoreboard.nxt() == self.scoreboard.smax()
            && self.scoreboard.outstanding() < self.largest_window
            && !self.recovery.is_recovering()
    }

    /// Returns the length of the next new segment if the receiver's window leaves so much room.
    ///
    /// A frame is never split: what probes a closed window is a whole one (RFC 9293 §3.8.6.1 asks for one byte at least).
    #[inline]
    fn new_len(&self, room: u64) -> u64 {
        match &self.queue.frames {
            Some(frames) => frames.next_bytes().unwrap_or(0),
            None if self.queue.probes_window => self.queue.unsent.min(room.clamp(1, self.queue.mss)),
            None => self.new_len_within(room),
        }
    }

    #[inline]
    fn new_len_within(&self, room: u64) -> u64 {
        let len = self.most_of_segment();
        if len > room && self.must_make_do(room) { room } else { len }
    }

    /// Returns the bytes that the receiver's window leaves for new data.
    pub(super) fn room(&self) -> u64 {
        (self.scoreboard.acknowledged() + self.peer_window.size).saturating_sub(self.scoreboard.end_position())
    }

    /// Returns whether a part of a segment must do: nothing is outstanding whose ACK could open the window, and half the largest
    /// one is open (RFC 9293 §3.8.6.2.1, rule 3).
    fn must_make_do(&self, room: u64) -> bool {
        room > 0 && 2 * room >= self.peer_window.largest && self.scoreboard.outstanding() == 0
    }

    /// Cuts the next new segment, which leaves now; `plain` is its length as [`Self::plain_segment`] gives it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is on the way of every segment")]
    pub(super) fn cut_segment(&mut self, now: Instant, plain: Option<u64>) -> Option<Piece> {
        let (len, flags) = match plain.filter(|_| !self.queue.is_real) {
            Some(len) => (len, Flags::ACK),
            None => self.cut_special_segment()?,
        };
        let (number, start) = (self.scoreboard.smax(), self.scoreboard.end_position());
        let end = start + len;
        self.queue.probes_window = false;
        self.queue.unsent -= len;
        self.scoreboard.push(now, end + u64::from(flags.contains(Flags::FIN)), flags);
        Some(Piece { number, part: start..end, flags, is_retransmission: false })
    }

    /// Takes note of a cut that is more than a length: gives that and the flags.
    #[inline(never)]
    fn cut_special_segment(&mut self) -> Option<(u64, Flags)> {
        let (len, flags) = self.new_segment()?;
        self.note_cut(len);
        if flags.contains(Flags::FIN) {
            self.queue.fin_queued = false;
            self.queue.fin_at = Some(self.scoreboard.end_position() + len);
        }
        if let Some(frames) = self.queue.frames.as_mut().filter(|_| len > 0) {
            frames.on_cut();
        }
        Some((len, flags))
    }
}
