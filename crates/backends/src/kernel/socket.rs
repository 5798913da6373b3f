//! Socket calls that no crate offers: `tcp(7)`, `linux/tcp.h`.

use libc::c_int;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// `struct tcp_info` of `linux/tcp.h`. An older kernel fills in less of it; the rest is zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TcpInfo {
    head: [u8; 8],
    pub(super) rto: u32,
    ato: u32,
    pub(super) snd_mss: u32,
    rcv_mss: u32,
    pub(super) unacked: u32,
    pub(super) sacked: u32,
    pub(super) lost: u32,
    pub(super) retrans: u32,
    fackets: u32,
    last: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    pub(super) rtt: u32,
    rttvar: u32,
    pub(super) snd_ssthresh: u32,
    pub(super) snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    pub(super) total_retrans: u32,
    pub(super) pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    pub(super) min_rtt: u32,
    data_segs_in: u32,
    pub(super) data_segs_out: u32,
    delivery_rate: u64,
    pub(super) busy_time: u64,
    pub(super) rwnd_limited: u64,
    pub(super) sndbuf_limited: u64,
    delivered: [u32; 2],
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
    rcv_wnd: u32,
    rehash: u32,
    pub(super) total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time: u32,
}

/// Returns the kernel's counters of a connection.
pub(super) fn info(socket: &OwnedFd) -> io::Result<TcpInfo> {
    // Zeroed, since an older kernel writes a shorter structure.
    let mut info = TcpInfo::default();
    let mut size = size_of::<TcpInfo>() as libc::socklen_t;
    let place = (&raw mut info).cast();
    // SAFETY: the kernel writes `size` bytes at max, and any bytes are a `TcpInfo`.
    let code = unsafe { libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut size) };
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(info) }
}

/// Sets one of TCP's options that are numbers.
pub(super) fn set(socket: &OwnedFd, option: c_int, value: c_int) -> io::Result<()> {
    let (place, size) = ((&raw const value).cast(), size_of::<c_int>() as libc::socklen_t);
    // SAFETY: the kernel reads the number, which lives as long as the call.
    let code = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, place, size) };
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns how many bytes were written that are not acknowledged (`SIOCOUTQ`).
pub(super) fn unacknowledged(socket: &OwnedFd) -> io::Result<u64> {
    let mut bytes: c_int = 0;
    // SAFETY: this call writes the number.
    let code = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(bytes as u64) }
}
