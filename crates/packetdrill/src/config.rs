//! The configuration of the endpoint for a socket: its options and the sysctls of its namespace.

use crate::device;
use crate::socket::Settings;
use crate::sysctl;
use earlybird_tcp::{Config, Dsack, EcnMode, IpVersion, KeepAlive, Lifetimes, RackConfig, ReceiveBuffer};
use earlybird_units::Duration;
use std::net::IpAddr;

/// The receive buffer that advertises Linux's initial window of 64 KiB (`tcp_select_initial_window`).
const FIRST_BUFFER: u64 = 67_651;

/// Returns the MSS that this side announces.
pub(crate) fn mss_limit(settings: &Settings, address: IpAddr) -> u16 {
    // The user's TCP_MAXSEG cannot exceed the MTU of the device.
    let fits = (device::mtu() - device::headers(address)) as u16;
    settings.mss_limit.map_or(fits, |wanted| wanted.min(fits))
}

/// Returns the configuration of the endpoint: the `linux` profile with the socket's options and the namespace's sysctls.
pub(crate) fn config(settings: &Settings, address: IpAddr, is_client: bool) -> Config {
    let mss = mss_limit(settings, address);
    let linux = Config::linux();
    let largest = sysctl::values("tcp_rmem").get(2).copied().unwrap_or(6_291_456);
    linux
        .with_mss(mss)
        .with_max_window((largest / u64::from(mss)) as u32)
        .with_timestamps(sysctl::is_on("tcp_timestamps"))
        .with_ip(if address.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 })
        .with_nagle(!settings.no_delay)
        .with_sack_blocks(if sysctl::is_on("tcp_sack") { 4 } else { 0 })
        .with_dsack(if sysctl::is_on("tcp_dsack") { Dsack::DataAndSyn } else { Dsack::Off })
        .with_ecn(match sysctl::value("tcp_ecn", 2) {
            1 => EcnMode::Classic,
            // EcnMode::Classic, => tcp_ecn = 2 accepts ECN from peers but does not request it.
            2 if !is_client => EcnMode::Classic,
            _ => EcnMode::Off,
        })
        .with_rack(RackConfig { probes_tail: sysctl::value("tcp_early_retrans", 3) >= 3, ..linux.recovery.rack })
        .with_receive_buffer(ReceiveBuffer::Tuned { initial: FIRST_BUFFER, largest })
        .with_slow_start_after_idle(sysctl::is_on("tcp_slow_start_after_idle"))
        .with_lifetimes(Lifetimes {
            syn: Some(opening_limit(settings)),
            user_timeout: user_timeout(settings),
            keep_alive: keep_alive(settings),
            ..linux.lifetimes
        })
}

/// Returns the timeout of the handshake: retries with exponential back-off from one second.
pub(crate) fn opening_limit(settings: &Settings) -> Duration {
    let tries = settings.syn_retries.map_or_else(|| sysctl::value("tcp_syn_retries", 6), u64::from);
    // 1 + 2 + 4 + … seconds; capped, as 2^127 would overflow.
    Duration::from_secs((2 << tries.min(16)) - 1)
}

/// Returns the user timeout, if set.
pub(crate) fn user_timeout(settings: &Settings) -> Option<Duration> {
    (settings.user_timeout > 0).then(|| Duration::from_millis(u64::from(settings.user_timeout)))
}

/// Returns the keep-alive settings, if enabled.
pub(crate) fn keep_alive(settings: &Settings) -> Option<KeepAlive> {
    let time = |seconds: Option<u32>, name, default| {
        Duration::from_secs(seconds.map_or_else(|| sysctl::value(name, default), u64::from))
    };
    settings.keep_alive.then(|| KeepAlive {
        idle: time(settings.keep_idle, "tcp_keepalive_time", 7200),
        interval: time(settings.keep_interval, "tcp_keepalive_intvl", 75),
        probes: settings.keep_count.unwrap_or_else(|| sysctl::value("tcp_keepalive_probes", 9) as u32),
    })
}
