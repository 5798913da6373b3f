//! A TUN device: exchanges IP packets with the kernel of this machine, which routes them.

mod offload;

use self::offload::{HEADER_BYTES, OffloadHeader, send_train};
use super::{BATCH, Device, Encapsulation, Path, RxPacket, RxQueue, TxQueue};
use earlybird_wire::Ecn;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::ioctl::{Getter, IntegerSetter, Opcode, Setter, ioctl};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Command;

/// A TUN device. This process sends and receives its packets instead of hardware.
#[derive(Debug)]
pub struct Tun {
    descriptor: OwnedFd,
    mtu: u16,
    /// Whether the kernel joins and splits segments and leaves checksums to the device.
    is_offloading: bool,
}

/// `struct ifreq` of `linux/if.h`; only these fields are used.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

/// `TUNSETIFF` of `linux/if_tun.h`: `_IOW('T', 202, int)`.
const SET_INTERFACE: Opcode = 0x4004_54CA;
/// `TUNGETIFF`: `_IOR('T', 210, unsigned int)`.
const GET_INTERFACE: Opcode = 0x8004_54D2;
/// `TUNSETOFFLOAD`: `_IOW('T', 208, unsigned int)`.
const SET_OFFLOAD: Opcode = 0x4004_54D0;
/// `IFF_TUN | IFF_NO_PI`: packets begin with their IP header.
const TUN_FLAGS: u16 = 0x0001 | 0x1000;
/// `IFF_VNET_HDR`: a `virtio_net_hdr` with offload information precedes each packet.
const VNET_HDR: u16 = 0x4000;
/// `TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6`.
const OFFLOAD_FLAGS: usize = 0x01 | 0x02 | 0x04;
/// The longest packet that the kernel joins (GSO), in bytes.
const MAX_GSO_BYTES: usize = u16::MAX as usize;
/// Advice if the privilege is missing.
const PERMISSION_HINT: &str = "a TUN device needs root (CAP_NET_ADMIN): run inside `unshare --user --map-root-user --net`, or use UDP, \
                               which needs no privilege";

impl Tun {
    /// Creates a device for packets of up to `mtu` bytes and sets it up. Segmentation offload is on.
    ///
    /// # Errors
    ///
    /// If the process lacks the privilege (the message says what to do), the name is in use, or the name is too long.
    pub fn new(name: &str, mtu: u16) -> io::Result<Self> {
        Self::create(name, mtu, TUN_FLAGS | VNET_HDR)
    }

    /// Creates a device without offload: each packet has a checksum and at most `mtu` bytes, as on a wire.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn without_offload(name: &str, mtu: u16) -> io::Result<Self> {
        Self::create(name, mtu, TUN_FLAGS)
    }

    fn create(name: &str, mtu: u16, flags: u16) -> io::Result<Self> {
        let opened = Self::open(name, mtu, flags);
        opened.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => io::Error::new(error.kind(), PERMISSION_HINT),
            _ => error,
        })
    }

    fn open(name: &str, mtu: u16, flags: u16) -> io::Result<Self> {
        let mode = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open("/dev/net/tun", mode, rustix::fs::Mode::empty())?;
        let mut request = InterfaceRequest { name: [0; 16], flags, rest: [0; 22] };
        // The name needs a terminating zero.
        let place = request.name[..15].get_mut(..name.len()).ok_or(io::ErrorKind::InvalidFilename)?;
        place.copy_from_slice(name.as_bytes());
        set_interface(&descriptor, request)?;
        ip(&["link", "set", name, "mtu", &mtu.to_string(), "up"])?;
        Self::with_offload(descriptor, mtu, flags)
    }

    fn with_offload(descriptor: OwnedFd, mtu: u16, flags: u16) -> io::Result<Self> {
        let is_offloading = flags & VNET_HDR != 0;
        if is_offloading {
            set_offload(&descriptor)?;
        }
        Ok(Self { descriptor, mtu, is_offloading })
    }

    /// Takes a device that another process created and passed on.
    ///
    /// # Errors
    ///
    /// If it is not a TUN device, or cannot be set to non-blocking mode.
    pub fn from_descriptor(descriptor: OwnedFd, mtu: u16) -> io::Result<Self> {
        fcntl_setfl(&descriptor, fcntl_getfl(&descriptor)? | OFlags::NONBLOCK)?;
        let flags = interface(&descriptor)?.flags;
        Self::with_offload(descriptor, mtu, flags)
    }

    /// Returns the file descriptor, to pass it to a process without privileges: see [`Self::from_descriptor`].
    pub fn into_descriptor(self) -> OwnedFd {
        self.descriptor
    }

    /// Assigns an address and prefix length to the kernel's end of the device. Duplicate address detection is skipped: no other
    /// host is on this link.
    ///
    /// # Errors
    ///
    /// If iproute2 fails.
    pub fn add_address(name: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
        let undetected: &[&str] = if address.is_ipv6() { &["nodad"] } else { &[] };
        ip(&[&["address", "add", &format!("{address}/{prefix}"), "dev", name], undetected].concat())
    }

    /// Routes packets for an address to the device and so to the stack behind it. Packets from other hosts need forwarding
    /// (`net.ipv4.ip_forward`, `net.ipv6.conf.all.forwarding`).
    ///
    /// # Errors
    ///
    /// If iproute2 fails.
    pub fn add_route(name: &str, address: IpAddr) -> io::Result<()> {
        ip(&["route", "add", &address.to_string(), "dev", name])
    }

    /// Sends the next packet. A packet that the kernel rejects is dropped, which TCP handles as a loss.
    fn send_next(&self, tx: &mut TxQueue) -> rustix::io::Result<()> {
        let Some(packet) = tx.pending().first() else { return Ok(()) };
        match rustix::io::write(&self.descriptor, tx.bytes(packet.range.clone())) {
            Err(error @ (Errno::AGAIN | Errno::BADFD)) => return Err(error),
            _ => tx.advance(1),
        }
        Ok(())
    }

    /// Reads a packet. Returns its length, or `None` if none is waiting.
    fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.descriptor, into) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            result => Ok(Some(result?)),
        }
    }
}

#[expect(unsafe_code, reason = "rustix has no safe wrapper for TUNSETIFF")]
fn set_interface(descriptor: &OwnedFd, request: InterfaceRequest) -> io::Result<()> {
    // SAFETY: the request has the layout and the size that this call reads.
    unsafe { ioctl(descriptor, Setter::<SET_INTERFACE, InterfaceRequest>::new(request)) }?;
    Ok(())
}

#[expect(unsafe_code, reason = "rustix has no safe wrapper for TUNGETIFF")]
fn interface(descriptor: &OwnedFd) -> io::Result<InterfaceRequest> {
    // SAFETY: the answer has the layout and the size that this call writes, and any bytes are one.
    Ok(unsafe { ioctl(descriptor, Getter::<GET_INTERFACE, InterfaceRequest>::new()) }?)
}

#[expect(unsafe_code, reason = "rustix has no safe wrapper for TUNSETOFFLOAD")]
fn set_offload(descriptor: &OwnedFd) -> io::Result<()> {
    // SAFETY: the call takes a number, and no pointer.
    unsafe { ioctl(descriptor, IntegerSetter::<SET_OFFLOAD>::new_usize(OFFLOAD_FLAGS)) }?;
    Ok(())
}

impl Device for Tun {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Ip
    }

    fn mtu(&self) -> u16 {
        self.mtu
    }

    fn computes_checksums(&self) -> bool {
        self.is_offloading
    }

    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()> {
        let (header, longest) = if self.is_offloading { (HEADER_BYTES, MAX_GSO_BYTES) } else { (0, self.mtu.into()) };
        let room = rx.buffer(BATCH * usize::from(self.mtu) + HEADER_BYTES + MAX_GSO_BYTES).len();
        let mut start = 0;
        for _ in 0..BATCH {
            let end = start + header + longest;
            // A packet above the MTU (joined by the kernel) needs the full size; stop rather than truncate it.
            if end > room {
                break;
            }
            let Some(len) = self.read(&mut rx.bytes[start..end])? else { break };
            let offload = OffloadHeader::read(&rx.bytes[start..start + header.min(len)]);
            // Over IP the addresses are in the packet, so that the path needs none.
            let path = Path::to(Ipv4Addr::UNSPECIFIED.into());
            let range = start + header.min(len)..start + len;
            let OffloadHeader { checksums, segment_size } = offload;
            rx.push(RxPacket { checksums, segment_size, ..RxPacket::new(range, path, Ecn::NotCapable) });
            start += len;
        }
        Ok(())
    }

    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()> {
        while !tx.is_empty() {
            let sent = if self.is_offloading { send_train(&self.descriptor, tx) } else { self.send_next(tx) };
            match sent {
                Err(Errno::AGAIN) => break,
                sent => sent?,
            }
        }
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.descriptor.as_fd())
    }
}

/// Runs `ip` of iproute2.
fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("ip {}: {message}", arguments.join(" "))))
    }
}
