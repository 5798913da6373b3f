//! Sent segments, without what only identifies their connection.

use earlybird_units::Instant;
use earlybird_wire::{Ecn, Flags, Segment, SeqNum};

/// A sent segment, with sequence numbers and timestamps relative to the first of its side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) side: usize,
    seq: u32,
    ack: u32,
    len: u16,
    window: u16,
    flags: Flags,
    ecn: Ecn,
    stamps: Option<(u32, u32)>,
    sack: Vec<(u32, u32)>,
    scale: Option<u8>,
    mss: Option<u16>,
}

/// The initial sequence number and timestamp of a side.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    seq: SeqNum,
    stamp: u32,
}

/// Normalises segments in order of sending.
pub(crate) fn seen(mut segments: Vec<(Instant, usize, Segment)>) -> Vec<Seen> {
    // Segments that leave both sides at the same time have no defined order.
    segments.sort_by_key(|(at, side, _)| (*at, *side));
    let origin = |side| {
        let first =
            segments.iter().find(|(_, sender, _)| *sender == side).map(|(.., segment)| *segment).unwrap_or_default();
        Origin { seq: first.seq, stamp: first.options.timestamps.map_or(0, |stamps| stamps.value) }
    };
    let origins = [0, 1].map(origin);
    segments
        .iter()
        .map(|(at, side, segment)| Seen::of(*at, *side, segment, origins[*side], origins[1 - *side]))
        .collect()
}

impl Seen {
    /// Returns the segment without the echoed timestamp.
    pub(crate) fn without_echo(self) -> Self {
        Self { stamps: self.stamps.map(|(value, _)| (value, 0)), ..self }
    }

    fn of(at: Instant, side: usize, segment: &Segment, own: Origin, peer: Origin) -> Self {
        let options = &segment.options;
        let has_ack = segment.flags.contains(Flags::ACK);
        let from = |number: SeqNum, origin: Origin| number.0.wrapping_sub(origin.seq.0);
        let echo = |echo: u32| if has_ack { echo.wrapping_sub(peer.stamp) } else { 0 };
        Self {
            at,
            side,
            seq: from(segment.seq, own),
            ack: if has_ack { from(segment.ack, peer) } else { 0 },
            len: segment.len,
            window: segment.window,
            flags: segment.flags,
            ecn: segment.ecn,
            stamps: options.timestamps.map(|stamps| (stamps.value.wrapping_sub(own.stamp), echo(stamps.echo))),
            sack: options
                .sack
                .as_slice()
                .iter()
                .map(|block| (from(block.left, peer), from(block.right, peer)))
                .collect(),
            scale: options.window_scale,
            mss: options.mss.map(Into::into),
        }
    }
}
