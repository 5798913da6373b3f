//! A socket of UDP: needs no right, passes NATs, and the kernel joins and divides segments of equal length.

use super::{Arrival, Carriage, Device, Inbox, Outbox, Path};
use earlybird_wire::Ecn;
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// A socket of UDP over which a stack speaks with many peers.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    address: SocketAddr,
    mtu: u16,
    is_mtu_known: bool,
}

/// What most paths carry: Ethernet's. Larger segments than a path carries are found out by their losses
/// ([`Config::finds_black_holes`](earlybird_tcp::Config::finds_black_holes)).
const MTU: u16 = 1500;
/// The most that one message of the kernel holds, joined datagrams among them.
const MESSAGE: usize = 1 << 16;
/// What may lie in the kernel between two turns: a burst of 1 Gbit/s for 16 ms. The system may allow less.
const KERNEL_BUFFER: usize = 2 << 20;
/// The most payload bytes in one datagram, before it is divided.
const LARGEST: usize = 65_535 - 40 - 8;

impl Udp {
    /// Binds a socket to an address; port 0 is any that is free.
    ///
    /// # Errors
    ///
    /// If the system does not give it: the address is not here, or the port is in use.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::from_socket(UdpSocket::bind(address)?)
    }

    /// Takes a socket that somebody else bound.
    ///
    /// # Errors
    ///
    /// If the system does not let it be set up.
    pub fn from_socket(socket: UdpSocket) -> io::Result<Self> {
        // It does not wait from now on, does not fragment, and tells marks and addresses.
        let state = UdpSocketState::new((&socket).into())?;
        // More room is better, and less is no error.
        let _ = state.set_recv_buffer_size((&socket).into(), KERNEL_BUFFER);
        let _ = state.set_send_buffer_size((&socket).into(), KERNEL_BUFFER);
        let address = socket.local_addr()?;
        Ok(Self { socket, state, address, mtu: MTU, is_mtu_known: false })
    }

    /// Sends IP packets of up to so many bytes, which all paths are known to carry.
    #[must_use]
    pub fn with_mtu(self, mtu: u16) -> Self {
        Self { mtu, is_mtu_known: true, ..self }
    }

    /// Returns the address that the socket is bound to.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a peer as this socket's family names it.
    fn named(&self, peer: SocketAddr) -> SocketAddr {
        match (self.address.ip(), peer.ip()) {
            (IpAddr::V6(_), IpAddr::V4(v4)) => SocketAddr::new(v4.to_ipv6_mapped().into(), peer.port()),
            _ => peer,
        }
    }

    /// Returns the address to send from: the one that the peer knows, where the socket has more than one.
    fn source(&self, path: Path) -> Option<IpAddr> {
        path.local.filter(|local| self.address.ip().is_unspecified() && local.is_ipv4() == self.address.is_ipv4())
    }

    /// Enters a message, which may be several datagrams of equal length and a shorter one.
    fn enter(inbox: &mut Inbox, start: usize, meta: &RecvMeta) {
        let remote = SocketAddr::new(meta.addr.ip().to_canonical(), meta.addr.port());
        let path = Path { local: meta.dst_ip.map(|ip| ip.to_canonical()), remote };
        let ecn = meta.ecn.map_or(Ecn::NotCapable, |ecn| Ecn::from_bits(ecn as u8));
        for offset in (0..meta.len).step_by(meta.stride.max(1)) {
            let end = meta.len.min(offset + meta.stride);
            inbox.enter(Arrival::new(start + offset..start + end, path, ecn));
        }
    }

    /// Sends the next packets, as many as go in one call.
    fn send_run(&self, outbox: &Outbox) -> (usize, io::Result<()>) {
        let count = outbox.run(self.state.max_gso_segments(), LARGEST);
        let waiting = &outbox.waiting()[..count];
        let [first, .., last] = waiting else { return (count, self.send_one(outbox)) };
        let contents = outbox.bytes(first.range.start..last.range.end);
        let size = Some(first.range.len());
        (count, self.send_as(contents, first.path, first.ecn, size))
    }

    fn send_one(&self, outbox: &Outbox) -> io::Result<()> {
        let Some(only) = outbox.waiting().first() else { return Ok(()) };
        self.send_as(outbox.bytes(only.range.clone()), only.path, only.ecn, None)
    }

    fn send_as(&self, contents: &[u8], path: Path, ecn: Ecn, segment_size: Option<usize>) -> io::Result<()> {
        let transmit = Transmit {
            destination: self.named(path.remote),
            ecn: EcnCodepoint::from_bits(ecn as u8),
            contents,
            segment_size,
            src_ip: self.source(path),
        };
        self.state.try_send((&self.socket).into(), &transmit)
    }
}

impl Device for Udp {
    fn carriage(&self) -> Carriage {
        Carriage::Udp
    }

    fn mtu(&self) -> u16 {
        self.mtu
    }

    fn has_black_holes(&self) -> bool {
        !self.is_mtu_known
    }

    fn receive(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut messages = inbox.room(BATCH_SIZE * MESSAGE).chunks_mut(MESSAGE).map(IoSliceMut::new);
        let mut buffers: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| messages.next().unwrap_or_else(|| IoSliceMut::new(&mut [])));
        let count = match self.state.recv((&self.socket).into(), &mut buffers, &mut metas) {
            Err(error) if is_passing(&error) => 0,
            result => result?,
        };
        for (number, meta) in metas[..count].iter().enumerate() {
            Self::enter(inbox, number * MESSAGE, meta);
        }
        Ok(())
    }

    fn send(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        while !outbox.is_empty() {
            let (count, result) = self.send_run(outbox);
            match result {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Whatever else keeps a datagram from leaving is a loss, of which there are others.
                _ => outbox.strike_out(count),
            }
        }
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

/// Returns whether an error tells of nothing to receive, or of a datagram that a peer refused.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
    )
}
