//! A UDP socket: needs no privileges, passes NATs, and uses the kernel's GSO and GRO.

use super::{Device, Encapsulation, Path, RxPacket, RxQueue, TxQueue};
use earlybird_wire::Ecn;
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use rustix::io::Errno;
use rustix::net::sockopt::{ip_mtu, ipv6_mtu};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// A UDP socket through which a stack exchanges packets with many peers.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    address: SocketAddr,
    mtu: u16,
    is_mtu_known: bool,
    /// The peer of the last packet that the kernel refused because of its length.
    too_long: Option<SocketAddr>,
}

/// The MTU of Ethernet, which most paths carry. Where a path carries less, black-hole detection finds it
/// ([`SegmentConfig::pmtu_black_hole_detection`](earlybird_tcp::SegmentConfig::pmtu_black_hole_detection)).
const MTU: u16 = 1500;
/// The largest message of `recvmsg`, with GRO.
const MAX_MESSAGE: usize = 1 << 16;
/// Requested size of the kernel's socket buffers: 16 ms at 1 Gbit/s. `net.core.rmem_max` may allow less.
const KERNEL_BUFFER: usize = 2 << 20;
/// The largest payload of one GSO call (IPv6 header 40, UDP header 8).
const MAX_GSO_BYTES: usize = 65_535 - 40 - 8;

impl Udp {
    /// Binds a socket to an address; port 0 selects a free port.
    ///
    /// # Errors
    ///
    /// If the address is not local, or the port is in use.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::from_socket(UdpSocket::bind(address)?)
    }

    /// Takes a socket that is already bound.
    ///
    /// # Errors
    ///
    /// If socket options cannot be set.
    pub fn from_socket(socket: UdpSocket) -> io::Result<Self> {
        // Sets the socket to non-blocking mode and requests the don't-fragment bit, ECN and destination addresses.
        let state = UdpSocketState::new((&socket).into())?;
        // A smaller buffer costs losses in bursts, but works.
        let _ = state.set_recv_buffer_size((&socket).into(), KERNEL_BUFFER);
        let _ = state.set_send_buffer_size((&socket).into(), KERNEL_BUFFER);
        let address = socket.local_addr()?;
        Ok(Self { socket, state, address, mtu: MTU, is_mtu_known: false, too_long: None })
    }

    /// Sets the MTU, and disables black-hole detection: all paths are known to carry packets of `mtu` bytes.
    #[must_use]
    pub fn with_mtu(self, mtu: u16) -> Self {
        Self { mtu, is_mtu_known: true, ..self }
    }

    /// Returns the local address of the socket.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address of a peer in the address family of the socket: an IPv6 socket needs mapped IPv4 addresses.
    fn to_socket_family(&self, peer: SocketAddr) -> SocketAddr {
        match (self.address.ip(), peer.ip()) {
            (IpAddr::V6(_), IpAddr::V4(v4)) => SocketAddr::new(v4.to_ipv6_mapped().into(), peer.port()),
            _ => peer,
        }
    }

    /// Returns the source address to use: the one that the peer sent to, if the socket is bound to all addresses.
    fn source(&self, path: Path) -> Option<IpAddr> {
        path.local.filter(|local| self.address.ip().is_unspecified() && local.is_ipv4() == self.address.is_ipv4())
    }

    /// Appends a message, which GRO may have joined from datagrams of equal length and a shorter last one.
    fn push(rx: &mut RxQueue, start: usize, meta: &RecvMeta) {
        let remote = SocketAddr::new(meta.addr.ip().to_canonical(), meta.addr.port());
        let path = Path { local: meta.dst_ip.map(|ip| ip.to_canonical()), remote };
        let ecn = meta.ecn.map_or(Ecn::NotCapable, |ecn| Ecn::from_bits(ecn as u8));
        for offset in (0..meta.len).step_by(meta.stride.max(1)) {
            let end = meta.len.min(offset + meta.stride);
            rx.push(RxPacket::new(start + offset..start + end, path, ecn));
        }
    }

    /// Sends as many of the next packets as one GSO call allows. Returns their number.
    fn send_run(&self, tx: &TxQueue) -> (usize, io::Result<()>) {
        let count = tx.gso_run(self.state.max_gso_segments(), MAX_GSO_BYTES);
        let waiting = &tx.pending()[..count];
        let [first, .., last] = waiting else { return (count, self.send_one(tx)) };
        let contents = tx.bytes(first.range.start..last.range.end);
        let size = Some(first.range.len());
        (count, self.send_as(contents, first.path, first.ecn, size))
    }

    fn send_one(&self, tx: &TxQueue) -> io::Result<()> {
        let Some(only) = tx.pending().first() else { return Ok(()) };
        self.send_as(tx.bytes(only.range.clone()), only.path, only.ecn, None)
    }

    fn send_as(&self, contents: &[u8], path: Path, ecn: Ecn, segment_size: Option<usize>) -> io::Result<()> {
        let transmit = Transmit {
            destination: self.to_socket_family(path.remote),
            ecn: EcnCodepoint::from_bits(ecn as u8),
            contents,
            segment_size,
            src_ip: self.source(path),
        };
        self.state.try_send((&self.socket).into(), &transmit)
    }
}

impl Device for Udp {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp
    }

    fn mtu(&self) -> u16 {
        self.mtu
    }

    fn has_black_holes(&self) -> bool {
        !self.is_mtu_known
    }

    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut messages = rx.buffer(BATCH_SIZE * MAX_MESSAGE).chunks_mut(MAX_MESSAGE).map(IoSliceMut::new);
        let mut buffers: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| messages.next().unwrap_or_else(|| IoSliceMut::new(&mut [])));
        // One slot of 64 KiB per message, as GRO may fill each.
        let count = match self.state.recv((&self.socket).into(), &mut buffers, &mut metas) {
            Err(error) if is_transient(&error) => 0,
            result => result?,
        };
        for (number, meta) in metas[..count].iter().enumerate() {
            Self::push(rx, number * MAX_MESSAGE, meta);
        }
        Ok(())
    }

    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()> {
        while let Some(remote) = tx.pending().first().map(|packet| packet.path.remote) {
            let (count, result) = self.send_run(tx);
            match result {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if is_too_long(&error) => {
                    self.too_long = Some(remote);
                    tx.advance(count);
                }
                // Any other error counts as a loss of these packets (a filtered destination, an unreachable network): TCP repairs
                // it.
                _ => tx.advance(count),
            }
        }
        Ok(())
    }

    fn route_mtu(&self, remote: SocketAddr) -> Option<u16> {
        if self.is_mtu_known { None } else { route_mtu(remote) }
    }

    fn take_too_long(&mut self) -> Option<SocketAddr> {
        self.too_long.take()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

/// Returns whether a packet is longer than its link carries. With GSO, older kernels report that as an invalid argument.
fn is_too_long(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MSGSIZE | Errno::INVAL))
}

/// Returns the MTU of the kernel's route to a host (`IP_MTU`, ip(7)), which includes what routers have reported by ICMP.
fn route_mtu(remote: SocketAddr) -> Option<u16> {
    let any: IpAddr = if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // The option only exists for connected sockets, and the socket of the device serves all peers.
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(remote).ok()?;
    let mtu = if remote.is_ipv4() { ip_mtu(&socket) } else { ipv6_mtu(&socket) };
    // The loopback interface carries 65,536 bytes.
    mtu.ok().map(|mtu| u16::try_from(mtu).unwrap_or(u16::MAX))
}

/// Returns whether `recv` failed because nothing is there, or because a peer refused an earlier datagram (ICMP errors are
/// reported on the next call).
fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
    )
}
