//! The largest segment that may be cut, and what has reduced it.

use crate::config::Config;
use crate::policy::segmentation::{ALL_OPTIONS, IpVersion, LEAST_MSS, Segmentation, TIMESTAMPS};
use earlybird_units::{Duration, Instant};

/// The limits on the size of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentSize {
    /// Largest payload of a segment, in bytes.
    mss: u64,
    /// Whether segments are cut as real networks require.
    is_real: bool,
    /// Largest segment with its options, in bytes; `u64::MAX` in simulations.
    with_options: u64,
    /// While an ICMP report makes segments shorter: the size both sides agreed on, and when it is tried again.
    agreed: Option<(u64, Instant)>,
    /// Bytes of options that every segment carries.
    options: u64,
    /// The smallest size that a black hole may be suspected at; `None` if black holes are not looked for.
    black_hole_floor: Option<u64>,
}

/// The time for which an ICMP report of a small path counts (RFC 1191 §6.3 and RFC 8201 §5.3: "twice the recommended" five minutes).
const PATH_MTU_LIFETIME: Duration = Duration::from_secs(600);

/// The back-off at which a path becomes suspect: three retransmissions (R1 of RFC 9293 §3.8.3, MUST-20).
const SUSPICIOUS_BACK_OFF: u64 = 1 << 3;

/// Returns the MSS that every path carries, inside other packets too.
const fn black_hole_floor(ip: IpVersion) -> u16 {
    match ip {
        IpVersion::V4 => ip.default_mss(),
        IpVersion::V6 => ip.mss_within(ip.least_inner_mtu()),
    }
}

impl SegmentSize {
    pub(super) fn new(config: &Config) -> Self {
        let mut size = Self {
            mss: u64::from(config.segments.mss),
            is_real: config.segments.segmentation == Segmentation::Real,
            with_options: u64::MAX,
            agreed: None,
            options: if config.timestamps.enabled { TIMESTAMPS } else { 0 },
            black_hole_floor: config
                .segments
                .pmtu_black_hole_detection
                .then(|| u64::from(black_hole_floor(config.segments.ip))),
        };
        if size.is_real {
            size.set(u64::from(config.segments.mss));
        }
        size
    }

    /// Returns the largest payload of a segment, in bytes.
    #[inline]
    pub(crate) fn mss(&self) -> u64 {
        self.mss
    }

    /// Returns whether segments carry timestamps.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.options > 0
    }

    /// Returns whether segments are cut as real networks require.
    #[inline]
    pub(crate) fn is_real(&self) -> bool {
        self.is_real
    }

    /// Sets the size of the largest segment with its options; the payload gets the rest, one byte at least.
    pub(super) fn set(&mut self, with_options: u64) {
        self.with_options = with_options;
        self.mss = with_options.saturating_sub(self.options).max(1);
    }

    /// Sets the largest segment size that both sides take.
    pub(super) fn negotiate(&mut self, peer_mss: u64, has_timestamps: bool) {
        if self.is_real {
            self.options = if has_timestamps { TIMESTAMPS } else { 0 };
            self.set(self.with_options.min(peer_mss.max(LEAST_MSS)));
        } else {
            // ns-2 counts payload only: its packet size excludes all headers.
            self.mss = self.mss.min(peer_mss);
        }
    }

    /// Reduces the size to `limit` (options included) if that makes a segment of `len` bytes shorter; returns whether it did.
    pub(super) fn limit_to_path(&mut self, now: Instant, limit: u64, len: u64) -> bool {
        // RFC 5927 §7.2: a report about a segment that was not larger than the limit is forged or stale.
        len + self.options > limit && self.limit(now, limit)
    }

    /// Reduces the size to `limit` (options included) for ten minutes if it is larger; returns whether it is.
    pub(super) fn limit(&mut self, now: Instant, limit: u64) -> bool {
        if !self.is_real || limit >= self.with_options {
            return false;
        }
        let agreed = self.agreed.map_or(self.with_options, |(agreed, _)| agreed);
        self.set(limit);
        self.agreed = Some((agreed, now + PATH_MTU_LIFETIME));
        true
    }

    /// Restores the agreed size when an ICMP report has expired. If the path is still small, its router reports again.
    #[inline]
    pub(super) fn restore_expired(&mut self, now: Instant) {
        if let Some((agreed, at)) = self.agreed
            && at <= now
        {
            self.agreed = None;
            self.set(agreed);
        }
    }

    /// Returns whether black holes are looked for.
    pub(super) fn detects_black_holes(&self) -> bool {
        self.is_real && self.black_hole_floor.is_some()
    }

    /// Halves the size after `back_off` shows repeated timeouts of a segment of `len` bytes; returns whether it did.
    ///
    /// The size stays reduced: each attempt with larger segments would cost as many timeouts again.
    pub(super) fn halve_in_black_hole(&mut self, len: u64, back_off: u64) -> bool {
        let Some(floor) = self.black_hole_floor else { return false };
        // The segment may be shorter than half the largest one and still be too large for the path.
        let reduced = (self.with_options.min(len + self.options) / 2).max(floor);
        if back_off < SUSPICIOUS_BACK_OFF || len + self.options <= reduced {
            return false;
        }
        self.agreed = None;
        self.set(reduced);
        true
    }

    /// Returns whether options of any length fit beside a payload of `len` bytes.
    #[inline]
    pub(crate) fn has_room_for_options(&self, len: u16) -> bool {
        u64::from(len) + ALL_OPTIONS <= self.with_options
    }
}
