//! The network device of the script: its MTU and queue.

use core::mem;
use std::net::IpAddr;
use std::process::Command;

const DEVICE: &str = "tun0";

/// Returns the MTU of the device in the script's namespace.
pub(crate) fn mtu() -> u32 {
    // SAFETY: all fields are integers, arrays or pointers, of which zeros are values.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(DEVICE.bytes()) {
        *place = byte.cast_signed();
    }
    // SAFETY: `request` outlives the call, which fills in the MTU before it is read.
    unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        let status = libc::ioctl(fd, libc::SIOCGIFMTU, &mut request);
        // The raw system call: `close` is intercepted by this library.
        libc::syscall(libc::SYS_close, fd);
        if status == 0 { request.ifr_ifru.ifru_mtu.cast_unsigned() } else { 1500 }
    }
}

/// Returns whether the queue of the device drops all packets, which scripts configure with `tc`.
pub(crate) fn drops_all() -> bool {
    // `tc` does not need the preloaded library.
    let output = Command::new("tc").args(["qdisc", "show", "dev", DEVICE]).env_remove("LD_PRELOAD").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("limit 0p"))
}

/// Returns the size of the IP and TCP headers without options.
pub(crate) fn headers(address: IpAddr) -> u32 {
    if address.is_ipv4() { 40 } else { 60 }
}
