//! Fast Open of the host: cookies that a listener issues and accepts, and those that a client has cached.

use crate::cookie_cache::ServerEntry;
use crate::packet::RxSegment;
use crate::socket::Settings;
use crate::syscall::SyscallResult;
use crate::sysctl;
use core::num::NonZeroU16;
use earlybird_tcp::{FastOpenOffer, FastOpenOutcome, FastOpenServer};
use earlybird_wire::FastOpen;

/// Bits of `net.ipv4.tcp_fastopen`.
const CLIENT: u64 = 1;
const SERVER: u64 = 2;
const CLIENT_WITHOUT_COOKIE: u64 = 4;
const SERVER_WITHOUT_COOKIE: u64 = 0x200;
/// Fast Open is on for all listeners.
const EVERY_LISTENER: u64 = 0x400;

fn flags() -> u64 {
    sysctl::value("tcp_fastopen", 1)
}

/// Checks that clients may use Fast Open.
pub(crate) fn is_on_for_clients() -> SyscallResult<()> {
    if flags() & CLIENT == 0 { Err(libc::EOPNOTSUPP) } else { Ok(()) }
}

/// The decision of a listener about a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Normal handshake.
    Plain,
    /// Normal handshake; the reply contains a cookie.
    SendCookie(FastOpen),
    /// The data is accepted; the reply may contain a newer cookie.
    Accept(Option<FastOpen>),
}

/// Decides how to handle a SYN (`tcp_try_fastopen`).
pub(crate) fn decide(settings: &Settings, received: &RxSegment) -> Decision {
    let flags = flags();
    let is_listener = settings.fast_open_queue.is_some_and(|queue| queue > 0) || flags & EVERY_LISTENER != 0;
    let option = received.segment.options.fast_open();
    let has_data = received.segment.len > 0;
    // Without an option or data there is nothing to decide.
    if flags & SERVER == 0 || !is_listener || !(has_data || option.is_some()) {
        return Decision::Plain;
    }
    if has_data && (flags & SERVER_WITHOUT_COOKIE != 0 || settings.fast_open_no_cookie) {
        return Decision::Accept(None);
    }
    let Some(option) = option else { return Decision::Plain };
    check(settings, received, option)
}

/// Compares a cookie with those of all keys, newest first.
fn check(settings: &Settings, received: &RxSegment, option: FastOpen) -> Decision {
    let keys = settings.fast_open_key.map_or_else(sysctl::fast_open_keys, |key| vec![key]);
    let addresses = received.addresses();
    let server = |key: &[u8; 16]| FastOpenServer { key: *key, backup_key: None, max_pending: 0, needs_cookie: true };
    // A backup key lets servers rotate keys without breaking cached cookies.
    let ours: Vec<FastOpen> = keys.iter().map(|key| server(key).cookie(&addresses)).collect();
    let newest = ours.first().map(|cookie| cookie.experimental(option.is_experimental()));
    match ours.iter().position(|cookie| cookie.as_slice() == option.as_slice()) {
        Some(0) => Decision::Accept(None),
        Some(_) => Decision::Accept(newest),
        None => newest.map_or(Decision::Plain, Decision::SendCookie),
    }
}

/// Returns the Fast Open offer of a client's SYN.
pub(crate) fn offer(settings: &Settings, cached: &ServerEntry) -> FastOpenOffer {
    let mss = cached.mss.and_then(NonZeroU16::new);
    match cached.cookie {
        // Without a known MSS, any size may be sent; the path decides.
        _ if needs_no_cookie(settings) => FastOpenOffer::WithoutCookie { mss: mss.or(NonZeroU16::new(u16::MAX)) },
        Some(cookie) => FastOpenOffer::Cookie { cookie, mss },
        None => FastOpenOffer::Request { is_experimental: cached.unanswered == 1 },
    }
}

/// Returns whether a client sends data without a cookie.
fn needs_no_cookie(settings: &Settings) -> bool {
    flags() & CLIENT_WITHOUT_COOKIE != 0 || settings.fast_open_no_cookie
}

/// Returns whether `connect` can be deferred until data can go with the SYN.
pub(crate) fn can_defer(settings: &Settings, cached: &ServerEntry) -> bool {
    cached.cookie.is_some() || needs_no_cookie(settings)
}

/// Caches the reply of a server (`tcp_rcv_fastopen_synack`).
pub(crate) fn remember(cached: &mut ServerEntry, change: &FastOpenOutcome, fast_open_offer: Option<FastOpenOffer>) {
    cached.mss = change.mss.map(NonZeroU16::get).or(cached.mss);
    if let Some(cookie) = change.cookie {
        cached.cookie = Some(cookie);
    } else if let Some(FastOpenOffer::Request { is_experimental }) =
        fast_open_offer.filter(|_| !change.was_retransmitted)
    {
        // RFC 7413 option first, then the experimental one; a server that ignores both is not asked again.
        cached.unanswered = cached.unanswered.max(if is_experimental { 2 } else { 1 });
    }
}
