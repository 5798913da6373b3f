//! The names of transports.

use arrayvec::ArrayString;
use serde::{Deserialize, Serialize};

/// The end of a name that selects the fine-grained retransmission timer.
pub(crate) const FINE_GRAINED: &str = "-fg";

/// A transport by name, `sack`, `pert-er` or `sack-fg`: congestion control, loss detection and retransmission timer.
///
/// Deserialization reads a name as far as it can be read without a register: a name that is not built in is taken for that of
/// an added congestion control, if it has the form of one. [`Transports::parse`](crate::Transports::parse) reads known names
/// only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Transport {
    /// The meaning of the name without suffixes.
    pub kind: Kind,
    /// The loss detection.
    pub detection: Detection,
    /// Whether the retransmission timer is fine-grained (`-fg`).
    pub fine_grained: bool,
}

/// The base of a transport: the meaning of its name without suffixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A loss repair. The window is Reno's or, with `tahoe`, restarts at one segment.
    Repair(Repair),
    /// A congestion control by its registered name. Profile and detection choose the repair.
    Control(ControlName),
    /// A protocol of datagrams instead of a TCP stream: not every byte arrives, and there is no timer to choose.
    Datagram(Datagram),
    /// QUIC, with a mapping of units to streams or datagrams.
    Quic(QuicCarriage),
    /// A set of policies for frames, each of which is worthless when late.
    RealTime(Preset),
}

/// A loss repair with a name of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repair {
    /// By selective acknowledgements.
    #[default]
    Sack,
    /// One segment after every loss.
    Tahoe,
    /// Fast recovery, without SACK.
    Reno,
    /// `NewReno`'s recovery, without SACK.
    NewReno,
}

/// A protocol of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Datagram {
    /// Datagrams leave when they are written.
    Udp,
    /// Datagrams leave at the rate that TCP would have.
    Tfrc,
    /// Datagrams are repaired while that is of use, and released at a set time (live mode).
    Srt,
}

/// The mapping of units of media to QUIC's streams and datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuicCarriage {
    /// One behind the other in a stream.
    Stream,
    /// Each in a stream of its own.
    Streams,
    /// In datagrams, which are not repaired.
    Datagrams,
}

/// A real-time mode of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preset {
    /// The MTCP paper's, on SACK.
    Mtcp,
    /// The same on `NewReno`.
    TcpRtm,
    /// Sender deadlines.
    Tltcp,
    /// A receiver that skips holes and sends no notice.
    TcpRc,
    /// No retransmissions.
    Mtp,
    /// A send buffer as small as the window.
    LimitedBuffer,
    /// Unordered and time-lined, with inconsistent retransmissions.
    Hollywood,
    /// The real-time mode of this project.
    EarlybirdRt,
}

impl Default for Kind {
    fn default() -> Self {
        Self::Repair(Repair::Sack)
    }
}

impl Kind {
    /// Returns the congestion control of this name; `None` if the name is too long for one.
    pub fn control(name: &str) -> Option<Self> {
        ControlName::new(name).map(Self::Control)
    }

    /// Returns whether its packets are datagrams of UDP and not segments of TCP.
    pub const fn is_datagram(self) -> bool {
        matches!(self, Self::Datagram(_) | Self::Quic(_))
    }

    /// Returns whether it carries frames, each of which is worthless when late.
    pub const fn is_real_time(self) -> bool {
        matches!(self, Self::RealTime(_))
    }
}

/// The loss detection of a transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detection {
    /// The third duplicate ACK.
    #[default]
    Duplicates,
    /// An earlier duplicate ACK too, if it comes late (`-er`).
    EarlyRetransmission,
    /// The time since a segment that was sent later arrived (`-rack`).
    Rack,
}

/// The name of a congestion control: at most 31 bytes, so that a [`Transport`] can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControlName(ArrayString<31>);

impl ControlName {
    /// Returns the name; `None` if it is too long.
    pub fn new(name: &str) -> Option<Self> {
        // Not truncated: two long names could become the same one.
        ArrayString::from(name).ok().map(Self)
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Detection {
    /// Every detection.
    pub(crate) const ALL: &[Self] = &[Self::Duplicates, Self::EarlyRetransmission, Self::Rack];
    /// Every detection that has a suffix.
    pub(crate) const WITH_SUFFIX: [Self; 2] = [Self::EarlyRetransmission, Self::Rack];

    /// Returns the suffix of a name that selects it.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Duplicates => "",
            Self::EarlyRetransmission => "-er",
            Self::Rack => "-rack",
        }
    }
}

/// Returns whether a text has the form of a congestion control's name: lower-case letters, digits and hyphens.
pub(crate) fn is_control_name(text: &str) -> bool {
    // The characters of a bare key in TOML: the name is also that of a table.
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    text.starts_with(|letter: char| letter.is_ascii_lowercase()) && text.chars().all(is_part)
}
