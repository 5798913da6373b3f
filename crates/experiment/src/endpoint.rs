//! From a scenario's endpoint settings to the simulator's.

use earlybird_datagram as datagram;
use earlybird_quic::Carriage;
use earlybird_scenario::{Endpoint, Flow, Kind, Profile, QuicCarriage, QuicControl};
use earlybird_sim::{Carrier, DatagramSettings, EndpointSettings, ExternalSettings, HeaderSize};
use earlybird_transport::{Protocol, QuicSettings, TcpEnds};

/// Returns the endpoint of a flow.
pub(crate) fn carrier_of(endpoint: &Endpoint, flow: &Flow) -> Carrier {
    match endpoint.protocol(&flow.workload(endpoint.transport.kind)) {
        Protocol::Tcp(ends) => Carrier::Tcp(tcp_of(ends, endpoint)),
        Protocol::Datagrams(config) => Carrier::Datagrams(datagrams_of(config, endpoint)),
        Protocol::Quic(settings) => Carrier::External(quic_of(settings)),
    }
}

fn tcp_of(TcpEnds { opener, listener }: TcpEnds, endpoint: &Endpoint) -> EndpointSettings {
    // ns-2's one-way agents stop without a FIN.
    let closes_with_fin = endpoint.profile != Profile::Ns2;
    EndpointSettings { opener, listener, headers: headers_of(endpoint), closes_with_fin }
}

fn datagrams_of(config: datagram::Config, endpoint: &Endpoint) -> DatagramSettings {
    DatagramSettings { config, headers: headers_of(endpoint) }
}

fn quic_of(settings: QuicSettings) -> ExternalSettings {
    let carriage = match settings.carriage {
        QuicCarriage::Stream => Carriage::Stream,
        QuicCarriage::Streams => Carriage::Streams,
        QuicCarriage::Datagrams => Carriage::Datagrams,
    };
    let control = match settings.control {
        QuicControl::Cubic => earlybird_quic::Control::Cubic,
        QuicControl::NewReno => earlybird_quic::Control::NewReno,
    };
    let stack = earlybird_quic::stack(carriage, control);
    ExternalSettings { stack, mss: earlybird_quic::LARGEST_PAYLOAD, ecn: settings.ecn }
}

/// Returns the bytes of the largest packet, without options that few packets have.
pub(crate) fn full_packet(carrier: &Carrier) -> u64 {
    // IPv4 header, and the header of TCP or UDP without options.
    let (mss, headers) = match carrier {
        Carrier::Tcp(settings) => (settings.opener.segments.mss, 40),
        Carrier::Datagrams(settings) => (settings.config.mss, 28),
        Carrier::External(settings) => (settings.mss, 28),
    };
    u64::from(mss) + headers
}

fn headers_of(endpoint: &Endpoint) -> HeaderSize {
    // ns-2's Vegas is the one agent whose packets have the size of their payload.
    let is_vegas = matches!(&endpoint.transport.kind, Kind::Control(name) if name.as_str() == "vegas");
    match endpoint.profile {
        Profile::Ns2 if is_vegas => HeaderSize::Ns2Vegas,
        Profile::Ns2 => HeaderSize::Ns2,
        Profile::Rfc | Profile::Linux => HeaderSize::Real,
    }
}
