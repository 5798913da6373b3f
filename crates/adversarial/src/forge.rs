//! Forged segments, close to what a connection accepts.

use arbitrary::{Result, Unstructured};
use earlybird_wire::{Ecn, FastOpen, Flags, Options, SackBlock, Segment, SeqNum, SkipNotice, Timestamps};
use std::num::NonZeroU16;

/// The numbers of the next valid segment of a peer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NextExpected {
    pub(crate) seq: SeqNum,
    pub(crate) ack: SeqNum,
    pub(crate) timestamps: Timestamps,
}

/// Returns a sequence number: correct, near, far away or arbitrary.
pub(crate) fn number(data: &mut Unstructured<'_>, right: SeqNum) -> Result<SeqNum> {
    // Four in ten exact, the others at distances that probe window edges and wrap-around.
    let distance = match data.int_in_range(0..=9_u8)? {
        0..=3 => 0,
        4 | 5 => i32::from(data.arbitrary::<i8>()?),
        6 | 7 => i32::from(data.arbitrary::<i16>()?),
        8 => i32::from(data.arbitrary::<i8>()?) << 24,
        _ => data.arbitrary()?,
    };
    Ok(SeqNum(right.0.wrapping_add_signed(distance)))
}

/// Mostly ACK: without it most segments are dropped early (RFC 9293 §3.10.7.4).
fn flags(data: &mut Unstructured<'_>) -> Result<Flags> {
    Ok(match data.int_in_range(0..=7_u8)? {
        0..=3 => Flags::ACK,
        4 => Flags::ACK | Flags::FIN,
        5 => Flags::ACK | Flags::PSH | Flags::URG,
        _ => Flags::from_bits_truncate(data.arbitrary()?),
    })
}

fn length(data: &mut Unstructured<'_>) -> Result<u16> {
    Ok(match data.int_in_range(0..=5_u8)? {
        0 | 1 => 0,
        2 | 3 => data.int_in_range(0..=1500)?,
        4 => 1000,
        _ => data.int_in_range(0..=60_000)?,
    })
}

fn timestamps(data: &mut Unstructured<'_>, expected: Timestamps) -> Result<Timestamps> {
    let stamp = |data: &mut Unstructured<'_>, right| number(data, SeqNum(right)).map(|stamp| stamp.0);
    Ok(Timestamps { value: stamp(data, expected.value)?, echo: stamp(data, expected.echo)? })
}

fn skip_notice(data: &mut Unstructured<'_>, expected: &NextExpected) -> Result<SkipNotice> {
    if data.arbitrary()? {
        return Ok(SkipNotice::Offer);
    }
    let (total, segments) = (number(data, SeqNum(0))?.0, data.arbitrary()?);
    Ok(SkipNotice::Skipped { total, first: number(data, expected.ack)?, segments })
}

pub(crate) fn cookie(data: &mut Unstructured<'_>) -> Result<FastOpen> {
    let length = data.int_in_range(0..=16)?;
    Ok(FastOpen::cookie(data.bytes(length)?).unwrap_or(FastOpen::REQUEST).experimental(data.arbitrary()?))
}

fn optional<T>(
    data: &mut Unstructured<'_>,
    make: impl FnOnce(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    if data.arbitrary()? { make(data).map(Some) } else { Ok(None) }
}

fn options(data: &mut Unstructured<'_>, expected: &NextExpected, is_syn: bool) -> Result<Options> {
    let mut options =
        Options { timestamps: optional(data, |data| timestamps(data, expected.timestamps))?, ..Options::default() };
    // Options of a SYN on other segments must be ignored.
    if is_syn || data.ratio(1, 16)? {
        options.mss = NonZeroU16::new(data.arbitrary()?);
        options.window_scale = optional(data, |data| data.int_in_range(0..=14))?;
        options.sack_permitted = data.arbitrary()?;
    }
    if data.ratio(1, 4)? {
        options.skip_notice = Some(skip_notice(data, expected)?);
    }
    if is_syn {
        return Ok(optional(data, cookie)?.map_or(options, |fast_open| options.with_fast_open(fast_open)));
    }
    for _ in 0..data.int_in_range(0..=4_u8)? {
        options.sack.push(SackBlock { left: number(data, expected.ack)?, right: number(data, expected.ack)? });
    }
    Ok(options)
}

/// Returns a segment that is close enough to the expected one to do harm.
pub(crate) fn segment(data: &mut Unstructured<'_>, expected: &NextExpected) -> Result<Segment> {
    let flags = flags(data)?;
    Ok(Segment {
        seq: number(data, expected.seq)?,
        ack: number(data, expected.ack)?,
        window: data.arbitrary()?,
        len: length(data)?,
        flags,
        ecn: Ecn::from_bits(data.arbitrary()?),
        options: options(data, expected, flags.contains(Flags::SYN))?,
    })
}

/// Flips a bit.
pub(crate) fn flip(data: &mut Unstructured<'_>, packet: &mut [u8]) -> Result<()> {
    let bit = data.choose_index(packet.len() * 8)?;
    packet[bit / 8] ^= 1 << (bit % 8);
    Ok(())
}
