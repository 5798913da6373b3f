//! From an endpoint's settings to the configuration of what carries a flow.

use crate::name::{Datagram, Kind, QuicCarriage};
use crate::profile::Profile;
use crate::quantity::Fraction;
use crate::real_time::Workload;
use crate::settings::{Endpoint, QuicControl};
use earlybird_datagram as datagram;
use earlybird_datagram::srt;
use earlybird_tcp::{Config, Control, RtoConfig};
use earlybird_units::Duration;

/// The protocol that carries a flow, with its configuration.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "one is made per flow, and moved at once to where it stays")]
pub enum Protocol {
    /// TCP connections.
    Tcp(TcpEnds),
    /// Datagrams of UDP, TFRC or SRT.
    Datagrams(datagram::Config),
    /// A QUIC connection.
    Quic(QuicSettings),
}

/// The configurations of both ends of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpEnds {
    /// The end that opens the connection.
    pub opener: Config,
    /// The end that accepts it.
    pub listener: Config,
}

/// The settings of a QUIC connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuicSettings {
    /// The mapping of units to streams or datagrams.
    pub carriage: QuicCarriage,
    /// The congestion control.
    pub control: QuicControl,
    /// Whether queues may mark its packets.
    pub ecn: bool,
}

impl Endpoint {
    /// Returns the configuration of what carries a flow of this workload.
    pub fn protocol(&self, workload: &Workload<'_>) -> Protocol {
        match self.transport.kind {
            Kind::Datagram(protocol) => Protocol::Datagrams(self.datagrams(protocol, workload)),
            Kind::Quic(carriage) => Protocol::Quic(QuicSettings {
                carriage,
                control: self.quic.congestion_control.unwrap_or_default(),
                ecn: self.uses_ecn(),
            }),
            Kind::Repair(_) | Kind::Control(_) | Kind::RealTime(_) => Protocol::Tcp(self.tcp(workload)),
        }
    }

    fn tcp(&self, workload: &Workload<'_>) -> TcpEnds {
        let opener = with_send_buffer(self.config(workload.deadline), workload);
        let opener = opener.with_real_time(self.mode(workload));
        TcpEnds { opener, listener: if self.profile == Profile::Ns2 { sink_of(opener) } else { opener } }
    }

    fn datagrams(&self, protocol: Datagram, workload: &Workload<'_>) -> datagram::Config {
        datagram::Config {
            control: match protocol {
                Datagram::Udp => datagram::Control::Udp,
                Datagram::Tfrc => datagram::Control::Tfrc,
                Datagram::Srt => datagram::Control::Srt(self.srt_parameters(workload)),
            },
            // The deadline plays no role for the segment size.
            mss: self.config(Duration::ZERO).segments.mss,
            ecn: self.uses_ecn(),
        }
    }

    fn srt_parameters(&self, workload: &Workload<'_>) -> srt::Parameters {
        let (srt, draft) = (&self.srt, srt::Parameters::DEFAULT);
        let fixed = || srt.latency.map_or(draft.latency, |latency| srt::Latency::Fixed(latency.duration()));
        let latency = if srt.fit_playback_delay {
            // A packet that is released at the very end of the delay is late: the client plays at that time.
            srt::Latency::FromWriting(workload.deadline.saturating_sub(Duration::from_millis(1)))
        } else {
            srt.latency_round_trips.map_or_else(fixed, srt::Latency::RoundTrips)
        };
        srt::Parameters { latency, overhead: srt.overhead.map(Fraction::value).or(draft.overhead) }
    }
}

/// The least write buffer of OBS Studio in bytes (`init_send` of `plugins/obs-outputs/rtmp-stream.c`, `ideal_buffer_size`).
const SEND_BUFFER: u64 = 131_072;

/// The bytes that wait unsent in the socket of a web server, as docs/web-server.md sets `net.ipv4.tcp_notsent_lowat`.
const UNSENT_LIMIT: u64 = 131_072;

/// Bounds what the socket takes if something acts on the rest: a live encoder drops frames of it, and a web server sends none of it if
/// the segment is abandoned.
fn with_send_buffer(config: Config, workload: &Workload<'_>) -> Config {
    let is_limited = config.buffers.send.or(config.buffers.unsent_limit).is_some();
    match workload {
        _ if is_limited => config,
        Workload { is_ingest: true, .. } => config.with_send_buffer(Some(SEND_BUFFER)),
        Workload { is_abandoned: true, .. } => config.with_unsent_limit(Some(UNSENT_LIMIT)),
        _ => config,
    }
}

/// Returns the configuration of ns-2's sink, which has no window and no retransmission timer: only the opener repeats a
/// handshake.
fn sink_of(opener: Config) -> Config {
    // `MAX` never expires, so that the sink stays passive as in ns-2.
    let rto = RtoConfig { initial: Duration::MAX, ceiling: Duration::MAX, ..opener.timers.rto };
    // A sink sends no data, so that its control decides nothing.
    opener.with_control_only(Control::Reno).with_rto(rto)
}
