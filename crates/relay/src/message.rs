//! What the two relays of a connection say to each other. One message is one frame, or one piece of a stream.

/// What stands at the beginning of every connection: this is an earlybird relay, of this version.
const MAGIC: [u8; 4] = *b"EBRD";
/// The version of these messages.
pub(crate) const VERSION: u8 = 1;

/// Which way media go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Who opened the connection sends them.
    Push,
    /// Who opened the connection wants them.
    Pull,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The stream has another name here.
    UnknownStream = 1,
    /// Both want to send, or both to receive.
    WrongDirection = 2,
    /// There is a sender already.
    Busy = 3,
    /// The other relay has another version.
    Version = 4,
    /// What answers is no relay: never said, but found out.
    Foreign = 254,
    /// A reason that this version does not know.
    Unknown = 255,
}

impl Refusal {
    const fn of(code: u8) -> Self {
        match code {
            1 => Self::UnknownStream,
            2 => Self::WrongDirection,
            3 => Self::Busy,
            4 => Self::Version,
            _ => Self::Unknown,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::UnknownStream => "both sides must give the stream the same name: see `streamid`",
            Self::WrongDirection => "both sides do the same: one must send and the other receive",
            Self::Busy => "somebody sends already",
            Self::Version => {
                "the other side speaks otherwise: use the same earlybird, and the same `transport`, on both"
            }
            Self::Foreign => "what answers there is no relay of earlybird",
            Self::Unknown => "the other side gave a reason that this version does not know",
        })
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// The first one, of who opened the connection.
    Hello { version: u8, direction: Direction, latency_ms: u32, stream: &'a str },
    /// The answer: the latency that both keep to.
    Welcome { latency_ms: u32 },
    /// The other answer.
    Refused(Refusal),
    /// A part of a unit of media.
    Media(Part<'a>),
    /// The stream is over at this time; so many units were sent.
    End { units: u32, time_us: u64 },
}

/// A part of a unit of media, which is what arrived at the source at once: a datagram, or some packets of a transport stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    /// Number of the unit, from 0.
    pub(crate) unit: u32,
    /// When the source had it, in microseconds since the stream began there.
    pub(crate) time_us: u64,
    /// Number of the part, from 0 …
    pub(crate) index: u8,
    /// … of so many.
    pub(crate) count: u8,
    pub(crate) bytes: &'a [u8],
}

/// What a part has before its bytes, at most.
pub(crate) const PART_HEADER: usize = 13;
/// Bytes of a time: microseconds of nine years.
const TIME: usize = 6;

const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const REFUSED: u8 = 3;
const MEDIA: u8 = 4;
const END: u8 = 5;
/// As [`MEDIA`], and a unit of one part.
const WHOLE: u8 = 6;

impl<'a> Message<'a> {
    /// Writes the message behind what is there.
    pub(crate) fn write(&self, into: &mut Vec<u8>) {
        match *self {
            Self::Hello { version, direction, latency_ms, stream } => {
                into.push(HELLO);
                into.extend(MAGIC);
                into.extend([version, u8::from(direction == Direction::Pull)]);
                into.extend(latency_ms.to_be_bytes());
                into.extend(stream.as_bytes());
            }
            Self::Welcome { latency_ms } => {
                into.extend([WELCOME, VERSION]);
                into.extend(latency_ms.to_be_bytes());
            }
            Self::Refused(refusal) => into.extend([REFUSED, refusal as u8]),
            Self::Media(part) => {
                into.push(if part.count == 1 { WHOLE } else { MEDIA });
                into.extend(part.unit.to_be_bytes());
                into.extend(&part.time_us.to_be_bytes()[size_of::<u64>() - TIME..]);
                if part.count != 1 {
                    into.extend([part.index, part.count]);
                }
                into.extend(part.bytes);
            }
            Self::End { units, time_us } => {
                into.push(END);
                into.extend(units.to_be_bytes());
                into.extend(time_us.to_be_bytes());
            }
        }
    }

    /// Reads a message; none if this is no message of any version.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match *kind {
            HELLO => return Self::read_hello(rest),
            WELCOME => Self::Welcome { latency_ms: u32::from_be_bytes(*rest.get(1..)?.first_chunk()?) },
            REFUSED => Self::Refused(Refusal::of(*rest.first()?)),
            MEDIA => Self::Media(Part::read(rest, false)?),
            WHOLE => Self::Media(Part::read(rest, true)?),
            END => {
                let (units, rest) = rest.split_first_chunk()?;
                Self::End { units: u32::from_be_bytes(*units), time_us: u64::from_be_bytes(*rest.first_chunk()?) }
            }
            _ => return None,
        })
    }

    fn read_hello(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (&[version, direction], rest) = rest.split_first_chunk()?;
        let (latency, stream) = rest.split_first_chunk()?;
        let direction = if direction == 0 { Direction::Push } else { Direction::Pull };
        let (latency_ms, stream) = (u32::from_be_bytes(*latency), std::str::from_utf8(stream).ok()?);
        Some(Self::Hello { version, direction, latency_ms, stream })
    }
}

impl<'a> Part<'a> {
    fn read(bytes: &'a [u8], is_whole: bool) -> Option<Self> {
        let (unit, rest) = bytes.split_first_chunk()?;
        let (time, rest) = rest.split_first_chunk::<TIME>()?;
        let (&[index, count], bytes) = if is_whole { (&[0, 1], rest) } else { rest.split_first_chunk()? };
        let unit = u32::from_be_bytes(*unit);
        let time_us = time.iter().fold(0, |time, byte| time << 8 | u64::from(*byte));
        (index < count).then_some(Self { unit, time_us, index, count, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(unit: u32, time_us in 0_u64..1 << 48, index in 0_u8..9, more in 1_u8..9, bytes: Vec<u8>, stream: String, latency_ms: u32) {
            let media = Part { unit, time_us, index, count: index + more, bytes: &bytes };
            let hello = Message::Hello { version: VERSION, direction: Direction::Pull, latency_ms, stream: &stream };
            let others = [Message::Welcome { latency_ms }, Message::Refused(Refusal::Busy), Message::End { units: unit, time_us }];
            for message in [hello, Message::Media(media)].into_iter().chain(others) {
                let mut written = Vec::new();
                message.write(&mut written);
                prop_assert_eq!(Message::read(&written), Some(message));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = Message::read(&bytes);
        }
    }

    #[test]
    fn a_part_has_the_header_that_is_counted_with() {
        let mut written = Vec::new();
        Message::Media(Part { unit: 1, time_us: 2, index: 1, count: 2, bytes: &[] }).write(&mut written);
        assert_eq!(written.len(), PART_HEADER);
        written.clear();
        Message::Media(Part { unit: 1, time_us: 2, index: 0, count: 1, bytes: &[] }).write(&mut written);
        assert_eq!(written.len(), PART_HEADER - 2, "most units are whole");
    }
}
