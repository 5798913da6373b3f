//! Network devices, set up by their system calls (`netdevice(7)`): a process that was just forked cannot call `ip`.

use super::Place;
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketType, socket};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

/// The device's name in its namespace.
const DEVICE: &str = "eb0";
/// Bits of the networks that the hosts are in.
const PREFIX_V6: u32 = 64;
const NETMASK_V4: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);

/// `struct ifreq` of `linux/if.h`.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    value: Value,
}

#[repr(C)]
union Value {
    flags: libc::c_short,
    number: libc::c_int,
    address: libc::sockaddr_in,
    room: [u8; 24],
}

/// `struct in6_ifreq` of `linux/ipv6.h`.
#[repr(C)]
struct AddressRequestV6 {
    address: [u8; 16],
    prefix: u32,
    index: libc::c_int,
}

/// `struct in6_rtmsg` of `linux/ipv6_route.h`.
#[repr(C)]
struct RouteRequestV6 {
    destination: [u8; 16],
    source: [u8; 16],
    gateway: [u8; 16],
    kind: u32,
    destination_bits: u16,
    source_bits: u16,
    metric: u32,
    info: libc::c_ulong,
    flags: u32,
    index: libc::c_int,
}

/// `RTF_UP` of `linux/route.h`.
const ROUTE_IS_UP: u16 = 1;

/// Makes the device in an empty network, and lets everything go there.
pub(super) fn furnish(place: Place) -> io::Result<OwnedFd> {
    let device = furnish_router(place)?;
    let v4 = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    add_default_route_v4(&v4)?;
    if let Some(v6) = socket_v6() {
        add_default_route_v6(&v6, index(&v4)?)?;
    }
    Ok(device)
}

/// Makes the device in an empty network, of which it is one way among others.
pub(super) fn furnish_router(place: Place) -> io::Result<OwnedFd> {
    let device = add(place)?;
    let v4 = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    call(&v4, libc::SIOCSIFFLAGS, &mut request("lo", up()))?;
    Ok(device)
}

/// Makes the device and gives it its addresses.
pub(super) fn add(place: Place) -> io::Result<OwnedFd> {
    let device = rustix::fs::open(c"/dev/net/tun", OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let packets = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    call(&device, libc::TUNSETIFF, &mut request(DEVICE, Value { flags: packets }))?;
    let v4 = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    call(&v4, libc::SIOCSIFMTU, &mut request(DEVICE, Value { number: place.mtu.into() }))?;
    call(&v4, libc::SIOCSIFADDR, &mut request(DEVICE, Value { address: address(place.v4) }))?;
    call(&v4, libc::SIOCSIFNETMASK, &mut request(DEVICE, Value { address: address(NETMASK_V4) }))?;
    call(&v4, libc::SIOCSIFFLAGS, &mut request(DEVICE, up()))?;
    if let Some(v6) = socket_v6() {
        let mut address = AddressRequestV6 { address: place.v6.octets(), prefix: PREFIX_V6, index: index(&v4)? };
        call(&v6, libc::SIOCSIFADDR, &mut address)?;
    }
    Ok(device)
}

fn up() -> Value {
    Value { flags: (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short }
}

/// A machine without IPv6 is a machine too.
fn socket_v6() -> Option<OwnedFd> {
    socket(AddressFamily::INET6, SocketType::DGRAM, None).ok()
}

/// Returns the device's number.
fn index(v4: &OwnedFd) -> io::Result<libc::c_int> {
    let mut request = request(DEVICE, Value { room: [0; 24] });
    call(v4, libc::SIOCGIFINDEX, &mut request)?;
    // SAFETY: this call writes the number.
    Ok(unsafe { request.value.number })
}

fn add_default_route_v6(v6: &OwnedFd, index: libc::c_int) -> io::Result<()> {
    let nothing = [0; 16];
    let mut route = RouteRequestV6 {
        destination: nothing,
        source: nothing,
        gateway: nothing,
        kind: 0,
        destination_bits: 0,
        source_bits: 0,
        metric: 1,
        info: 0,
        flags: ROUTE_IS_UP.into(),
        index,
    };
    call(v6, libc::SIOCADDRT, &mut route)
}

fn add_default_route_v4(v4: &OwnedFd) -> io::Result<()> {
    let mut name = [0_u8; 16];
    name[..DEVICE.len()].copy_from_slice(DEVICE.as_bytes());
    // SAFETY: all of it are numbers and pointers, for which zeros mean nothing.
    let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
    for place in [&mut route.rt_dst, &mut route.rt_genmask] {
        place.sa_family = libc::AF_INET as libc::sa_family_t;
    }
    route.rt_flags = ROUTE_IS_UP;
    route.rt_dev = name.as_mut_ptr().cast();
    call(v4, libc::SIOCADDRT, &mut route)
}

fn request(name: &str, value: Value) -> InterfaceRequest {
    let mut request = InterfaceRequest { name: [0; 16], value };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    request
}

fn address(address: Ipv4Addr) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) },
        sin_zero: [0; 8],
    }
}

/// Returns how many packets the device dropped that hosts sent over it, of what `/proc/net/dev` says.
pub(super) fn dropped(counts: &str) -> Option<u64> {
    /// Of sixteen numbers eight are of what was received; the fourth of the others is this one (`net/core/net-procfs.c`).
    const DROPPED: usize = 11;
    let mut lines = counts.lines().filter_map(|line| line.split_once(':'));
    let (_, numbers) = lines.find(|(name, _)| name.trim() == DEVICE)?;
    numbers.split_whitespace().nth(DROPPED)?.parse().ok()
}

/// Makes a system call whose request has the layout that it reads.
fn call<T>(file: &OwnedFd, number: libc::c_ulong, request: &mut T) -> io::Result<()> {
    // SAFETY: each call above goes with the structure that the kernel reads for it, which lives as long as the call.
    if unsafe { libc::ioctl(file.as_raw_fd(), number as _, std::ptr::from_mut(request)) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
