//! SYN cookies (D. J. Bernstein 1996; RFC 4987 §3.6): the sequence number and the timestamp of the SYN-ACK encode the SYN, so that
//! the listener keeps no state.
//!
//! The number is Linux's: `hash(peer) + peer's number + count · 2²⁴ + (hash(peer, count) + index) mod 2²⁴`, the count that of
//! minutes, the index that of an MSS. The lowest six bits of the timestamp encode window scale, SACK and ECN.
//!
//! Real-time mode is nothing without SACK and SNACK, and its streams may have no timestamps: its listeners encode the options beside
//! the MSS then. A flood of SYNs must not turn a stream of frames into one that repairs nothing, nor keep new peers out. A guess at
//! a cookie succeeds with one in two million then (2¹⁰ indices and two counts of 2³²), instead of one in 2²⁸.

use super::half_open::HalfOpen;
use super::isn::{Purpose, Secret};
use crate::config::Config;
use crate::connection::Identity;
use crate::scoreboard::clock;
use core::num::NonZeroU16;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Addresses, Ecn, Flags, Segment, SeqNum};

/// The period of the count. Cookies of this and the previous count are valid (Linux: `MAX_SYNCOOKIE_AGE`).
const COUNT: Duration = Duration::from_secs(64);
const VALID_COUNTS: u32 = 2;
/// The time after the last cookie was sent during which one is accepted.
pub(super) const COOKIE_LIFETIME: Duration = Duration::from_secs(128);
/// MSS values of most paths; a peer gets the largest that does not exceed its own.
const SIZES: [u16; 8] = [88, 536, 1220, 1360, 1400, 1440, 1452, 1460];
const LOW: u32 = (1 << 24) - 1;
/// Bits of a timestamp that encode options.
const OPTION_BITS: u32 = 0b11_1111;
const SCALE_BITS: u32 = 0b1111;
const SACK_BIT: u32 = 1 << 4;
const ECN_BIT: u32 = 1 << 5;
const NOT_SCALED: u32 = SCALE_BITS;
/// The bit of SNACK beside those of a timestamp, and where the bits of options follow those of the MSS in an index.
const SNACK_BIT: u32 = 1 << 6;
const SIZE_BITS: u32 = SIZES.len().ilog2();
/// The indices with and without options.
const WITH_OPTIONS: u32 = 1 << (SIZE_BITS + 7);
const WITHOUT_OPTIONS: u32 = 1 << SIZE_BITS;

fn count_at(now: Instant) -> u32 {
    (now.as_nanos() / COUNT.as_nanos()) as u32
}

/// Returns the index of the largest size up to `mss`.
fn size_index(mss: u16) -> Option<u32> {
    SIZES.iter().rposition(|size| *size <= mss).map(|index| index as u32)
}

impl Secret {
    fn base(&self, addresses: &Addresses, origin: SeqNum) -> u32 {
        (self.of_peer(Purpose::CookieBase, addresses, 0) as u32).wrapping_add(origin.0)
    }

    /// Returns the hash to which an index is added. With options there are so many indices that a later segment of the handshake's
    /// peer could be taken for the ACK that completes it, with other options: its number is hashed too.
    fn low(&self, addresses: &Addresses, count: u32, origin: Option<SeqNum>) -> u32 {
        let number = origin.map_or(count, |origin| count.rotate_left(16) ^ origin.0);
        self.of_peer(Purpose::CookieCount, addresses, number) as u32
    }

    /// Returns the handshake with a cookie as its sequence number, without the options that a cookie cannot encode. `None` if the
    /// MSS of the peer is below all sizes.
    pub(super) fn write_cookie(&self, entry: &HalfOpen, config: &Config, now: Instant) -> Option<HalfOpen> {
        let keeps_options = keeps_options(config, entry.timestamp.is_some());
        let size = size_index(entry.mss.map_or(536, NonZeroU16::get))?;
        let index = if keeps_options { size | entry.option_bits() << SIZE_BITS } else { size };
        let count = count_at(now);
        let low = self.low(&entry.addresses, count, keeps_options.then_some(entry.origin)).wrapping_add(index) & LOW;
        let cookie = self.base(&entry.addresses, entry.origin).wrapping_add(count << 24).wrapping_add(low);
        let kept = entry.as_encodable(keeps_options);
        let timestamp_offset = kept.encoded_timestamp(now).wrapping_sub(clock::timestamp(now));
        Some(HalfOpen { identity: Identity { origin: SeqNum(cookie), timestamp_offset }, ..kept })
    }

    /// Decodes a handshake from the ACK that completes it, if our SYN-ACK was a cookie. `identity` is the one for its peer.
    pub(super) fn read_cookie(
        &self,
        addresses: &Addresses,
        config: &Config,
        identity: Identity,
        now: Instant,
        ack: &Segment,
    ) -> Option<HalfOpen> {
        let (origin, cookie) = (SeqNum(ack.seq.0.wrapping_sub(1)), ack.ack.0.wrapping_sub(1));
        let rest = cookie.wrapping_sub(self.base(addresses, origin));
        // The count has eight bits in a cookie: its age is taken modulo 256.
        let age = count_at(now).wrapping_sub(rest >> 24) & 0xff;
        let stamps = ack.options.timestamps.filter(|_| config.timestamps.enabled);
        let keeps_options = keeps_options(config, stamps.is_some());
        let low = self.low(addresses, count_at(now).wrapping_sub(age), keeps_options.then_some(origin));
        let index = rest.wrapping_sub(low) & LOW;
        let indices = if keeps_options { WITH_OPTIONS } else { WITHOUT_OPTIONS };
        if age >= VALID_COUNTS || index >= indices {
            return None;
        }
        let size = SIZES[(index % WITHOUT_OPTIONS) as usize];
        let bits = match stamps {
            Some(stamps) => stamps.echo & OPTION_BITS,
            None if keeps_options => index >> SIZE_BITS,
            None => NOT_SCALED,
        };
        let since = match stamps {
            Some(stamps) => age_of(stamps.echo.wrapping_sub(identity.timestamp_offset), now)?,
            // Without a timestamp the time of the SYN-ACK is unknown; assume the initial RTO.
            None => config.timers.rto.initial,
        };
        let flags = if bits & ECN_BIT > 0 { Flags::SYN | Flags::ECE | Flags::CWR } else { Flags::SYN };
        Some(HalfOpen {
            addresses: *addresses,
            identity: Identity { origin: SeqNum(cookie), ..identity },
            origin,
            mss: NonZeroU16::new(size),
            // 15 is no valid shift (RFC 7323 §2.3) and means that scaling was not offered.
            window_scale: (bits & SCALE_BITS != NOT_SCALED).then_some((bits & SCALE_BITS) as u8),
            has_sack: bits & SACK_BIT > 0,
            offers_snack: bits & SNACK_BIT > 0,
            timestamp: stamps.map(|stamps| stamps.value),
            flags,
            ecn: Ecn::NotCapable,
            answered_at: Instant::from_nanos(now.as_nanos().saturating_sub(since.as_nanos())),
            deadline: Instant::NEVER,
            retransmissions: 0,
            // No RTT sample: the SYN-ACK may have been retransmitted (Karn).
            was_syn_retransmitted: true,
        })
    }
}

/// Returns whether the sequence number of a cookie encodes the options.
fn keeps_options(config: &Config, has_timestamp: bool) -> bool {
    config.real_time.skip_notice && !has_timestamp
}

/// Returns the age of a cookie's timestamp, if it is within the lifetime of a cookie. Its six lowest bits are not time.
fn age_of(echoed: u32, now: Instant) -> Option<Duration> {
    let age = Duration::from_millis(u64::from(clock::timestamp(now).wrapping_sub(echoed)));
    (age <= COOKIE_LIFETIME + Duration::from_millis(u64::from(OPTION_BITS) + 1)).then_some(age)
}

impl HalfOpen {
    /// Returns the handshake without what a cookie cannot encode.
    fn as_encodable(&self, keeps_options: bool) -> Self {
        // Options are encoded in the timestamp; without one mostly only the MSS survives (as in Linux).
        let has_bits = keeps_options || self.timestamp.is_some();
        let has_ecn = has_bits && self.flags & Flags::ACE == Flags::ECE | Flags::CWR;
        Self {
            window_scale: self.window_scale.filter(|_| has_bits).map(|scale| scale.min(14)),
            has_sack: self.has_sack && has_bits,
            offers_snack: self.offers_snack && keeps_options,
            flags: if has_ecn { Flags::SYN | Flags::ECE | Flags::CWR } else { Flags::SYN },
            ..*self
        }
    }

    /// Returns the bits of window scale, SACK, ECN and SNACK.
    fn option_bits(&self) -> u32 {
        let scale = self.window_scale.map_or(NOT_SCALED, |scale| u32::from(scale.min(14)));
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let has_ecn = self.flags & Flags::ACE == Flags::ECE | Flags::CWR;
        scale | bit(self.has_sack, SACK_BIT) | bit(has_ecn, ECN_BIT) | bit(self.offers_snack, SNACK_BIT)
    }

    /// Returns the timestamp whose lowest bits encode the options; it is never ahead of the clock.
    fn encoded_timestamp(&self, now: Instant) -> u32 {
        let clock = clock::timestamp(now).wrapping_add(self.identity.timestamp_offset);
        let encoded_timestamp = clock & !OPTION_BITS | self.option_bits() & OPTION_BITS;
        // A timestamp ahead of the clock would fail PAWS in later segments.
        if encoded_timestamp.wrapping_sub(clock).cast_signed() > 0 {
            encoded_timestamp.wrapping_sub(OPTION_BITS + 1)
        } else {
            encoded_timestamp
        }
    }
}
