//! A network namespace with one TUN device, made without rights where user namespaces are allowed.

mod fork;
mod interface;
mod rights;

use fork::Fork;
use rights::Maps;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Where the host of a namespace stands in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its address, in a network of 24 bits …
    pub v4: Ipv4Addr,
    /// … and in one of 64 bits.
    pub v6: Ipv6Addr,
    /// The largest packet in bytes.
    pub mtu: u16,
}

/// One device more in this machine's network, which goes when this does.
#[derive(Debug)]
pub struct Host {
    device: OwnedFd,
}

impl Host {
    /// Adds a TUN device `eb0` with these addresses.
    ///
    /// # Errors
    ///
    /// If the process may not change the network, or there is such a device.
    pub fn new(place: Place) -> io::Result<Self> {
        Ok(Self { device: interface::add(place)? })
    }

    /// As [`Namespace::device`], for this machine.
    pub const fn device(&self) -> &OwnedFd {
        &self.device
    }
}

/// A network of its own, which is there as long as somebody holds it: this, a process in it, or a socket of it.
#[derive(Debug)]
pub struct Namespace {
    /// The user namespace that it belongs to, if it took one.
    user: Option<OwnedFd>,
    net: OwnedFd,
    device: OwnedFd,
}

impl Namespace {
    /// Makes a network in which there is nothing but the loopback device and a TUN device `eb0` with these addresses, over which
    /// everything else goes.
    ///
    /// # Errors
    ///
    /// If the system allows neither network namespaces nor user namespaces, or there is no `/dev/net/tun`.
    pub fn new(place: Place) -> io::Result<Self> {
        Self::furnished(|| interface::furnish(place))
    }

    /// Makes one that hands on packets between its devices, and has no way out yet.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn router(place: Place) -> io::Result<Self> {
        Self::furnished(|| {
            let device = interface::furnish_router(place)?;
            rights::write(c"/proc/sys/net/ipv4/ip_forward", "1")?;
            // Whoever is on the way out asks for the hosts behind this one, and is answered in their place.
            rights::write(c"/proc/sys/net/ipv4/conf/default/proxy_arp", "1")?;
            Ok(device)
        })
    }

    /// `furnish` must make system calls only, and allocate nothing.
    fn furnished(furnish: impl FnOnce() -> io::Result<OwnedFd>) -> io::Result<Self> {
        let maps = Maps::of_this_process();
        let needs_rights = !rustix::process::geteuid().is_root();
        let files = Fork::run(|| {
            if needs_rights {
                // SAFETY: the process was just forked and shares nothing with threads.
                unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) }?;
                maps.write()?;
            } else {
                // SAFETY: as above.
                unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            }
            maps.allow_pings();
            let device = furnish()?;
            Ok([device, rights::open(c"/proc/self/ns/net")?, rights::open(c"/proc/self/ns/user")?])
        })?;
        let [device, net, user] = files;
        Ok(Self { user: needs_rights.then_some(user), net, device })
    }

    /// Returns the device: what the hosts in the namespace send is read there, packet by packet, and what is written there they
    /// receive.
    pub const fn device(&self) -> &OwnedFd {
        &self.device
    }

    /// Returns the files by which other programs enter it: of the network, and of the user namespace that it belongs to.
    pub fn files(&self) -> (&OwnedFd, Option<&OwnedFd>) {
        (&self.net, self.user.as_ref())
    }

    /// Makes a socket of a host in the namespace, which stays that whoever uses it; what it accepts stays it too.
    ///
    /// # Errors
    ///
    /// As of `socket(2)`.
    pub fn socket(&self, family: AddressFamily, kind: SocketType) -> io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let [socket] = Fork::run(|| {
            enter(self.user.as_ref(), &self.net)?;
            Ok([socket_with(family, kind, flags, None)?])
        })?;
        Ok(socket)
    }

    /// Returns how many packets of its hosts were dropped because too many waited at the device to be read.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    pub fn dropped(&self) -> io::Result<u64> {
        let [counts] = Fork::run(|| {
            enter(self.user.as_ref(), &self.net)?;
            Ok([rights::open(c"/proc/self/net/dev")?])
        })?;
        let counts = io::read_to_string(File::from(counts))?;
        interface::dropped(&counts).ok_or_else(|| io::Error::other("/proc/net/dev says nothing of the device"))
    }

    /// Writes a setting of the network, a file below `/proc/sys/net`.
    ///
    /// # Errors
    ///
    /// If the system has no such setting, or does not take the value.
    pub fn set(&self, setting: &CStr, value: &str) -> io::Result<()> {
        let [_] = Fork::run(|| {
            enter(self.user.as_ref(), &self.net)?;
            Ok([rights::write(setting, value)?])
        })?;
        Ok(())
    }

    /// Returns a command that will run in the namespace.
    ///
    /// # Errors
    ///
    /// If there are too many open files.
    pub fn command(&self, program: &str) -> io::Result<Command> {
        let (user, net) = (self.user.as_ref().map(OwnedFd::try_clone).transpose()?, self.net.try_clone()?);
        let mut command = Command::new(program);
        // SAFETY: entering makes two system calls and allocates nothing.
        unsafe { command.pre_exec(move || enter(user.as_ref(), &net)) };
        Ok(command)
    }
}

fn enter(user: Option<&OwnedFd>, net: &OwnedFd) -> io::Result<()> {
    if let Some(user) = user {
        move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
    }
    Ok(move_into_link_name_space(net.as_fd(), Some(LinkNameSpaceType::Network))?)
}
