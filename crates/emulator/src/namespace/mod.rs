//! Network namespaces with a TUN device, without privileges where user namespaces are allowed.

mod device;
mod fork;
mod id_mapping;

use fork::Fork;
use id_mapping::IdMapping;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The addresses and MTU of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Its IPv4 address, with a prefix of 24 bits.
    pub v4: Ipv4Addr,
    /// Its IPv6 address, with a prefix of 64 bits.
    pub v6: Ipv6Addr,
    /// MTU in bytes.
    pub mtu: u16,
}

/// An additional TUN device in this machine's network, removed on drop.
#[derive(Debug)]
pub struct HostDevice {
    device: OwnedFd,
}

impl HostDevice {
    /// Creates a TUN device `eb0` with these addresses.
    ///
    /// # Errors
    ///
    /// If the process lacks privileges, or the device exists.
    pub fn new(host: HostConfig) -> io::Result<Self> {
        Ok(Self { device: device::add(host)? })
    }

    /// Returns the number of packets that were dropped because the queue of the device was full.
    ///
    /// # Errors
    ///
    /// If the kernel does not report it.
    pub fn dropped(&self) -> io::Result<u64> {
        dropped_by(&std::fs::read_to_string("/proc/net/dev")?)
    }

    /// Returns the device; see [`Namespace::device`].
    pub const fn device(&self) -> &OwnedFd {
        &self.device
    }
}

/// A network namespace. It exists as long as this value, a process in it or one of its sockets.
#[derive(Debug)]
pub struct Namespace {
    /// Its user namespace, if one was needed.
    user: Option<OwnedFd>,
    net: OwnedFd,
    device: OwnedFd,
}

impl Namespace {
    /// Creates a namespace with the loopback device and a TUN device `eb0`, which has the default route.
    ///
    /// # Errors
    ///
    /// If neither network nor user namespaces are allowed, or there is no `/dev/net/tun`.
    pub fn new(host: HostConfig) -> io::Result<Self> {
        Self::create(|| device::configure(host))
    }

    /// Creates a namespace that forwards packets, without a default route.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn router(host: HostConfig) -> io::Result<Self> {
        Self::create(|| {
            let device = device::configure_router(host)?;
            id_mapping::write(c"/proc/sys/net/ipv4/ip_forward", "1")?;
            // Answer ARP requests on the outer device for hosts behind this one.
            id_mapping::write(c"/proc/sys/net/ipv4/conf/default/proxy_arp", "1")?;
            Ok(device)
        })
    }

    /// Creates a namespace. `configure` must only make system calls and must not allocate.
    fn create(configure: impl FnOnce() -> io::Result<OwnedFd>) -> io::Result<Self> {
        let id_mapping = IdMapping::of_this_process();
        let needs_user_namespace = !rustix::process::geteuid().is_root();
        let files = Fork::run(|| {
            if needs_user_namespace {
                // SAFETY: the process was just forked and has one thread.
                unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) }?;
                id_mapping.write()?;
            } else {
                // SAFETY: as above.
                unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            }
            // Ping is the first thing that users try in a new network.
            id_mapping.allow_ping();
            let device = configure()?;
            Ok([device, id_mapping::open(c"/proc/self/ns/net")?, id_mapping::open(c"/proc/self/ns/user")?])
        })?;
        let [device, net, user] = files;
        Ok(Self { user: needs_user_namespace.then_some(user), net, device })
    }

    /// Returns the device. Reading from it returns packets that hosts in the namespace send; they receive packets that are
    /// written to it.
    pub const fn device(&self) -> &OwnedFd {
        &self.device
    }

    /// Returns the files of the network namespace and its user namespace, with which other programs enter them.
    pub fn files(&self) -> (&OwnedFd, Option<&OwnedFd>) {
        (&self.net, self.user.as_ref())
    }

    /// Creates a socket in the namespace. It stays there whichever process uses it, as do connections that it accepts.
    ///
    /// # Errors
    ///
    /// The errors of `socket(2)`.
    pub fn socket(&self, family: AddressFamily, kind: SocketType) -> io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let [socket] = Fork::run(|| {
            enter(self.user.as_ref(), &self.net)?;
            Ok([socket_with(family, kind, flags, None)?])
        })?;
        Ok(socket)
    }

    /// Returns the number of packets that were dropped because the queue of the device was full.
    ///
    /// # Errors
    ///
    /// If the kernel does not report it.
    pub fn dropped(&self) -> io::Result<u64> {
        let [counts] = Fork::run(|| {
            enter(self.user.as_ref(), &self.net)?;
            Ok([id_mapping::open(c"/proc/self/net/dev")?])
        })?;
        dropped_by(&io::read_to_string(File::from(counts))?)
    }

    /// Writes a sysctl of the namespace, a file below `/proc/sys/net`.
    ///
    /// # Errors
    ///
    /// If the setting does not exist, or the value is refused.
    pub fn set(&self, setting: &CStr, value: &str) -> io::Result<()> {
        let [_] = Fork::run(|| {
            enter(self.user.as_ref(), &self.net)?;
            Ok([id_mapping::write(setting, value)?])
        })?;
        Ok(())
    }

    /// Returns a command that runs in the namespace.
    ///
    /// # Errors
    ///
    /// If the process is out of file descriptors.
    pub fn command(&self, program: &str) -> io::Result<Command> {
        let (user, net) = (self.user.as_ref().map(OwnedFd::try_clone).transpose()?, self.net.try_clone()?);
        let mut command = Command::new(program);
        // SAFETY: `enter` makes two system calls and does not allocate.
        unsafe { command.pre_exec(move || enter(user.as_ref(), &net)) };
        Ok(command)
    }
}

fn dropped_by(counts: &str) -> io::Result<u64> {
    device::dropped(counts).ok_or_else(|| io::Error::other("/proc/net/dev does not list the device"))
}

fn enter(user: Option<&OwnedFd>, net: &OwnedFd) -> io::Result<()> {
    if let Some(user) = user {
        move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
    }
    Ok(move_into_link_name_space(net.as_fd(), Some(LinkNameSpaceType::Network))?)
}
