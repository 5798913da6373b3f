//! The state of the peer, and the test whether a segment is older than that state.

use crate::config::Config;
use crate::scoreboard::clock;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Flags, Options, Segment, SeqNum, SkipNotice, Timestamps};

/// The options that both sides agreed on, and the peer's newest timestamp.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peer {
    /// The sequence number of the peer's SYN.
    pub(super) origin: SeqNum,
    /// The shift of the windows that the peer advertises (RFC 7323 §2).
    pub(super) window_shift: u8,
    pub(super) scales_window: bool,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    /// Whether segments without a timestamp are dropped.
    pub(super) must_stamp: bool,
    /// Whether both sides support the SNACK option.
    pub(super) skip_notice: bool,
    /// The timestamp to echo (TS.Recent).
    pub(super) timestamp: u32,
    /// The time of its arrival.
    timestamp_at: Instant,
    /// Last.ACK.sent (RFC 7323 §4.3).
    pub(super) last_ack_sent: u64,
}

/// The time for which timestamps can be compared: half the cycle of a clock of 1 ms, the fastest allowed (RFC 7323 §5.5).
const TIMESTAMPS_VALID_FOR: Duration = Duration::from_secs(24 * 24 * 3600);

impl Peer {
    /// Returns what a SYN or SYN-ACK and the own configuration agree on.
    pub(super) fn new(now: Instant, syn: &Segment, config: &Config) -> Self {
        let options = &syn.options;
        let timestamps = options.timestamps.is_some() && config.timestamps.enabled;
        Self {
            origin: syn.seq,
            // RFC 7323 §2.3: a larger shift counts as 14.
            window_shift: options.window_scale.unwrap_or(0).min(14),
            scales_window: options.window_scale.is_some(),
            sack: options.sack_permitted && config.acks.sack_blocks > 0,
            timestamps,
            must_stamp: timestamps && config.timestamps.required,
            skip_notice: options.skip_notice == Some(SkipNotice::Offer) && config.real_time.skip_notice,
            timestamp: options.timestamps.map_or(0, |stamps| stamps.value),
            timestamp_at: now,
            last_ack_sent: 0,
        }
    }

    /// Returns the window that a segment advertises, in bytes.
    #[inline]
    pub(super) fn window(&self, segment: &Segment) -> u64 {
        u64::from(segment.window) << self.window_shift
    }

    /// Returns the window that the last segment of the handshake advertises, in bytes.
    pub(super) fn handshake_window(&self, segment: &Segment) -> u64 {
        // The window in a SYN is never scaled (RFC 7323 §2.2).
        if segment.flags.contains(Flags::SYN) { u64::from(segment.window) } else { self.window(segment) }
    }

    /// Returns the timestamps of a segment, if both sides use them.
    #[inline]
    fn stamps(&self, segment: &Segment) -> Option<Timestamps> {
        segment.options.timestamps.filter(|_| self.timestamps)
    }

    /// Returns the time that a segment echoes, as this side's clock counts; `offset` was added to what was sent.
    #[inline]
    pub(super) fn echo(&self, segment: &Segment, offset: u32) -> Option<u32> {
        self.stamps(segment).map(|stamps| stamps.echo.wrapping_sub(offset))
    }

    /// Returns the round trip that the timestamp of a segment shows.
    pub(super) fn echoed_rtt(&self, now: Instant, segment: &Segment, offset: u32) -> Option<Duration> {
        self.echo(segment, offset).map(|echo| clock::since(now, echo))
    }

    /// Returns whether a segment is an old duplicate by its timestamp (PAWS, RFC 7323 §5.3).
    #[inline]
    pub(super) fn is_too_old(&self, now: Instant, segment: &Segment) -> bool {
        let is_before = |stamps: Timestamps| stamps.value.wrapping_sub(self.timestamp).cast_signed() < 0;
        // After an idle time of more than half a cycle the peer's clock may have wrapped (§5.5).
        self.stamps(segment).is_some_and(is_before) && now - self.timestamp_at < TIMESTAMPS_VALID_FOR
    }

    /// Remembers the timestamp to echo (RFC 7323 §4.3), of a segment that is acceptable in everything else.
    #[inline]
    pub(super) fn note_timestamp(&mut self, now: Instant, segment: &Segment, start: u64) {
        // An unacceptable segment must not come here: with a forged timestamp it would make all that follow look old.
        if let Some(stamps) = segment.options.timestamps
            && start <= self.last_ack_sent
        {
            self.timestamp = stamps.value;
            self.timestamp_at = now;
        }
    }

    /// Returns whether there may be more SACK blocks than a segment had room for.
    #[inline]
    pub(super) fn may_lack_blocks(&self, options: &Options) -> bool {
        self.skip_notice && is_full_of_blocks(options)
    }

    /// Returns whether a SYN in TIME-WAIT is newer than this connection (RFC 6191 §2); `nxt` is RCV.NXT.
    pub(super) fn is_newer_syn(&self, syn: &Segment, nxt: u64, uses_timestamps: bool) -> bool {
        let position = syn.seq.unwrap_near(self.origin, nxt);
        let is_behind = position.is_some_and(|position| position >= nxt);
        let stamp = syn.options.timestamps.filter(|_| uses_timestamps).map(|stamps| stamps.value);
        match stamp.map(|stamp| stamp.wrapping_sub(self.timestamp).cast_signed()) {
            Some(_) if !self.timestamps => true,
            Some(ahead) => ahead > 0 || (ahead == 0 && is_behind),
            None => is_behind,
        }
    }
}

/// Returns whether there are as many SACK blocks as may fit, so that more may have been left out.
fn is_full_of_blocks(options: &Options) -> bool {
    // Three fit beside timestamps (RFC 2018 §3), and most hosts send no more without them; a SNACK takes the room of two.
    let room = match (options.skip_notice, options.timestamps) {
        (None, _) => 3,
        (Some(_), None) => 2,
        (Some(_), Some(_)) => 1,
    };
    options.sack.as_slice().len() >= room
}
