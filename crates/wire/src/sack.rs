use crate::{FastOpen, SeqNum};

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
pub struct SackBlocks(SackOrCookie);

/// SACK blocks, or a Fast Open cookie. No segment has both: blocks report data that arrived, a cookie is only on a SYN. They
/// share their memory because a [`Segment`](crate::Segment) is copied for every packet of a simulation.
#[derive(Clone, Copy, Debug)]
enum SackOrCookie {
    Blocks { count: u8, blocks: [SackBlock; SackBlocks::MAX] },
    FastOpen(FastOpen),
}

impl SackOrCookie {
    const NO_BLOCKS: Self =
        Self::Blocks { count: 0, blocks: [SackBlock { left: SeqNum(0), right: SeqNum(0) }; SackBlocks::MAX] };
}

impl Default for SackOrCookie {
    fn default() -> Self {
        Self::NO_BLOCKS
    }
}

impl SackBlocks {
    /// The number of blocks that fit into 40 bytes of options.
    pub const MAX: usize = 4;
    /// No blocks.
    pub const NONE: Self = Self(SackOrCookie::NO_BLOCKS);

    /// Appends a block; a fifth one is ignored.
    pub fn push(&mut self, block: SackBlock) {
        // Blocks replace a cookie, which has no meaning beside them.
        if let SackOrCookie::FastOpen(_) = self.0 {
            *self = Self::default();
        }
        if let SackOrCookie::Blocks { count, blocks } = &mut self.0
            && let Some(slot) = blocks.get_mut(usize::from(*count))
        {
            *slot = block;
            *count += 1;
        }
    }

    /// Returns the blocks in their order on the wire.
    pub fn as_slice(&self) -> &[SackBlock] {
        match &self.0 {
            SackOrCookie::Blocks { count, blocks } => &blocks[..usize::from(*count)],
            SackOrCookie::FastOpen(_) => &[],
        }
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of blocks.
    pub const fn len(&self) -> usize {
        match self.0 {
            SackOrCookie::Blocks { count, .. } => count as usize,
            SackOrCookie::FastOpen(_) => 0,
        }
    }

    /// Returns the length of the option on the wire in bytes, or of the one in its place, padded to whole words.
    pub(crate) const fn wire_len(&self) -> usize {
        match &self.0 {
            SackOrCookie::Blocks { count: 0, .. } => 0,
            // Two NOPs, kind and length, then two numbers per block: whole words, as Linux writes them.
            SackOrCookie::Blocks { count, .. } => 4 + 8 * *count as usize,
            SackOrCookie::FastOpen(fast_open) => fast_open.wire_len(),
        }
    }

    pub(crate) const fn with_fast_open(fast_open: FastOpen) -> Self {
        Self(SackOrCookie::FastOpen(fast_open))
    }

    pub(crate) const fn fast_open(&self) -> Option<FastOpen> {
        match self.0 {
            SackOrCookie::Blocks { .. } => None,
            SackOrCookie::FastOpen(fast_open) => Some(fast_open),
        }
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        // Unused slots may differ, so the arrays cannot be compared as they are.
        self.as_slice() == other.as_slice() && self.fast_open() == other.fast_open()
    }
}

impl Eq for SackBlocks {}
