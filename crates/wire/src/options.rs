use crate::{FastOpen, SackBlocks, SeqNum};
use core::num::NonZeroU16;

/// The TCP options earlybird speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub mss: Option<NonZeroU16>,
    /// Window scale shift (RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks (RFC 2018 §3), or in their place what [`Options::with_fast_open`] puts there.
    pub sack: SackBlocks,
    /// SNACK: what the reader stepped over.
    pub skip_notice: Option<SkipNotice>,
}

/// The SNACK option: the receiver tells the sender what its reader stepped over.
///
/// The layout is ours, for none was found (the papers name the option only; that of SCPS-TP, kind 21, counts in units of
/// the MSS and is another). It shares the experimental kind 253 under an identifier (RFC 6994 §3) and its numbers are in
/// network order:
///
/// | kind 253 | length 14 | identifier 0x534B | total, 32 bits | first, 32 bits | segments, 16 bits |
/// | --- | --- | --- | --- | --- | --- |
///
/// The offer on a SYN ends behind the identifier: its length is 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipNotice {
    /// On a SYN: this side knows the option. It is used if both sides said so.
    Offer,
    /// On an ACK, after a skip.
    Skipped {
        /// Segments skipped since the connection began, modulo 2³². It only grows, so that a lost ACK does no harm.
        total: u32,
        /// Number of the first byte of the newest skip, which ends at or below the number acknowledged.
        first: SeqNum,
        /// Segments of the newest skip. The receiver sees bytes missing, not segments: it counts as many as they must
        /// have been, if none was longer than the longest that came.
        segments: u16,
    },
}

impl SkipNotice {
    /// The length of a notice on the wire in bytes, padded to whole words.
    pub const WIRE_LEN: usize = 16;

    const fn wire_len(self) -> usize {
        match self {
            Self::Offer => 4,
            Self::Skipped { .. } => Self::WIRE_LEN,
        }
    }
}

/// The timestamps option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The peer's clock, echoed.
    pub echo: u32,
}

impl Options {
    /// Adds TCP Fast Open's option (RFC 7413 §4.1.1), for a SYN; it takes the place of SACK blocks, which a SYN has not.
    #[must_use]
    pub const fn with_fast_open(self, fast_open: FastOpen) -> Self {
        Self { sack: SackBlocks::with_fast_open(fast_open), ..self }
    }

    /// Returns TCP Fast Open's option.
    pub const fn fast_open(&self) -> Option<FastOpen> {
        self.sack.fast_open()
    }

    /// Returns the length on the wire in bytes in [`Layout::Aligned`](crate::Layout::Aligned), padded to whole words; in
    /// [`Layout::Linux`](crate::Layout::Linux) those of a SYN may be shorter, by four bytes.
    #[inline]
    pub const fn wire_len(&self) -> usize {
        // Asked for every packet of a simulation: a sum is faster than decisions.
        let words = self.mss.is_some() as usize
            + self.window_scale.is_some() as usize
            + self.sack_permitted as usize
            + 3 * self.timestamps.is_some() as usize;
        let notice = match self.skip_notice {
            Some(notice) => notice.wire_len(),
            None => 0,
        };
        4 * words + self.sack.wire_len() + notice
    }
}
