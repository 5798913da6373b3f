//! The messages between two relays. One message is one frame, or one length-prefixed record of a stream.

/// The first bytes of every connection: identifies the protocol.
const MAGIC: [u8; 4] = *b"EBRD";
/// The version of the protocol.
pub(crate) const VERSION: u8 = 1;

/// The direction of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The side that connects sends.
    Push,
    /// The side that connects receives.
    Pull,
}

/// The TCP port over UDP at which relays listen. Users choose the port of the UDP socket.
pub(crate) const TCP_PORT_OVER_UDP: u16 = 4201;

/// The reason for which a connection was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The stream has another name here.
    UnknownStream = 1,
    /// Both sides want to send, or both to receive.
    WrongDirection = 2,
    /// Another sender is active.
    Busy = 3,
    /// The other relay uses another version of the protocol.
    Version = 4,
    /// The listener serves as many relays as it may.
    Full = 5,
    /// The key of the caller does not permit it to send, or to receive, this stream.
    NotPermitted = 6,
    /// Datagrams arrive that were not made with the key of this side. Never sent.
    Undecrypted = 251,
    /// Nobody answers, with encryption. Never sent.
    NoAnswer = 252,
    /// Nobody answers, without encryption. Never sent.
    NoAnswerInsecure = 253,
    /// The peer is no relay. Never sent; derived from the failure of a connection.
    NotARelay = 254,
    /// A reason that this version does not define.
    Unknown = 255,
}

impl Refusal {
    const fn of(code: u8) -> Self {
        match code {
            1 => Self::UnknownStream,
            2 => Self::WrongDirection,
            3 => Self::Busy,
            4 => Self::Version,
            5 => Self::Full,
            6 => Self::NotPermitted,
            _ => Self::Unknown,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::UnknownStream => "both sides must give the stream the same name: see `streamid`",
            Self::WrongDirection => "both sides have the same role: one must send and the other receive",
            Self::Busy => "another sender is active",
            Self::Version => {
                "the other side uses another protocol version: use the same earlybird, and the same `transport`, on both"
            }
            Self::Full => "the other side serves its maximum of relays: see `maxpeers`",
            Self::NotPermitted => "the key of the caller does not permit this: see `keys` of the listener",
            Self::Undecrypted => "datagrams arrive that were made with another passphrase, or with none",
            Self::NoAnswer => "no answer: wrong passphrase, or nothing listens",
            Self::NoAnswerInsecure => "no answer: nothing listens, or it has a passphrase",
            Self::NotARelay => "the peer is not an earlybird relay",
            Self::Unknown => "the other side gave a reason that this version does not define",
        })
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// The first message, from the side that connects.
    Hello { version: u8, direction: Direction, latency_ms: u32, stream: &'a str },
    /// Accepts the connection: the latency that both sides use.
    Welcome { latency_ms: u32 },
    /// Refuses the connection.
    Refused(Refusal),
    /// A fragment of a media unit.
    Media(Fragment<'a>),
    /// The stream ends at this time, after this number of units.
    End { units: u32, time_us: u64 },
}

/// A fragment of a media unit: of a datagram, or of several TS packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment<'a> {
    /// Number of the unit, from 0.
    pub(crate) unit: u32,
    /// Time at which the source had it, in microseconds since the start of the stream.
    pub(crate) time_us: u64,
    /// Index of the fragment, from 0.
    pub(crate) index: u8,
    /// The number of fragments of the unit.
    pub(crate) count: u8,
    pub(crate) bytes: &'a [u8],
}

/// The largest header of a fragment, in bytes.
pub(crate) const FRAGMENT_HEADER: usize = 13;
/// Bytes of a timestamp: 48 bits of microseconds last for nine years.
const TIME_BYTES: usize = 6;

const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const REFUSED: u8 = 3;
const MEDIA: u8 = 4;
const END: u8 = 5;
/// As [`MEDIA`] without index and count, for a unit of one fragment.
const MEDIA_WHOLE: u8 = 6;

impl<'a> Message<'a> {
    /// Appends the message to `into`.
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
            Self::Media(fragment) => {
                // Two bytes less for most units: with seven TS packets per frame, every byte of header counts.
                into.push(if fragment.count == 1 { MEDIA_WHOLE } else { MEDIA });
                into.extend(fragment.unit.to_be_bytes());
                into.extend(&fragment.time_us.to_be_bytes()[size_of::<u64>() - TIME_BYTES..]);
                if fragment.count != 1 {
                    into.extend([fragment.index, fragment.count]);
                }
                into.extend(fragment.bytes);
            }
            Self::End { units, time_us } => {
                into.push(END);
                into.extend(units.to_be_bytes());
                into.extend(time_us.to_be_bytes());
            }
        }
    }

    /// Parses a message; returns `None` if it is invalid.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match *kind {
            HELLO => return Self::read_hello(rest),
            // The version byte is skipped: the listener has checked that both are equal.
            WELCOME => Self::Welcome { latency_ms: u32::from_be_bytes(*rest.get(1..)?.first_chunk()?) },
            REFUSED => Self::Refused(Refusal::of(*rest.first()?)),
            MEDIA => Self::Media(Fragment::read(rest, false)?),
            MEDIA_WHOLE => Self::Media(Fragment::read(rest, true)?),
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

impl<'a> Fragment<'a> {
    fn read(bytes: &'a [u8], is_whole: bool) -> Option<Self> {
        let (unit, rest) = bytes.split_first_chunk()?;
        let (time, rest) = rest.split_first_chunk::<TIME_BYTES>()?;
        let (&[index, count], bytes) = if is_whole { (&[0, 1], rest) } else { rest.split_first_chunk()? };
        let unit = u32::from_be_bytes(*unit);
        let time_us = time.iter().fold(0, |time, byte| time << 8 | u64::from(*byte));
        // An index out of range would keep the playout buffer waiting for a fragment that cannot exist.
        (index < count).then_some(Self { unit, time_us, index, count, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn messages_round_trip(unit: u32, time_us in 0_u64..1 << 48, index in 0_u8..9, more in 1_u8..9, bytes: Vec<u8>, stream: String, latency_ms: u32) {
            let media = Fragment { unit, time_us, index, count: index + more, bytes: &bytes };
            let hello = Message::Hello { version: VERSION, direction: Direction::Pull, latency_ms, stream: &stream };
            let others = [Message::Welcome { latency_ms }, Message::Refused(Refusal::Busy), Message::End { units: unit, time_us }];
            for message in [hello, Message::Media(media)].into_iter().chain(others) {
                let mut written = Vec::new();
                message.write(&mut written);
                prop_assert_eq!(Message::read(&written), Some(message));
            }
        }

        #[test]
        fn any_input_is_parsed_or_rejected(bytes: Vec<u8>) {
            let _ = Message::read(&bytes);
        }
    }

    #[test]
    fn fragment_headers_have_the_expected_size() {
        let mut written = Vec::new();
        Message::Media(Fragment { unit: 1, time_us: 2, index: 1, count: 2, bytes: &[] }).write(&mut written);
        assert_eq!(written.len(), FRAGMENT_HEADER);
        written.clear();
        Message::Media(Fragment { unit: 1, time_us: 2, index: 0, count: 1, bytes: &[] }).write(&mut written);
        assert_eq!(written.len(), FRAGMENT_HEADER - 2, "most units have one fragment");
    }
}
