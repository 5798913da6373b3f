use crate::error::ScenarioError;
use crate::suggest::{did_you_mean, listed, nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The end of a name that selects the fine-grained retransmission timer.
const FINE_GRAINED: &str = "-fg";

/// What a sender does about congestion and loss, written as a name: `sack`, `pert-er`, `sack-fg`, …
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Transport {
    /// The congestion control.
    pub control: Control,
    /// What counts as a loss.
    pub detection: Detection,
    /// Whether the retransmission timer is fine-grained (`-fg`).
    pub fine_grained: bool,
}

/// A congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Control {
    /// Reno's window rules, with losses repaired by SACK.
    #[default]
    Sack,
    /// PERT: early response to the queueing delay.
    Pert,
    /// CUBIC: a cubic function of the time since the last loss.
    Cubic,
    /// BBR version 3.
    Bbr,
    /// Prague: answers every round trip by its share of marks.
    Prague,
    /// None: datagrams leave when they are written.
    Udp,
    /// TFRC: datagrams leave at the rate that TCP would have.
    Tfrc,
    /// SRT in live mode: datagrams are repaired while that is of use, and released at a set time.
    Srt,
    /// Reno's window rules, one segment after every loss.
    Tahoe,
    /// Reno's window rules, with fast recovery and without SACK.
    Reno,
    /// Reno's window rules, with `NewReno`'s recovery and without SACK.
    NewReno,
    /// Vegas: few segments in the queue.
    Vegas,
    /// Real-time mode of the MTCP paper, on SACK.
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
    /// Our own real-time mode.
    EarlybirdRt,
}

impl Control {
    /// Says whether it carries datagrams and not a TCP stream: not every byte arrives, and there is no timer to choose.
    pub const fn is_datagram(self) -> bool {
        matches!(self, Self::Udp | Self::Tfrc | Self::Srt)
    }

    /// Says whether it carries frames, each of which is worthless when late.
    pub const fn is_real_time(self) -> bool {
        matches!(
            self,
            Self::Mtcp | Self::TcpRtm | Self::Tltcp | Self::TcpRc | Self::Mtp | Self::LimitedBuffer | Self::EarlybirdRt
        )
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
struct TransportKind {
    /// The name without ends.
    name: &'static str,
    /// The congestion control it selects.
    control: Control,
    /// What it is, in a few words.
    title: &'static str,
    /// Where it is described.
    source: &'static str,
    /// The tables of `endpoint` with its own parameters.
    parameters: &'static [&'static str],
    /// The ends that the name may have.
    detections: &'static [Detection],
}

/// Every transport by name, without ends.
const TABLE: &[TransportKind] = &[
    TransportKind {
        name: "tahoe",
        control: Control::Tahoe,
        title: "Slow start after every loss; no SACK",
        source: "Jacobson, SIGCOMM 1988; ns-2.35 Agent/TCP",
        parameters: &[],
        detections: &[Detection::Duplicates],
    },
    TransportKind {
        name: "reno",
        control: Control::Reno,
        title: "Fast recovery up to the first ACK that goes forward; no SACK",
        source: "RFC 5681; ns-2.35 Agent/TCP/Reno",
        parameters: &["reno"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission],
    },
    TransportKind {
        name: "newreno",
        control: Control::NewReno,
        title: "Fast recovery until the whole window is repaired; no SACK",
        source: "RFC 6582; ns-2.35 Agent/TCP/Newreno",
        parameters: &["newreno"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission],
    },
    TransportKind {
        name: "sack",
        control: Control::Sack,
        title: "Slow start, congestion avoidance, halving; selective acknowledgements",
        source: "RFC 5681, RFC 6675; ns-2.35 Agent/TCP/Sack1",
        parameters: &[],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "vegas",
        control: Control::Vegas,
        title: "Keeps one to three segments in the queue; with ns2 rules, retransmits by a fine timer, without SACK",
        source: "Brakmo and Peterson, IEEE JSAC 13(8), 1995; ns-2.35 Agent/TCP/Vegas",
        parameters: &["vegas"],
        detections: &[Detection::Duplicates],
    },
    TransportKind {
        name: "cubic",
        control: Control::Cubic,
        title: "A cubic function of the time since the last loss; HyStart or HyStart++ on demand",
        source: "RFC 9438; Linux 2.6.22 (v2.1) and 2.6.3x (v2.3); RFC 9406; Ha and Rhee 2008",
        parameters: &["cubic"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "pert",
        control: Control::Pert,
        title: "Probabilistic early response to the queueing delay",
        source: "Bhandarkar et al., SIGCOMM 2007; Kotla and Reddy, IWQoS 2008; ER-PERT paper",
        parameters: &["pert"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "bbr",
        control: Control::Bbr,
        title: "BBR version 3: a model of the path's bandwidth and shortest round trip; paced",
        source: "draft-ietf-ccwg-bbr (August 2026)",
        parameters: &["bbr"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "prague",
        control: Control::Prague,
        title: "L4S: shrinks by half the share of marked segments; paced; behind `dualpi2`, hardly a queue",
        source: "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331; RFC 9768",
        parameters: &["prague"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "udp",
        control: Control::Udp,
        title: "Fire and forget: one datagram per unit of the application",
        source: "RFC 768",
        parameters: &[],
        detections: &[Detection::Duplicates],
    },
    TransportKind {
        name: "tfrc",
        control: Control::Tfrc,
        title: "Datagrams at the rate of TCP's throughput equation, which changes slowly",
        source: "RFC 5348",
        parameters: &[],
        detections: &[Detection::Duplicates],
    },
    TransportKind {
        name: "srt",
        control: Control::Srt,
        title: "Datagrams in live mode: lost ones are asked for at once, and all are released at a set time or never",
        source: "draft-sharabayko-srt-01; Haivision's libsrt where it says nothing",
        parameters: &["srt"],
        detections: &[Detection::Duplicates],
    },
    TransportKind {
        name: "mtcp",
        control: Control::Mtcp,
        title: "Real-time mode on SACK: the reader steps over holes and tells, the writer never blocks, frames stay whole",
        source: "MTCP paper; SNACK's encoding is ours",
        parameters: &["real-time"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "tcp-rtm",
        control: Control::TcpRtm,
        title: "The same on NewReno, without SACK",
        source: "Liang and Cheriton, ICNP 2002 (known from its abstract)",
        parameters: &["newreno", "real-time"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission],
    },
    TransportKind {
        name: "tltcp",
        control: Control::Tltcp,
        title: "The sender gives up what has missed its deadline; the receiver learns of it by reading",
        source: "Mukherjee and Brecht, ICNP 2000 (known from its abstract)",
        parameters: &["real-time"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "tcp-rc",
        control: Control::TcpRc,
        title: "The receiver acknowledges what did not come in time; the sender never knows",
        source: "McCreary and others, 2005 (known from its abstract)",
        parameters: &["real-time"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "mtp",
        control: Control::Mtp,
        title: "TCP's windows, and nothing is ever sent twice",
        source: "Chung, Claypool and Kinicki, technical report, 2005 (known from its abstract)",
        parameters: &["real-time"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "limited-buffer",
        control: Control::LimitedBuffer,
        title: "TCP whose send buffer follows the window: what it has no room for, the application drops",
        source: "Goel, Krasic and Walpole",
        parameters: &["real-time"],
        detections: &[Detection::Duplicates, Detection::EarlyRetransmission, Detection::Rack],
    },
    TransportKind {
        name: "earlybird-rt",
        control: Control::EarlybirdRt,
        title: "Our real-time mode: repairs what can still be in time, and tells noise from congestion by delay",
        source: "docs/real-time-mode.md",
        parameters: &["real-time"],
        detections: &[Detection::Duplicates],
    },
];

/// Gives the table of transports as JSON: the fields of its rows, `names` with the ends of detection, and whether they may
/// have the timer's end.
pub fn transports_json() -> String {
    let names = |kind: &TransportKind| kind.names().map(|(name, _)| name).collect::<Vec<_>>();
    let rows = TABLE.iter().map(|kind| {
        json!({
            "name": kind.name, "names": names(kind), "title": kind.title, "source": kind.source,
            "parameters": kind.parameters, "has_timer": !kind.control.is_datagram(),
        })
    });
    Value::from(rows.collect::<Vec<_>>()).to_string()
}

impl Detection {
    /// Gives the end of a name that selects it.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Duplicates => "",
            Self::EarlyRetransmission => "-er",
            Self::Rack => "-rack",
        }
    }
}

impl TransportKind {
    /// Gives the names with their ends but without the timer's.
    fn names(&self) -> impl Iterator<Item = (String, Transport)> + use<> {
        let (name, control) = (self.name, self.control);
        self.detections.iter().map(move |detection| {
            let transport = Transport { control, detection: *detection, fine_grained: false };
            (format!("{name}{}", detection.suffix()), transport)
        })
    }
}

/// Gives the names of all transports.
pub fn transport_names() -> Vec<String> {
    let with_timer = |(name, transport): (String, Transport)| {
        let ends: &[&str] = if transport.control.is_datagram() { &[""] } else { &["", FINE_GRAINED] };
        ends.iter().map(move |end| format!("{name}{end}"))
    };
    TABLE.iter().flat_map(TransportKind::names).flat_map(with_timer).collect()
}

/// Says in words which transports there are.
pub(crate) fn allowed_transports() -> String {
    let names = TABLE.iter().flat_map(TransportKind::names);
    let (datagram, tcp): (Vec<_>, Vec<_>) = names.partition(|(_, transport)| transport.control.is_datagram());
    let [datagram, tcp] = [datagram, tcp].map(|part| listed(part.iter().map(|(name, _)| name.as_str())));
    format!("{tcp}, each also with {FINE_GRAINED}; {datagram}")
}

impl FromStr for Transport {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let base = text.strip_suffix(FINE_GRAINED);
        let found = TABLE.iter().flat_map(TransportKind::names).find(|(name, _)| name == base.unwrap_or(text));
        let fits = |transport: &Self| base.is_none() || !transport.control.is_datagram();
        let (_, transport) = found.filter(|(_, transport)| fits(transport)).ok_or_else(|| unknown(text))?;
        Ok(Self { fine_grained: base.is_some(), ..transport })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = TABLE.iter().find(|kind| kind.control == self.control).map_or("", |kind| kind.name);
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
