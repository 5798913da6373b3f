//! How long a connection goes on without its peer (RFC 9293 §3.8.3, RFC 1122 §4.2.3.5 and §4.2.3.6, RFC 5482).

use earlybird_units::Duration;

/// How long a connection waits for its peer before it ends by itself; for ever where there is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// For an answer to its SYN (R2 of a SYN in RFC 9293 §3.8.3).
    pub opening: Option<Duration>,
    /// For the ACK of its SYN-ACK.
    pub answering: Option<Duration>,
    /// For progress, while something is outstanding; for any answer, while it asks whether a closed window has opened (R2).
    pub silence: Option<Duration>,
    /// For progress, be the peer ever so talkative: the user timeout (RFC 5482). A window that stays closed for so long ends
    /// the connection, which only an application may ask for (RFC 9293 §3.8.6.1, RFC 6429 §4).
    pub user_timeout: Option<Duration>,
    /// The same once the application has closed and asks no more.
    pub orphan: Option<Duration>,
    /// For the peer's FIN, once the application has closed and its own FIN was acknowledged (FIN-WAIT-2).
    pub fin_wait: Option<Duration>,
    /// TIME-WAIT.
    pub time_wait: Duration,
    /// Whether and when to ask a peer that is silent, with nothing outstanding, if it is still there.
    pub keep_alive: Option<KeepAlive>,
}

/// When to ask a silent peer whether it is there (RFC 9293 §3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle: Duration,
    /// Between probes without answer.
    pub interval: Duration,
    /// Probes without answer after which the peer counts as gone.
    pub probes: u32,
}

/// Twice the maximum segment lifetime, as Linux takes it (`TCP_TIMEWAIT_LEN`; RFC 9293 §3.4.2 asks for four minutes).
const TIME_WAIT: Duration = Duration::from_secs(60);

impl Lifetimes {
    /// No limits but TIME-WAIT: ns-2's agents never give up.
    pub const UNLIMITED: Self = Self {
        opening: None,
        answering: None,
        silence: None,
        user_timeout: None,
        orphan: None,
        fin_wait: None,
        time_wait: TIME_WAIT,
        keep_alive: None,
    };

    /// A SYN for three minutes (RFC 9293 §3.8.3: R2 "MUST be set large enough to provide retransmission of the segment for at
    /// least 3 minutes"), data for five (§3.9.1.1: "The present global default is five minutes"), FIN-WAIT-2 as Linux.
    pub const RFC: Self = Self {
        opening: Some(Duration::from_secs(180)),
        answering: Some(Duration::from_secs(180)),
        silence: Some(Duration::from_secs(300)),
        fin_wait: Some(Duration::from_secs(60)),
        ..Self::UNLIMITED
    };

    /// Linux's counts of retries as the times that its documentation gives for them, the timeout beginning at 1 s for SYNs
    /// and at 200 ms for data: `tcp_syn_retries` 6, `tcp_synack_retries` 5, `tcp_retries2` 15 (924.6 s), and the 8 retries of
    /// a closed socket; `tcp_fin_timeout`.
    pub const LINUX: Self = Self {
        opening: Some(Duration::from_secs(127)),
        answering: Some(Duration::from_secs(63)),
        silence: Some(Duration::from_millis(924_600)),
        orphan: Some(Duration::from_millis(102_200)),
        fin_wait: Some(Duration::from_secs(60)),
        ..Self::UNLIMITED
    };
}

impl KeepAlive {
    /// Linux's times (`tcp_keepalive_time`, `_intvl`, `_probes`); RFC 1122 §4.2.3.6 asks for no less than the two hours.
    pub const LINUX: Self = Self { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 };
}
