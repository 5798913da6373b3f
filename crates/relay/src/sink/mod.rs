//! Sinks of media. A sink never blocks the relay: whole units are dropped if it cannot accept them.

mod http;
mod queue;
mod writer;

pub use queue::Unsent;

use crate::address::Address;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// A sink.
#[derive(Debug)]
pub(crate) enum Sink {
    Datagrams { socket: UdpSocket, rtp: Option<Rtp> },
    Writer(writer::Writer),
    Http(http::Server),
}

/// State of RTP headers.
#[derive(Debug)]
pub(crate) struct Rtp {
    sequence: u16,
    source: u32,
}

/// Payload type of MPEG-2 transport streams (RFC 3551 §6), and the rate of its clock.
const MP2T: u8 = 33;
const RTP_CLOCK: u64 = 90_000;

impl Sink {
    /// Opens a sink.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(crate) fn open(address: &Address) -> io::Result<Self> {
        Ok(match address {
            Address::Udp(to) => Self::Datagrams { socket: connect_udp(*to)?, rtp: None },
            Address::Rtp(to) => {
                // Random initial values (RFC 3550 §5.1).
                let mut random = [[0; 4]; 2];
                rustix::rand::getrandom(random.as_flattened_mut(), rustix::rand::GetRandomFlags::empty())?;
                let [source, sequence] = random.map(u32::from_be_bytes);
                let rtp = Rtp { sequence: sequence as u16, source };
                Self::Datagrams { socket: connect_udp(*to)?, rtp: Some(rtp) }
            }
            Address::Tcp(to) => Self::Writer(writer::Writer::to_socket(*to)?),
            Address::File(path) => Self::Writer(writer::Writer::to_file(path)?),
            Address::Http(at) => Self::Http(http::Server::bind(*at)?),
            Address::Relay(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Passes on a unit with its source time. Returns whether it was accepted.
    ///
    /// # Errors
    ///
    /// If the sink failed permanently, for example because the disk is full.
    pub(crate) fn put(&mut self, time_us: u64, bytes: &[u8]) -> io::Result<bool> {
        match self {
            // ECONNREFUSED only means that no receiver listens now.
            Self::Datagrams { socket, rtp: None } => Ok(socket.send(bytes).is_ok()),
            Self::Datagrams { socket, rtp: Some(rtp) } => Ok(socket.send(&rtp.packet(time_us, bytes)).is_ok()),
            Self::Writer(writer) => writer.put(bytes),
            Self::Http(server) => Ok(server.put(bytes)),
        }
    }

    /// Ends the input; queued units are still written.
    pub(crate) fn end(&mut self) {
        match self {
            Self::Writer(writer) => writer.end(),
            Self::Http(server) => server.end(),
            Self::Datagrams { .. } => {}
        }
    }

    /// Returns whether everything is written.
    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Self::Writer(writer) => writer.is_finished(),
            Self::Http(server) => server.unsent() == Unsent::default(),
            Self::Datagrams { .. } => true,
        }
    }

    /// Returns the data not written yet.
    pub(crate) fn unsent(&self) -> Unsent {
        match self {
            Self::Writer(writer) => writer.unsent(),
            Self::Http(server) => server.unsent(),
            Self::Datagrams { .. } => Unsent::default(),
        }
    }

    /// Returns the error of the writer if it has ended with one.
    ///
    /// # Errors
    ///
    /// If writing failed.
    pub(crate) fn close(self) -> io::Result<()> {
        match self {
            Self::Writer(writer) => writer.close(),
            Self::Datagrams { .. } | Self::Http(_) => Ok(()),
        }
    }
}

fn connect_udp(to: SocketAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    // Connected, so that ICMP errors are reported and ignored below.
    socket.connect(to)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Rtp {
    /// Prepends an RTP header to a unit (RFC 3550 §5.1, RFC 2250 §2).
    fn packet(&mut self, time_us: u64, bytes: &[u8]) -> Vec<u8> {
        self.sequence = self.sequence.wrapping_add(1);
        let timestamp = (time_us.wrapping_mul(RTP_CLOCK) / 1_000_000) as u32;
        let mut packet = vec![0x80, MP2T];
        packet.extend(self.sequence.to_be_bytes());
        packet.extend(timestamp.to_be_bytes());
        packet.extend(self.source.to_be_bytes());
        packet.extend(bytes);
        packet
    }
}
