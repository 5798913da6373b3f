//! SYN cookies (D. J. Bernstein 1996; RFC 4987 §3.6): the sequence number and the timestamp of the SYN-ACK encode the SYN, so that
//! the listener keeps no state.
//!
//! The number is Linux's: `hash(peer) + peer's number + count · 2²⁴ + (hash(peer, count) + index) mod 2²⁴`, the count that of
//! minutes, the index that of an MSS. The lowest six bits of the timestamp encode window scale, SACK and ECN.

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

    fn low(&self, addresses: &Addresses, count: u32) -> u32 {
        self.of_peer(Purpose::CookieCount, addresses, count) as u32
    }

    /// Returns the handshake with a cookie as its sequence number, without the options that a cookie cannot encode. `None` if the
    /// MSS of the peer is below all sizes.
    pub(super) fn write_cookie(&self, entry: &HalfOpen, now: Instant) -> Option<HalfOpen> {
        let index = size_index(entry.mss.map_or(536, NonZeroU16::get))?;
        let count = count_at(now);
        let low = self.low(&entry.addresses, count).wrapping_add(index) & LOW;
        let cookie = self.base(&entry.addresses, entry.origin).wrapping_add(count << 24).wrapping_add(low);
        let kept = entry.as_encodable();
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
        let index = rest.wrapping_sub(self.low(addresses, count_at(now).wrapping_sub(age))) & LOW;
        let size = SIZES.get(index as usize).filter(|_| age < VALID_COUNTS)?;
        let stamps = ack.options.timestamps.filter(|_| config.timestamps.enabled);
        let bits = stamps.map_or(NOT_SCALED, |stamps| stamps.echo & OPTION_BITS);
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
            mss: NonZeroU16::new(*size),
            // 15 is no valid shift (RFC 7323 §2.3) and means that scaling was not offered.
            window_scale: (bits & SCALE_BITS != NOT_SCALED).then_some((bits & SCALE_BITS) as u8),
            has_sack: bits & SACK_BIT > 0,
            offers_snack: false,
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

/// Returns the age of a cookie's timestamp, if it is within the lifetime of a cookie. Its six lowest bits are not time.
fn age_of(echoed: u32, now: Instant) -> Option<Duration> {
    let age = Duration::from_millis(u64::from(clock::timestamp(now).wrapping_sub(echoed)));
    (age <= COOKIE_LIFETIME + Duration::from_millis(u64::from(OPTION_BITS) + 1)).then_some(age)
}

impl HalfOpen {
    /// Returns the handshake without what a cookie cannot encode.
    fn as_encodable(&self) -> Self {
        let has_timestamp = self.timestamp.is_some();
        let has_ecn = has_timestamp && self.flags & Flags::ACE == Flags::ECE | Flags::CWR;
        Self {
            window_scale: self.window_scale.filter(|_| has_timestamp).map(|scale| scale.min(14)),
            // Options are encoded in the timestamp; without one only the MSS survives (as in Linux).
            has_sack: self.has_sack && has_timestamp,
            offers_snack: false,
            flags: if has_ecn { Flags::SYN | Flags::ECE | Flags::CWR } else { Flags::SYN },
            ..*self
        }
    }

    /// Returns the timestamp whose lowest bits encode the options; it is never ahead of the clock.
    fn encoded_timestamp(&self, now: Instant) -> u32 {
        let clock = clock::timestamp(now).wrapping_add(self.identity.timestamp_offset);
        let scale = self.window_scale.map_or(NOT_SCALED, u32::from);
        let sack = if self.has_sack { SACK_BIT } else { 0 };
        let ecn = if self.flags.contains(Flags::ECE) { ECN_BIT } else { 0 };
        let encoded_timestamp = clock & !OPTION_BITS | scale | sack | ecn;
        // A timestamp ahead of the clock would fail PAWS in later segments.
        if encoded_timestamp.wrapping_sub(clock).cast_signed() > 0 {
            encoded_timestamp.wrapping_sub(OPTION_BITS + 1)
        } else {
            encoded_timestamp
        }
    }
}
