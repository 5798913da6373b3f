//! Where media go. What a sink cannot take is left out, whole unit by whole unit: nothing here waits.

mod http;
mod queue;
mod writer;

pub use queue::Left;

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

/// What the headers of RTP count.
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
            Address::Udp(to) => Self::Datagrams { socket: socket_to(*to)?, rtp: None },
            Address::Rtp(to) => {
                let mut random = [[0; 4]; 2];
                rustix::rand::getrandom(random.as_flattened_mut(), rustix::rand::GetRandomFlags::empty())?;
                let [source, sequence] = random.map(u32::from_be_bytes);
                let rtp = Rtp { sequence: sequence as u16, source };
                Self::Datagrams { socket: socket_to(*to)?, rtp: Some(rtp) }
            }
            Address::Tcp(to) => Self::Writer(writer::Writer::to_socket(*to)?),
            Address::File(path) => Self::Writer(writer::Writer::to_file(path)?),
            Address::Http(at) => Self::Http(http::Server::bind(*at)?),
            Address::Relay(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Hands over a unit that its source had at this time; says whether it was taken.
    ///
    /// # Errors
    ///
    /// If the sink is broken for good: a disk that is full.
    pub(crate) fn put(&mut self, time_us: u64, bytes: &[u8]) -> io::Result<bool> {
        match self {
            // Nobody listens there now: somebody may later.
            Self::Datagrams { socket, rtp: None } => Ok(socket.send(bytes).is_ok()),
            Self::Datagrams { socket, rtp: Some(rtp) } => Ok(socket.send(&rtp.packet(time_us, bytes)).is_ok()),
            Self::Writer(writer) => writer.put(bytes),
            Self::Http(server) => Ok(server.put(bytes)),
        }
    }

    /// Hands over no more; what waits is still written.
    pub(crate) fn end(&mut self) {
        match self {
            Self::Writer(writer) => writer.end(),
            Self::Http(server) => server.end(),
            Self::Datagrams { .. } => {}
        }
    }

    /// Returns whether nothing is being written any more.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Writer(writer) => writer.is_over(),
            Self::Http(server) => server.left() == Left::default(),
            Self::Datagrams { .. } => true,
        }
    }

    /// Returns what is not written yet.
    pub(crate) fn left(&self) -> Left {
        match self {
            Self::Writer(writer) => writer.left(),
            Self::Http(server) => server.left(),
            Self::Datagrams { .. } => Left::default(),
        }
    }

    /// Returns how the writing ended, if it has.
    ///
    /// # Errors
    ///
    /// If something could not be written.
    pub(crate) fn close(self) -> io::Result<()> {
        match self {
            Self::Writer(writer) => writer.close(),
            Self::Datagrams { .. } | Self::Http(_) => Ok(()),
        }
    }
}

fn socket_to(to: SocketAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Rtp {
    /// Puts the header before a unit (RFC 3550 §5.1, RFC 2250 §2).
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
