//! From a scenario's endpoint settings to what carries a flow.

pub(crate) mod real_time;

use earlybird_datagram as datagram;
use earlybird_datagram::srt;
use earlybird_quic::Carriage;
use earlybird_scenario as scenario;
use earlybird_scenario::{Application, Datagram, Endpoint, Flow, Kind, Profile, QuicCarriage, QuicControl};
use earlybird_sim::{Carrier, DatagramSettings, EndpointSettings, ExternalSettings, HeaderSize};
use earlybird_tcp::{Config, Control, RtoConfig};
use earlybird_units::Duration;

/// Returns what carries a flow.
pub(crate) fn carrier_of(endpoint: &Endpoint, flow: &Flow) -> Carrier {
    match endpoint.transport.kind {
        Kind::Datagram(protocol) => Carrier::Datagrams(datagrams_of(protocol, endpoint, flow)),
        Kind::Quic(way) => Carrier::External(quic_of(way, endpoint)),
        Kind::Repair(_) | Kind::Control(_) | Kind::RealTime(_) => Carrier::Tcp(settings_of(endpoint, flow)),
    }
}

fn datagrams_of(protocol: Datagram, endpoint: &Endpoint, flow: &Flow) -> DatagramSettings {
    DatagramSettings {
        config: datagram::Config {
            control: match protocol {
                Datagram::Udp => datagram::Control::Udp,
                Datagram::Tfrc => datagram::Control::Tfrc,
                Datagram::Srt => datagram::Control::Srt(srt_parameters(endpoint, flow)),
            },
            mss: endpoint.config(Duration::ZERO).mss,
            ecn: endpoint.uses_ecn(),
        },
        headers: headers_of(endpoint),
    }
}

fn quic_of(way: QuicCarriage, endpoint: &Endpoint) -> ExternalSettings {
    let carriage = match way {
        QuicCarriage::Stream => Carriage::Stream,
        QuicCarriage::Streams => Carriage::Streams,
        QuicCarriage::Datagrams => Carriage::Datagrams,
    };
    let control = match endpoint.quic.congestion_control.unwrap_or_default() {
        QuicControl::Cubic => earlybird_quic::Control::Cubic,
        QuicControl::NewReno => earlybird_quic::Control::NewReno,
    };
    let stack = earlybird_quic::stack(carriage, control);
    ExternalSettings { stack, mss: earlybird_quic::LARGEST_PAYLOAD, ecn: endpoint.uses_ecn() }
}

fn srt_parameters(endpoint: &Endpoint, flow: &Flow) -> srt::Parameters {
    let (srt, draft) = (&endpoint.srt, srt::Parameters::DEFAULT);
    let fixed = || srt.latency.map_or(draft.latency, |latency| srt::Latency::Fixed(latency.duration()));
    let latency = if srt.fit_playback_delay {
        let delay = real_time::playback_delay(endpoint.transport.kind, flow);
        srt::Latency::FromWriting(delay.saturating_sub(Duration::from_millis(1)))
    } else {
        srt.latency_round_trips.map_or_else(fixed, srt::Latency::RoundTrips)
    };
    srt::Parameters { latency, overhead: srt.overhead.map(scenario::Fraction::value).or(draft.overhead) }
}

/// Returns the bytes of the largest packet, without options that few packets have.
pub(crate) fn full_packet(carrier: &Carrier) -> u64 {
    let (mss, headers) = match carrier {
        Carrier::Tcp(settings) => (settings.opener.mss, 40),
        Carrier::Datagrams(settings) => (settings.config.mss, 28),
        Carrier::External(settings) => (settings.mss, 28),
    };
    u64::from(mss) + headers
}

fn headers_of(endpoint: &Endpoint) -> HeaderSize {
    match (endpoint.profile, endpoint.transport.kind) {
        (Profile::Ns2, Kind::Control("vegas")) => HeaderSize::Ns2Vegas,
        (Profile::Ns2, _) => HeaderSize::Ns2,
        (Profile::Rfc | Profile::Linux, _) => HeaderSize::Real,
    }
}

/// Returns the settings of both ends of a flow's connections.
fn settings_of(endpoint: &Endpoint, flow: &Flow) -> EndpointSettings {
    let deadline = real_time::playback_delay(endpoint.transport.kind, flow);
    let opener = with_send_buffer(endpoint.config(deadline), flow);
    let opener = Config { real_time: real_time::mode_of(endpoint, flow), ..opener };
    let is_ns2 = endpoint.profile == Profile::Ns2;
    EndpointSettings {
        opener,
        listener: if is_ns2 { sink_of(opener) } else { opener },
        headers: headers_of(endpoint),
        closes_with_fin: !is_ns2,
    }
}

/// The least write buffer of OBS Studio in bytes (`init_send` of `plugins/obs-outputs/rtmp-stream.c`, `ideal_buffer_size`).
const SEND_BUFFER: u64 = 131_072;

/// Live streams have rules for what finds no room at the socket, which has to end somewhere.
fn with_send_buffer(config: Config, flow: &Flow) -> Config {
    let is_limited = config.send_buffer.or(config.unsent_limit).is_some();
    match flow.application {
        Application::Ingest(_) if !is_limited => Config { send_buffer: Some(SEND_BUFFER), ..config },
        _ => config,
    }
}

/// ns-2's sinks have no window and no retransmission timer: only the opener repeats a handshake.
fn sink_of(opener: Config) -> Config {
    let rto = RtoConfig { initial: Duration::MAX, ceiling: Duration::MAX, ..opener.rto };
    Config { control: Control::Reno, rto, ..opener }
}
