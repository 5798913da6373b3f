//! Send and receive buffers for drivers: a connection itself holds no bytes of the stream.

mod assembler;
mod ring;

pub use assembler::Assembler;
pub use ring::Ring;

use alloc::collections::VecDeque;
use core::ops::Range;

/// Returns a part of a queue as its two slices. The part must exist.
fn pieces(bytes: &VecDeque<u8>, part: Range<usize>) -> [&[u8]; 2] {
    // A `VecDeque` wraps around: its content is two slices.
    let (front, back) = bytes.as_slices();
    let split = front.len();
    let behind = |index: usize| index.saturating_sub(split);
    [&front[part.start.min(split)..part.end.min(split)], &back[behind(part.start)..behind(part.end)]]
}

/// Copies two slices into one of their total length.
fn join(pieces: [&[u8]; 2], into: &mut [u8]) {
    let (front, back) = into.split_at_mut(pieces[0].len());
    front.copy_from_slice(pieces[0]);
    back.copy_from_slice(pieces[1]);
}

/// Overwrites a part of a queue. The part must exist.
fn overwrite(bytes: &mut VecDeque<u8>, at: usize, new: &[u8]) {
    let (front, back) = bytes.as_mut_slices();
    let split = front.len();
    let (before, behind) = new.split_at(split.saturating_sub(at).min(new.len()));
    front[at.min(split)..][..before.len()].copy_from_slice(before);
    back[(at + before.len()).saturating_sub(split)..][..behind.len()].copy_from_slice(behind);
}
