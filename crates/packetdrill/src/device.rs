//! The device: what its settings are, and whether its queue takes packets.

use core::mem;
use std::net::IpAddr;
use std::process::Command;

const DEVICE: &str = "tun0";

/// Returns the largest packet that the device of the script's namespace takes.
pub(crate) fn mtu() -> u32 {
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(DEVICE.bytes()) {
        *place = byte.cast_signed();
    }
    unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        let status = libc::ioctl(fd, libc::SIOCGIFMTU, &mut request);
        libc::syscall(libc::SYS_close, fd);
        if status == 0 { request.ifr_ifru.ifru_mtu.cast_unsigned() } else { 1500 }
    }
}

/// Returns whether the device's queue has no room at all, as scripts make it with `tc` to have packets dropped.
pub(crate) fn drops_everything() -> bool {
    let output = Command::new("tc").args(["qdisc", "show", "dev", DEVICE]).env_remove("LD_PRELOAD").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("limit 0p"))
}

/// Returns the bytes of IP's and TCP's headers without options.
pub(crate) fn headers(address: IpAddr) -> u32 {
    if address.is_ipv4() { 40 } else { 60 }
}
