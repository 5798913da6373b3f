use super::{EcnMode, NewReno, Quic, Rack, RealTime, Recovery, Reno, Srt, Undo, WindowReduction};
use crate::control_tables::ControlTables;
use crate::name::Transport;
use crate::profile::Profile;
use crate::quantity::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A TCP endpoint: a transport by name, and all settings that the papers vary. Default values come from the profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
// In place of `deny_unknown_fields`, which serde does not have beside `flatten`.
#[schemars(extend("additionalProperties" = false))]
pub struct Endpoint {
    /// The rules of the endpoint: `rfc` (current standards, the default), `linux` (Linux 6.18) or `ns2` (ns-2.35, as in the papers).
    pub profile: Profile,
    /// Congestion control and loss repair by name (default `sack`; `linux`: `cubic`); `-er` adds early retransmission, `-rack` repairs by RACK-TLP, `-fg` has the fine-grained RTO.
    pub transport: Transport,
    /// Loss detection and repair (default by transport; with SACK `ns2`: `sack1`, `rfc`: `rfc6675`, `linux` and `-rack`: `rack-tlp`;
    /// `linux` with `-er`, which counts duplicate ACKs: `rfc6675`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// The reduction of the window in recovery (default `immediate`; `earlybird-rt`, and `linux` where it can be: `prr`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_reduction: Option<WindowReduction>,
    /// Early Retransmit, RFC 5827: with two or three segments outstanding and nothing new to send, all but one arrived means
    /// loss (default false). Not the papers' early retransmission, which is `-er`.
    pub early_retransmit: bool,
    /// Thin streams as in Linux 2.6.34 to 4.10 (`tcp_thin_dupack`): with fewer than four segments outstanding and nothing new to
    /// send, the first duplicate ACK means loss (default false). `linear-when-thin` of the table `rto` is its companion.
    pub thin_duplicates: bool,
    /// F-RTO, RFC 5682: send new data after a timeout, and undo its reduction if data sent before it is acknowledged (default
    /// false; `earlybird-rt`, and `linux` where it can be: true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spurious_rto_detection: Option<bool>,
    /// Detection of spurious retransmissions, after which the window reduction is undone, RFC 4015 (default `none`; `linux` where
    /// it can be: `either`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
    /// Payload bytes of a full segment (`ns2`: 1000; else Ethernet's 1500 minus headers: 1448 with timestamps, 1460 without).
    // 65,535 bytes of an IPv4 packet less two headers of 20.
    #[schemars(range(min = 1, max = 65495))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<u16>,
    /// Largest window in segments (`ns2`: 64; else the size of the receive buffer; without one 6 MiB, or twice the BDP of the path if that is more).
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Bytes that the receiver holds for an application that does not read (default: as many as `window` offers; `linux`: 64 kB at
    /// first, and up to 32 MB as the application reads).
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<u32>,
    /// Bytes written and not acknowledged that the socket holds, `SO_SNDBUF` (default: no limit; with `ingest` 128 KiB, the least
    /// write buffer of OBS Studio).
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<u32>,
    /// Bytes written and not sent from which on the socket accepts no more: `TCP_NOTSENT_LOWAT` (default: no limit; 128 KiB with
    /// `segments` whose viewer abandons some).
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsent_limit: Option<u32>,
    /// Window after the handshake in segments (`ns2`: 2, `rfc`: RFC 3390, `linux`: 10).
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Send new data on the first two duplicate ACKs, RFC 3042 (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Send no new data outside recovery while a hole is known from SACK, as ns-2's sender does (`ns2` only; default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_new_data: Option<bool>,
    /// Halve the window without rounding down to whole segments (default true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precise_halving: Option<bool>,
    /// RFC 7323 timestamps (`ns2`: false, `rfc` and `linux`: true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Longest delay of an ACK; more than a full segment (`ns2`: every second one) is acknowledged at once. Left out: every segment is
    /// (`linux`: at first every segment is, then each second full one, and the delay lies between 40 and 200 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Time>,
    /// Nagle's algorithm: a short segment waits while another one is outstanding (default false: programs for media switch it
    /// off with `TCP_NODELAY`, whatever the profile).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// Send at a rate instead of in bursts: 2·cwnd/SRTT below half the slow-start threshold, 1.2·cwnd/SRTT above, as Linux
    /// does (default false; a congestion control with a rate of its own always sends at that).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// Whether queues with `ecn` may mark packets instead of dropping them (default `off`; `classic` with the `rfc` and `linux` profiles
    /// and `tfrc`; `prague` always has `accurate`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnMode>,
    /// The retransmission timer.
    pub rto: RetransmissionTimer,
    /// The early-retransmission rule (transports with `-er`).
    pub early_retransmission: EarlyRetransmission,
    /// Reno's flags (transports with `reno`, and recovery `reno`).
    pub reno: Reno,
    /// `NewReno`'s flags (transports with `newreno`, and recovery `newreno`).
    pub newreno: NewReno,
    /// SRT's parameters (transport `srt`).
    pub srt: Srt,
    /// QUIC's parameters (transports `quic`, `quic-streams`, `quic-datagrams`).
    pub quic: Quic,
    /// RACK-TLP's parameters (transports with `-rack`, and `recovery = "rack-tlp"`).
    pub rack: Rack,
    /// The real-time mode (transports `mtcp`, `tcp-rtm`, `tltcp`, `tcp-rc`, `mtp`, `limited-buffer`, `hollywood`, `earlybird-rt`).
    pub real_time: RealTime,
    /// The parameters of congestion controls, each in the table of its name.
    #[serde(flatten)]
    pub controls: ControlTables,
}

/// The retransmission timer's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RetransmissionTimer {
    /// Clock tick (`ns2`: 10 ms, `rfc`: 1 ms, fine-grained: 1 ms; `linux`: none).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Time>,
    /// Smallest timeout (`ns2`: 200 ms, `rfc`: 1 s, `linux`: 200 ms in addition to the smoothed RTT, fine-grained: 1 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Time>,
    /// Largest timeout (60 s; `linux`: 120 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Time>,
    /// Timeout before the first round-trip sample (`ns2`: 3 s, `rfc` and `linux`: 1 s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Time>,
    /// Restart the timer on duplicate ACKs outside recovery (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_on_duplicate: Option<bool>,
    /// Phase of the coarse clock at time zero; ns-2 draws it at random within a tick (default: drawn per flow).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_phase: Option<Time>,
    /// Do not double the timeout of a stream with less than four packets in flight, six times in a row at most: Linux's
    /// `tcp_thin_linear_timeouts` (default false).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear_when_thin: Option<bool>,
}

/// The early-retransmission rule's flags.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct EarlyRetransmission {
    /// Whose age is compared with the threshold (default `missing`).
    pub reference: AgeReference,
}

/// The packet whose age the early-retransmission rule reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgeReference {
    /// The first missing packet.
    #[default]
    Missing,
    /// The last packet received in order, one before the missing one.
    LastInOrder,
}
