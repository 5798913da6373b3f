use rustix::fs::OFlags;
use rustix::ioctl::{Opcode, Setter, ioctl};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

/// A device whose packets this process sends and receives in the network's place.
#[derive(Debug)]
pub(crate) struct Tun {
    file: File,
    name: &'static str,
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

impl Tun {
    /// Makes a device of that name, and takes it up.
    pub(crate) fn new(name: &'static str, mtu: u16) -> io::Result<Self> {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open("/dev/net/tun")?;
        let mut request = InterfaceRequest { name: [0; 16], flags: PLAIN_PACKETS, rest: [0; 22] };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: the request has the layout and the size that this call reads.
        unsafe { ioctl(&file, Setter::<SET_INTERFACE, InterfaceRequest>::new(request)) }?;
        ip(&["link", "set", name, "mtu", &mtu.to_string(), "up"])?;
        Ok(Self { file, name })
    }

    /// Gives the kernel's end an address in a network of so many bits, at once: nobody else is there who could have it.
    pub(crate) fn add_address(&self, address: IpAddr, prefix: u8) -> io::Result<()> {
        let address = format!("{address}/{prefix}");
        let undetected: &[&str] = if address.contains(':') { &["nodad"] } else { &[] };
        ip(&[&["address", "add", &address, "dev", self.name], undetected].concat())
    }

    /// Gives the length of the next packet; `None` if there is none now.
    pub(crate) fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            result => result.map(Some),
        }
    }

    pub(crate) fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.file.write_all(packet)
    }
}

/// Calls iproute2.
fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(io::Error::other(format!("ip {}: {said}", arguments.join(" ")))) }
}
