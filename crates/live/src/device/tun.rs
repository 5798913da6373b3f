//! A TUN device: IP packets to and from the kernel of this machine, which routes them.

use super::{Arrival, BATCH, Carriage, Device, Inbox, Outbox, Path};
use earlybird_wire::Ecn;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Command;

/// A device whose packets this process sends and receives in the network's place.
#[derive(Debug)]
pub struct Tun {
    descriptor: OwnedFd,
    mtu: u16,
}

/// `struct ifreq` of `linux/if.h`, as far as it is used here.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

/// `TUNSETIFF` of `linux/if_tun.h`: `_IOW('T', 202, int)`.
const SET_INTERFACE: Opcode = 0x4004_54CA;
/// `IFF_TUN | IFF_NO_PI`: packets begin with their IP header.
const PLAIN_PACKETS: u16 = 0x0001 | 0x1000;
/// What to do without the right to make a device.
const ADVICE: &str = "a TUN device needs root (CAP_NET_ADMIN): run inside `unshare --user --map-root-user --net`, or take UDP, \
                      which needs no right";

impl Tun {
    /// Makes a device of that name for packets of up to `mtu` bytes, and takes it up.
    ///
    /// # Errors
    ///
    /// If the process has not the right to, and then says what to do; if there is one of that name; if the name is too long.
    pub fn new(name: &str, mtu: u16) -> io::Result<Self> {
        Self::make(name, mtu).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => io::Error::new(error.kind(), ADVICE),
            _ => error,
        })
    }

    fn make(name: &str, mtu: u16) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open("/dev/net/tun", flags, rustix::fs::Mode::empty())?;
        let mut request = InterfaceRequest { name: [0; 16], flags: PLAIN_PACKETS, rest: [0; 22] };
        // One byte is left for the zero behind the name.
        let place = request.name[..15].get_mut(..name.len()).ok_or(io::ErrorKind::InvalidFilename)?;
        place.copy_from_slice(name.as_bytes());
        set_interface(&descriptor, request)?;
        ip(&["link", "set", name, "mtu", &mtu.to_string(), "up"])?;
        Ok(Self { descriptor, mtu })
    }

    /// Takes a device that another process made and handed over.
    ///
    /// # Errors
    ///
    /// If it cannot be made not to wait.
    pub fn from_descriptor(descriptor: OwnedFd, mtu: u16) -> io::Result<Self> {
        fcntl_setfl(&descriptor, fcntl_getfl(&descriptor)? | OFlags::NONBLOCK)?;
        Ok(Self { descriptor, mtu })
    }

    /// Gives the kernel's end of the device of that name an address in a network of so many bits, at once: nobody else is there
    /// who could have it.
    ///
    /// # Errors
    ///
    /// If iproute2 does not do it.
    pub fn add_address(name: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
        let undetected: &[&str] = if address.is_ipv6() { &["nodad"] } else { &[] };
        ip(&[&["address", "add", &format!("{address}/{prefix}"), "dev", name], undetected].concat())
    }

    /// Reads a packet; gives its length, or `None` if there is none now.
    fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.descriptor, into) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            result => Ok(Some(result?)),
        }
    }
}

#[expect(unsafe_code, reason = "there is no safe way to make such a device")]
fn set_interface(descriptor: &OwnedFd, request: InterfaceRequest) -> io::Result<()> {
    // SAFETY: the request has the layout and the size that this call reads.
    unsafe { ioctl(descriptor, Setter::<SET_INTERFACE, InterfaceRequest>::new(request)) }?;
    Ok(())
}

impl Device for Tun {
    fn carriage(&self) -> Carriage {
        Carriage::Ip
    }

    fn mtu(&self) -> u16 {
        self.mtu
    }

    fn receive(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        let size = usize::from(self.mtu);
        for start in (0..BATCH * size).step_by(size.max(1)) {
            let Some(len) = self.read(&mut inbox.room(BATCH * size)[start..start + size])? else { break };
            let path = Path::to(Ipv4Addr::UNSPECIFIED.into());
            inbox.enter(Arrival { range: start..start + len, path, ecn: Ecn::NotCapable });
        }
        Ok(())
    }

    fn send(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        while let Some(departure) = outbox.waiting().first() {
            match rustix::io::write(&self.descriptor, outbox.bytes(departure.range.clone())) {
                Err(Errno::AGAIN) => break,
                Err(Errno::BADFD) => return Err(Errno::BADFD.into()),
                // A packet that the kernel does not like is lost, like others on their way.
                _ => outbox.strike_out(1),
            }
        }
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.descriptor.as_fd())
    }
}

/// Calls iproute2.
fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(io::Error::other(format!("ip {}: {said}", arguments.join(" ")))) }
}
