use crate::SeqNum;
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
    /// SACK blocks (RFC 2018 §3).
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

/// A range of received bytes: from `left` up to but not including `right`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte of the range.
    pub left: SeqNum,
    /// First byte after the range.
    pub right: SeqNum,
}

/// Up to four SACK blocks, the newest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::MAX],
    count: u8,
}

impl SackBlocks {
    /// As many as fit into the option space.
    pub const MAX: usize = 4;

    /// Appends a block; a fifth one is left out.
    pub fn push(&mut self, block: SackBlock) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.count)) {
            *place = block;
            self.count += 1;
        }
    }

    /// Gives the blocks in their order on the wire.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Says whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Gives the number of blocks.
    pub const fn len(&self) -> usize {
        self.count as usize
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for SackBlocks {}

impl Options {
    /// Gives the length on the wire in bytes, padded to whole words.
    pub const fn wire_len(&self) -> usize {
        let mut len = 0;
        if self.mss.is_some() {
            len += 4;
        }
        if self.window_scale.is_some() {
            len += 4;
        }
        if self.sack_permitted {
            len += 4;
        }
        if self.timestamps.is_some() {
            len += 12;
        }
        if !self.sack.is_empty() {
            len += 4 + 8 * self.sack.len();
        }
        if let Some(notice) = self.skip_notice {
            len += notice.wire_len();
        }
        len
    }
}
