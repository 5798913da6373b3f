use crate::{FastOpen, SackBlocks, SeqNum};
use core::num::NonZeroU16;

/// The TCP options that are read and written.
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
    /// SACK blocks (RFC 2018 §3), or the cookie of [`Options::with_fast_open`].
    pub sack: SackBlocks,
    /// SNACK: the skips of the reader.
    pub skip_notice: Option<SkipNotice>,
}

/// The SNACK option: the receiver reports to the sender what its reader skipped.
///
/// The layout is ours: the papers give only the name, and the SNACK of SCPS-TP (kind 21), which counts in units of the MSS, is
/// a different option. It shares the experimental kind 253 under an identifier (RFC 6994 §3) and its numbers are in
/// network order:
///
/// | kind 253 | length 14 | identifier 0x534B | total, 32 bits | first, 32 bits | segments, 16 bits |
/// | --- | --- | --- | --- | --- | --- |
///
/// The offer on a SYN ends behind the identifier: its length is 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipNotice {
    /// On a SYN: this side supports the option. It is used if both sides offer it.
    Offer,
    /// On an ACK, after a skip.
    Skipped {
        /// Segments skipped since the connection began, modulo 2³². It only grows, so that a lost ACK does no harm.
        total: u32,
        /// Number of the first byte of the newest skip, which ends at or below the number acknowledged.
        first: SeqNum,
        /// Segments of the newest skip: the least number that the missing bytes can have been, if none was longer than the
        /// longest that arrived.
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

/// The option that signs a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// By MD5 (RFC 2385).
    Md5,
    /// By the authentication option (RFC 5925).
    Authentication,
}

impl Options {
    /// Adds the TCP Fast Open option (RFC 7413 §4.1.1) to a SYN; it replaces SACK blocks, which a SYN does not have.
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
        // Called for every packet of a simulation: a sum of flags has no branches.
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
