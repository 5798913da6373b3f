use crate::controls::{self, Entry};
use crate::error::ScenarioError;
use crate::suggest::{did_you_mean, listed, nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The end of a name that selects the fine-grained retransmission timer.
pub(crate) const FINE_GRAINED: &str = "-fg";

/// What a sender does about congestion and loss, written as a name: `sack`, `pert-er`, `sack-fg`, …
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Transport {
    /// What the name without ends means.
    pub kind: Kind,
    /// What counts as a loss.
    pub detection: Detection,
    /// Whether the retransmission timer is fine-grained (`-fg`).
    pub fine_grained: bool,
}

/// What a transport is named after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The way in which it repairs losses; the window is Reno's or, with `tahoe`, begins again at one segment.
    Repair(Repair),
    /// Its congestion control, by the name under which that is registered; profile and detection choose the repair.
    Control(&'static str),
    /// What it carries datagrams with, in place of a TCP stream: not every byte arrives, and there is no timer to choose.
    Datagram(Datagram),
    /// QUIC, with this way of carrying units.
    Quic(QuicCarriage),
    /// A choice of policies for frames, each of which is worthless when late.
    RealTime(Preset),
}

/// A repair of losses with a name of its own.
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

/// How QUIC carries units of media.
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
    /// A receiver that steps over holes and says nothing.
    TcpRc,
    /// Nothing is sent twice.
    Mtp,
    /// A send buffer as small as the window.
    LimitedBuffer,
    /// Unordered and time-lined, with inconsistent retransmissions.
    Hollywood,
    /// Our own.
    EarlybirdRt,
}

impl Default for Kind {
    fn default() -> Self {
        Self::Repair(Repair::Sack)
    }
}

impl Kind {
    /// Returns whether its packets are datagrams of UDP and not segments of TCP.
    pub const fn is_datagram(self) -> bool {
        matches!(self, Self::Datagram(_) | Self::Quic(_))
    }

    /// Returns whether it carries frames, each of which is worthless when late.
    pub const fn is_real_time(self) -> bool {
        matches!(self, Self::RealTime(_))
    }
}

/// What counts as a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detection {
    /// The third duplicate ACK.
    #[default]
    Duplicates,
    /// An earlier duplicate too, if it comes late (`-er`).
    EarlyRetransmission,
    /// The time since something sent later arrived (`-rack`).
    Rack,
}

/// A row of the table of transports: a name, what it means, and where that is written.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The name without ends.
    name: &'static str,
    /// What it selects.
    kind: Kind,
    /// What it is, in a few words.
    title: &'static str,
    /// Where it is described.
    source: &'static str,
    /// The tables of `endpoint` with its own parameters; a control's has its name.
    parameters: &'static [&'static str],
    /// The ends that the name may have.
    detections: &'static [Detection],
}

const PLAIN: &[Detection] = &[Detection::Duplicates];
/// Without SACK, duplicates are all there is to count.
const COUNTED: &[Detection] = &[Detection::Duplicates, Detection::EarlyRetransmission];
const ALL: &[Detection] = &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack];

/// Transports named after how they repair losses.
const REPAIRS: &[Row] = &[
    Row {
        name: "tahoe",
        kind: Kind::Repair(Repair::Tahoe),
        title: "Slow start after every loss; no SACK",
        source: "Jacobson, SIGCOMM 1988; ns-2.35 Agent/TCP",
        parameters: &[],
        detections: PLAIN,
    },
    Row {
        name: "reno",
        kind: Kind::Repair(Repair::Reno),
        title: "Fast recovery up to the first ACK that goes forward; no SACK",
        source: "RFC 5681; ns-2.35 Agent/TCP/Reno",
        parameters: &["reno"],
        detections: COUNTED,
    },
    Row {
        name: "newreno",
        kind: Kind::Repair(Repair::NewReno),
        title: "Fast recovery until the whole window is repaired; no SACK",
        source: "RFC 6582; ns-2.35 Agent/TCP/Newreno",
        parameters: &["newreno"],
        detections: COUNTED,
    },
    Row {
        name: "sack",
        kind: Kind::Repair(Repair::Sack),
        title: "Slow start, congestion avoidance, halving; selective acknowledgements",
        source: "RFC 5681, RFC 6675; ns-2.35 Agent/TCP/Sack1",
        parameters: &[],
        detections: ALL,
    },
];

/// Protocols of datagrams.
const DATAGRAMS: &[Row] = &[
    Row {
        name: "udp",
        kind: Kind::Datagram(Datagram::Udp),
        title: "Fire and forget: one datagram per unit of the application",
        source: "RFC 768",
        parameters: &[],
        detections: PLAIN,
    },
    Row {
        name: "tfrc",
        kind: Kind::Datagram(Datagram::Tfrc),
        title: "Datagrams at the rate of TCP's throughput equation, which changes slowly",
        source: "RFC 5348",
        parameters: &[],
        detections: PLAIN,
    },
    Row {
        name: "srt",
        kind: Kind::Datagram(Datagram::Srt),
        title: "Datagrams in live mode: lost ones are asked for at once, and all are released at a set time or never",
        source: "draft-sharabayko-srt-01; Haivision's libsrt where it says nothing",
        parameters: &["srt"],
        detections: PLAIN,
    },
];

/// QUIC in its ways.
const QUICS: &[Row] = &[
    Row {
        name: "quic",
        kind: Kind::Quic(QuicCarriage::Stream),
        title: "QUIC with all units in one stream",
        source: "RFC 9000, RFC 9002; quinn-proto 0.11.19",
        parameters: &["quic"],
        detections: PLAIN,
    },
    Row {
        name: "quic-streams",
        kind: Kind::Quic(QuicCarriage::Streams),
        title: "QUIC with a stream for each unit: all are repaired, and none waits for another one",
        source: "RFC 9000 §2, RFC 9002; quinn-proto 0.11.19",
        parameters: &["quic"],
        detections: PLAIN,
    },
    Row {
        name: "quic-datagrams",
        kind: Kind::Quic(QuicCarriage::Datagrams),
        title: "QUIC's datagrams: congestion-controlled, never repaired",
        source: "RFC 9221, RFC 9002; quinn-proto 0.11.19",
        parameters: &["quic"],
        detections: PLAIN,
    },
];

/// Real-time modes.
const PRESETS: &[Row] = &[
    Row {
        name: "mtcp",
        kind: Kind::RealTime(Preset::Mtcp),
        title: "Real-time mode on SACK: the reader steps over holes and tells, the writer never blocks, frames stay whole",
        source: "MTCP paper; SNACK's encoding is ours",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "tcp-rtm",
        kind: Kind::RealTime(Preset::TcpRtm),
        title: "The same on NewReno, without SACK",
        source: "Liang and Cheriton, ICNP 2002 (known from its abstract)",
        parameters: &["newreno", "real-time"],
        detections: COUNTED,
    },
    Row {
        name: "tltcp",
        kind: Kind::RealTime(Preset::Tltcp),
        title: "The sender gives up what has missed its deadline; the receiver learns of it by reading",
        source: "Mukherjee and Brecht, ICNP 2000 (known from its abstract)",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "tcp-rc",
        kind: Kind::RealTime(Preset::TcpRc),
        title: "The receiver acknowledges what did not come in time; the sender never knows",
        source: "McCreary and others, 2005 (known from its abstract)",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "mtp",
        kind: Kind::RealTime(Preset::Mtp),
        title: "TCP's windows, and nothing is ever sent twice",
        source: "Chung, Claypool and Kinicki, technical report, 2005 (known from its abstract)",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "limited-buffer",
        kind: Kind::RealTime(Preset::LimitedBuffer),
        title: "TCP whose send buffer follows the window: what it has no room for, the application drops",
        source: "Goel, Krasic and Walpole",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "hollywood",
        kind: Kind::RealTime(Preset::Hollywood),
        title: "TCP Hollywood on CUBIC: messages in any order; in place of one that is too late to repeat, a newer one",
        source: "McQuistin, Perkins and Fayed, IFIP Networking 2016 (its abstract), and their patch of Linux",
        parameters: &["cubic", "real-time"],
        detections: ALL,
    },
    Row {
        name: "earlybird-rt",
        kind: Kind::RealTime(Preset::EarlybirdRt),
        title: "Our real-time mode: repairs what can still be in time, and tells noise from congestion by delay",
        source: "docs/real-time-mode.md",
        parameters: &["real-time"],
        detections: PLAIN,
    },
];

/// Returns every transport by name, without ends.
fn rows() -> impl Iterator<Item = Row> {
    let [repairs, datagrams, quics, presets] = [REPAIRS, DATAGRAMS, QUICS, PRESETS].map(|rows| rows.iter().copied());
    repairs.chain(controls::entries().map(Row::from)).chain(datagrams).chain(quics).chain(presets)
}

impl From<Entry> for Row {
    fn from(entry: Entry) -> Self {
        let Entry { name, title, source, detections, .. } = entry;
        Self { name, kind: Kind::Control(name), title, source, parameters: &[], detections }
    }
}

/// Returns the table of transports as JSON: the fields of its rows, `names` with the ends of detection, and whether they may
/// have the timer's end.
pub fn transports_json() -> String {
    let rows = rows().map(|row| {
        json!({
            "name": row.name, "names": row.names().map(|(name, _)| name).collect::<Vec<_>>(), "title": row.title,
            "source": row.source, "parameters": row.tables(), "has_timer": !row.kind.is_datagram(),
        })
    });
    Value::from(rows.collect::<Vec<_>>()).to_string()
}

impl Detection {
    /// Returns the end of a name that selects it.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Duplicates => "",
            Self::EarlyRetransmission => "-er",
            Self::Rack => "-rack",
        }
    }
}

impl Row {
    /// Returns the tables of `endpoint` with its parameters.
    fn tables(&self) -> &[&'static str] {
        if matches!(self.kind, Kind::Control(_)) { std::slice::from_ref(&self.name) } else { self.parameters }
    }

    /// Returns the names with their ends but without the timer's.
    fn names(self) -> impl Iterator<Item = (String, Transport)> {
        let Self { name, kind, detections, .. } = self;
        detections.iter().map(move |detection| {
            let transport = Transport { kind, detection: *detection, fine_grained: false };
            (format!("{name}{}", detection.suffix()), transport)
        })
    }
}

/// Returns the names of all transports.
pub fn transport_names() -> Vec<String> {
    let with_timer = |(name, transport): (String, Transport)| {
        let ends: &[&str] = if transport.kind.is_datagram() { &[""] } else { &["", FINE_GRAINED] };
        ends.iter().map(move |end| format!("{name}{end}"))
    };
    rows().flat_map(Row::names).flat_map(with_timer).collect()
}

/// Says in words which transports there are.
pub(crate) fn allowed_transports() -> String {
    let names = rows().flat_map(Row::names);
    let (datagram, tcp): (Vec<_>, Vec<_>) = names.partition(|(_, transport)| transport.kind.is_datagram());
    let [datagram, tcp] = [datagram, tcp].map(|part| listed(part.iter().map(|(name, _)| name.as_str())));
    format!("{tcp}, each also with {FINE_GRAINED}; {datagram}")
}

impl FromStr for Transport {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let base = text.strip_suffix(FINE_GRAINED);
        let found = rows().flat_map(Row::names).find(|(name, _)| name == base.unwrap_or(text));
        let fits = |transport: &Self| base.is_none() || !transport.kind.is_datagram();
        let (_, transport) = found.filter(|(_, transport)| fits(transport)).ok_or_else(|| unknown(text))?;
        Ok(Self { fine_grained: base.is_some(), ..transport })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = rows().find(|row| row.kind == self.kind).map_or("", |row| row.name);
        write!(formatter, "{name}{}{}", self.detection.suffix(), if self.fine_grained { FINE_GRAINED } else { "" })
    }
}

impl TryFrom<String> for Transport {
    type Error = ScenarioError;

    fn try_from(text: String) -> Result<Self, ScenarioError> {
        text.parse()
    }
}

impl From<Transport> for String {
    fn from(transport: Transport) -> Self {
        transport.to_string()
    }
}

impl JsonSchema for Transport {
    fn schema_name() -> Cow<'static, str> {
        "Transport".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "transport",
            "enum": transport_names(),
            "description": "Congestion control and loss repair by name; `-er` adds early retransmission, `-rack` repairs by RACK-TLP, `-fg` selects the \
                            fine-grained retransmission timer.",
        })
    }
}

fn unknown(text: &str) -> ScenarioError {
    let names = transport_names();
    let guess = nearest(text, names.iter().map(String::as_str));
    ScenarioError::new("", "is not a transport").text(text).allowed(allowed_transports()).hint(did_you_mean(guess))
}
