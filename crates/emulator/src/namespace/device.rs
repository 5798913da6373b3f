//! Configures network devices with ioctls (`netdevice(7)`): a forked process cannot run `ip`, as it must not allocate.

use super::HostConfig;
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketType, socket};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

/// The name of the device.
const DEVICE: &str = "eb0";
/// Packets that wait at the device for the emulator to read them. The default of the TUN driver is 500
/// (`TUN_READQ_SIZE` of `drivers/net/tun.c`), which a burst of TCP fills while the emulator's thread waits for a processor;
/// what finds the queue full is dropped in front of the emulated network.
const QUEUE_LENGTH: libc::c_int = 10_000;
/// Prefix length and network mask of the host's networks.
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

/// Creates the device in an empty namespace, with the default route.
pub(super) fn configure(host: HostConfig) -> io::Result<OwnedFd> {
    let device = configure_router(host)?;
    let v4 = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    add_default_route_v4(&v4)?;
    if let Some(v6) = socket_v6() {
        add_default_route_v6(&v6, index(&v4)?)?;
    }
    Ok(device)
}

/// Creates the device in an empty namespace, and enables the loopback device.
pub(super) fn configure_router(host: HostConfig) -> io::Result<OwnedFd> {
    let device = add(host)?;
    let v4 = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    call(&v4, libc::SIOCSIFFLAGS, &mut request("lo", up()))?;
    Ok(device)
}

/// Creates the device and assigns its addresses.
pub(super) fn add(host: HostConfig) -> io::Result<OwnedFd> {
    let device = rustix::fs::open(c"/dev/net/tun", OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    let packets = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    call(&device, libc::TUNSETIFF, &mut request(DEVICE, Value { flags: packets }))?;
    let v4 = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // All of it before the device is up, so that no packet meets the defaults.
    call(&v4, libc::SIOCSIFMTU, &mut request(DEVICE, Value { number: host.mtu.into() }))?;
    call(&v4, libc::SIOCSIFTXQLEN, &mut request(DEVICE, Value { number: QUEUE_LENGTH }))?;
    call(&v4, libc::SIOCSIFADDR, &mut request(DEVICE, Value { address: address(host.v4) }))?;
    call(&v4, libc::SIOCSIFNETMASK, &mut request(DEVICE, Value { address: address(NETMASK_V4) }))?;
    call(&v4, libc::SIOCSIFFLAGS, &mut request(DEVICE, up()))?;
    if let Some(v6) = socket_v6() {
        let mut address = AddressRequestV6 { address: host.v6.octets(), prefix: PREFIX_V6, index: index(&v4)? };
        call(&v6, libc::SIOCSIFADDR, &mut address)?;
    }
    Ok(device)
}

fn up() -> Value {
    Value { flags: (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short }
}

/// Returns `None` on a machine without IPv6, which is supported.
fn socket_v6() -> Option<OwnedFd> {
    socket(AddressFamily::INET6, SocketType::DGRAM, None).ok()
}

/// Returns the index of the device.
fn index(v4: &OwnedFd) -> io::Result<libc::c_int> {
    let mut request = request(DEVICE, Value { room: [0; 24] });
    call(v4, libc::SIOCGIFINDEX, &mut request)?;
    // SAFETY: this ioctl writes the index.
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
    // SAFETY: consists of numbers and pointers, for which zero means unset.
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
        // Octets are in network byte order already, and stay so in memory.
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) },
        sin_zero: [0; 8],
    }
}

/// Returns the number of dropped packets of the device, from the contents of `/proc/net/dev`.
pub(super) fn dropped(counts: &str) -> Option<u64> {
    /// Eight receive counters precede the transmit counters, of which `drop` is the fourth (`net/core/net-procfs.c`).
    const DROPPED: usize = 11;
    let mut lines = counts.lines().filter_map(|line| line.split_once(':'));
    let (_, numbers) = lines.find(|(name, _)| name.trim() == DEVICE)?;
    numbers.split_whitespace().nth(DROPPED)?.parse().ok()
}

/// Calls an ioctl whose request has the layout that the kernel expects.
fn call<T>(file: &OwnedFd, number: libc::c_ulong, request: &mut T) -> io::Result<()> {
    // SAFETY: each caller passes the structure that the kernel expects for this ioctl, and it outlives the call.
    if unsafe { libc::ioctl(file.as_raw_fd(), number as _, std::ptr::from_mut(request)) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
