//! Timeouts after which a connection ends without its peer (RFC 9293 §3.8.3, RFC 1122 §4.2.3.5 and §4.2.3.6, RFC 5482).

use earlybird_units::Duration;

/// The times that a connection waits for its peer before it ends; `None`: for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Wait for an answer to its SYN (R2 of a SYN in RFC 9293 §3.8.3).
    pub syn: Option<Duration>,
    /// Wait for the ACK of its SYN-ACK.
    pub syn_ack: Option<Duration>,
    /// Wait for progress while data is outstanding (R2), or for any answer to probes of a closed window.
    pub data: Option<Duration>,
    /// Wait for progress even if the peer answers: the user timeout (RFC 5482). A window that stays closed for so long ends the
    /// connection, which only an application may request (RFC 9293 §3.8.6.1, RFC 6429 §4).
    pub user_timeout: Option<Duration>,
    /// Wait for progress after the application has closed the connection.
    pub orphan: Option<Duration>,
    /// Wait for the peer's FIN in FIN-WAIT-2, after the application has closed the connection.
    pub fin_wait: Option<Duration>,
    /// Time in TIME-WAIT.
    pub time_wait: Duration,
    /// Keep-alive probes of an idle connection.
    pub keep_alive: Option<KeepAlive>,
}

/// Keep-alive probes (RFC 9293 §3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Idle time before the first probe.
    pub idle: Duration,
    /// Time between unanswered probes.
    pub interval: Duration,
    /// The number of unanswered probes after which the connection ends.
    pub probes: u32,
}

/// Twice the maximum segment lifetime: that of Linux (`TCP_TIMEWAIT_LEN`; RFC 9293 §3.4.2 recommends four minutes).
const TIME_WAIT: Duration = Duration::from_secs(60);

impl Lifetimes {
    /// No limits but TIME-WAIT: ns-2's agents retransmit for ever.
    pub const UNLIMITED: Self = Self {
        syn: None,
        syn_ack: None,
        data: None,
        user_timeout: None,
        orphan: None,
        fin_wait: None,
        time_wait: TIME_WAIT,
        keep_alive: None,
    };

    /// SYNs for three minutes (RFC 9293 §3.8.3: R2 "MUST be set large enough to provide retransmission of the segment for at
    /// least 3 minutes"), data for five (§3.9.1.1: "The present global default is five minutes"), FIN-WAIT-2 as Linux.
    pub const RFC: Self = Self {
        syn: Some(Duration::from_secs(180)),
        syn_ack: Some(Duration::from_secs(180)),
        data: Some(Duration::from_secs(300)),
        fin_wait: Some(Duration::from_secs(60)),
        ..Self::UNLIMITED
    };

    /// Linux's numbers of retries as the times in its documentation, for an initial RTO of 1 s for SYNs and of 200 ms for data: `tcp_syn_retries` 6, `tcp_synack_retries` 5, `tcp_retries2` 15 (924.6 s), and the 8 retries of
    /// a closed socket; `tcp_fin_timeout`.
    pub const LINUX: Self = Self {
        syn: Some(Duration::from_secs(127)),
        // 1 + 2 + 4 + 8 + 16 + 32 s.
        syn_ack: Some(Duration::from_secs(63)),
        // The sum of 15 doublings from 200 ms, capped at 120 s (`ip-sysctl.rst`, `tcp_retries2`).
        data: Some(Duration::from_millis(924_600)),
        orphan: Some(Duration::from_millis(102_200)),
        fin_wait: Some(Duration::from_secs(60)),
        ..Self::UNLIMITED
    };
}

impl KeepAlive {
    /// Linux's times (`tcp_keepalive_time`, `_intvl`, `_probes`); RFC 1122 §4.2.3.6 asks for no less than the two hours.
    pub const LINUX: Self = Self { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 };
}
