//! The table of transports that are not named after a congestion control: what each name means, and where it is described.

use crate::name::{Datagram, Detection, Kind, Preset, QuicCarriage, Repair, Transport};

/// A row of the table of transports: a name, what it means, and where that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The name without suffixes.
    pub(crate) name: &'static str,
    /// The meaning of the name.
    pub(crate) kind: Kind,
    /// A description in a few words.
    pub(crate) title: &'static str,
    /// The publication or implementation that describes it.
    pub(crate) source: &'static str,
    /// The tables of `endpoint` with parameters of its own.
    pub(crate) parameters: &'static [&'static str],
    /// The detections that its name may select by suffix.
    pub(crate) detections: &'static [Detection],
}

const PLAIN: &[Detection] = &[Detection::Duplicates];
/// Without SACK, duplicates are all there is to count.
const COUNTED: &[Detection] = &[Detection::Duplicates, Detection::EarlyRetransmission];
const ALL: &[Detection] = Detection::ALL;

/// Every transport that is not named after a congestion control. The controls are listed behind the first [`REPAIRS`] rows.
pub(crate) const ROWS: &[Row] = &[
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
        title: "Fast recovery until the first ACK that advances; no SACK",
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
        title: "Datagrams in live mode: lost ones are asked for at once, and each is released at a set time, or late if nothing newer was",
        source: "draft-sharabayko-srt-01; Haivision's libsrt where it says nothing",
        parameters: &["srt"],
        detections: PLAIN,
    },
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
        title: "QUIC with a stream per unit: lost data is retransmitted, without head-of-line blocking between units",
        source: "RFC 9000 §2, RFC 9002; quinn-proto 0.11.19",
        parameters: &["quic"],
        detections: PLAIN,
    },
    Row {
        name: "quic-datagrams",
        kind: Kind::Quic(QuicCarriage::Datagrams),
        title: "QUIC's datagrams: congestion-controlled, never retransmitted",
        source: "RFC 9221, RFC 9002; quinn-proto 0.11.19",
        parameters: &["quic"],
        detections: PLAIN,
    },
    Row {
        name: "mtcp",
        kind: Kind::RealTime(Preset::Mtcp),
        title: "Real-time mode on SACK: the reader skips holes and reports them, the writer never blocks, frames keep their boundaries",
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
        title: "The sender abandons data past its deadline; the receiver detects the hole by reading",
        source: "Mukherjee and Brecht, ICNP 2000 (known from its abstract)",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "tcp-rc",
        kind: Kind::RealTime(Preset::TcpRc),
        title: "The receiver acknowledges data that did not arrive in time; the sender is not notified",
        source: "McCreary and others, 2005 (known from its abstract)",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "mtp",
        kind: Kind::RealTime(Preset::Mtp),
        title: "TCP's windows without retransmissions",
        source: "Chung, Claypool and Kinicki, technical report, 2005 (known from its abstract)",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "limited-buffer",
        kind: Kind::RealTime(Preset::LimitedBuffer),
        title: "TCP whose send buffer size follows the window: the application drops what does not fit",
        source: "Goel, Krasic and Walpole",
        parameters: &["real-time"],
        detections: ALL,
    },
    Row {
        name: "hollywood",
        kind: Kind::RealTime(Preset::Hollywood),
        title: "TCP Hollywood on CUBIC: unordered messages; a late retransmission carries a newer message instead",
        source: "McQuistin, Perkins and Fayed, IFIP Networking 2016 (its abstract), and their patch of Linux",
        parameters: &["cubic", "real-time"],
        detections: ALL,
    },
    Row {
        name: "earlybird-rt",
        kind: Kind::RealTime(Preset::EarlybirdRt),
        title: "Our real-time mode: retransmits data that can arrive in time, and distinguishes noise from congestion by delay",
        source: "docs/real-time-mode.md",
        parameters: &["real-time"],
        // RACK-TLP is part of it.
        detections: PLAIN,
    },
];

/// The number of rows that stand before those of the congestion controls.
pub(crate) const REPAIRS: usize = 4;

impl Row {
    /// Returns the tables of `endpoint` with its parameters. A congestion control has one, of its own name, unless the profile
    /// decides which one it is.
    pub(crate) fn tables(&self) -> &[&'static str] {
        let is_own = matches!(self.kind, Kind::Control(_)) && self.parameters.is_empty();
        if is_own { std::slice::from_ref(&self.name) } else { self.parameters }
    }

    /// Returns the names with the suffixes of detection, without that of the timer.
    pub(crate) fn names(self) -> impl Iterator<Item = (String, Transport)> {
        let Self { name, kind, detections, .. } = self;
        detections.iter().map(move |detection| {
            let transport = Transport { kind, detection: *detection, fine_grained: false };
            (format!("{name}{}", detection.suffix()), transport)
        })
    }
}
