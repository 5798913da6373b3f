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
pub struct SackBlocks(Place);

/// SACK blocks and a cookie never meet in one segment – blocks tell of data that came, a cookie stands on a SYN –, so they
/// share a place: a [`Segment`](crate::Segment) is copied for every packet of a simulation.
#[derive(Clone, Copy, Debug)]
enum Place {
    Blocks { count: u8, blocks: [SackBlock; SackBlocks::MAX] },
    FastOpen(FastOpen),
}

impl Place {
    const NO_BLOCKS: Self =
        Self::Blocks { count: 0, blocks: [SackBlock { left: SeqNum(0), right: SeqNum(0) }; SackBlocks::MAX] };
}

impl Default for Place {
    fn default() -> Self {
        Self::NO_BLOCKS
    }
}

impl SackBlocks {
    /// As many as fit into the option space.
    pub const MAX: usize = 4;
    /// No blocks.
    pub const NONE: Self = Self(Place::NO_BLOCKS);

    /// Appends a block; a fifth one is left out.
    pub fn push(&mut self, block: SackBlock) {
        if let Place::FastOpen(_) = self.0 {
            *self = Self::default();
        }
        if let Place::Blocks { count, blocks } = &mut self.0
            && let Some(place) = blocks.get_mut(usize::from(*count))
        {
            *place = block;
            *count += 1;
        }
    }

    /// Returns the blocks in their order on the wire.
    pub fn as_slice(&self) -> &[SackBlock] {
        match &self.0 {
            Place::Blocks { count, blocks } => &blocks[..usize::from(*count)],
            Place::FastOpen(_) => &[],
        }
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of blocks.
    pub const fn len(&self) -> usize {
        match self.0 {
            Place::Blocks { count, .. } => count as usize,
            Place::FastOpen(_) => 0,
        }
    }

    /// Returns the length of the option on the wire in bytes, or of the one in its place, padded to whole words.
    pub(crate) const fn wire_len(&self) -> usize {
        match &self.0 {
            Place::Blocks { count: 0, .. } => 0,
            Place::Blocks { count, .. } => 4 + 8 * *count as usize,
            Place::FastOpen(fast_open) => fast_open.wire_len(),
        }
    }

    pub(crate) const fn with_fast_open(fast_open: FastOpen) -> Self {
        Self(Place::FastOpen(fast_open))
    }

    pub(crate) const fn fast_open(&self) -> Option<FastOpen> {
        match self.0 {
            Place::Blocks { .. } => None,
            Place::FastOpen(fast_open) => Some(fast_open),
        }
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice() && self.fast_open() == other.fast_open()
    }
}

impl Eq for SackBlocks {}
