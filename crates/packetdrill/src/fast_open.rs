//! Fast Open on the host's side: which cookies a listener gives and takes, what a client remembers of servers.

use crate::calls::Answer;
use crate::cookies::Remembered;
use crate::packet::Arrival;
use crate::socket::Settings;
use crate::sysctl;
use core::num::NonZeroU16;
use earlybird_tcp::{FastOpenOffer, FastOpenOutcome, FastOpenServer};
use earlybird_wire::FastOpen;

/// Bits of `net.ipv4.tcp_fastopen`.
const CLIENT: u64 = 1;
const SERVER: u64 = 2;
const CLIENT_WITHOUT_COOKIE: u64 = 4;
const SERVER_WITHOUT_COOKIE: u64 = 0x200;
/// Every listener is one of Fast Open, with a queue that `listen` sets.
const EVERY_LISTENER: u64 = 0x400;

fn flags() -> u64 {
    sysctl::number("tcp_fastopen", 1)
}

/// Returns whether clients may use it.
pub(crate) fn is_on_for_clients() -> Answer<()> {
    if flags() & CLIENT == 0 { Err(libc::EOPNOTSUPP) } else { Ok(()) }
}

/// What a listener makes of a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// A handshake as any other.
    Plain,
    /// A handshake as any other, and a cookie goes back.
    Give(FastOpen),
    /// What the SYN carries is taken; a newer cookie may go back.
    Take(Option<FastOpen>),
}

/// Decides about a SYN (`tcp_try_fastopen`).
pub(crate) fn decide(settings: &Settings, arrival: &Arrival) -> Decision {
    let flags = flags();
    let is_listener = settings.fast_open_queue.is_some_and(|queue| queue > 0) || flags & EVERY_LISTENER != 0;
    let option = arrival.segment.options.fast_open();
    let has_data = arrival.segment.len > 0;
    if flags & SERVER == 0 || !is_listener || !(has_data || option.is_some()) {
        return Decision::Plain;
    }
    if has_data && (flags & SERVER_WITHOUT_COOKIE != 0 || settings.fast_open_no_cookie) {
        return Decision::Take(None);
    }
    let Some(option) = option else { return Decision::Plain };
    check(settings, arrival, option)
}

/// Compares a cookie with those that the keys make, the newest first.
fn check(settings: &Settings, arrival: &Arrival, option: FastOpen) -> Decision {
    let keys = settings.fast_open_key.map_or_else(sysctl::fast_open_keys, |key| vec![key]);
    let addresses = arrival.addresses();
    let server = |key: &[u8; 16]| FastOpenServer { key: *key, backup_key: None, max_pending: 0, needs_cookie: true };
    let ours: Vec<FastOpen> = keys.iter().map(|key| server(key).cookie(&addresses)).collect();
    let newest = ours.first().map(|cookie| cookie.experimental(option.is_experimental()));
    match ours.iter().position(|cookie| cookie.as_slice() == option.as_slice()) {
        Some(0) => Decision::Take(None),
        Some(_) => Decision::Take(newest),
        None => newest.map_or(Decision::Plain, Decision::Give),
    }
}

/// Returns what a client's SYN asks for or uses.
pub(crate) fn offer(settings: &Settings, remembered: &Remembered) -> FastOpenOffer {
    let mss = remembered.mss.and_then(NonZeroU16::new);
    match remembered.cookie {
        _ if may_do_without(settings) => FastOpenOffer::WithoutCookie { mss: mss.or(NonZeroU16::new(u16::MAX)) },
        Some(cookie) => FastOpenOffer::Cookie { cookie, mss },
        None => FastOpenOffer::Request { is_experimental: remembered.unanswered == 1 },
    }
}

/// Returns whether a client sends data without any cookie.
fn may_do_without(settings: &Settings) -> bool {
    flags() & CLIENT_WITHOUT_COOKIE != 0 || settings.fast_open_no_cookie
}

/// Returns whether data can go with the SYN: `connect` waits for it then.
pub(crate) fn can_defer(settings: &Settings, remembered: &Remembered) -> bool {
    remembered.cookie.is_some() || may_do_without(settings)
}

/// Remembers what a server answered (`tcp_rcv_fastopen_synack`).
pub(crate) fn remember(remembered: &mut Remembered, outcome: &FastOpenOutcome, asked: Option<FastOpenOffer>) {
    remembered.mss = outcome.mss.map(NonZeroU16::get).or(remembered.mss);
    if let Some(cookie) = outcome.cookie {
        remembered.cookie = Some(cookie);
    } else if let Some(FastOpenOffer::Request { is_experimental }) = asked.filter(|_| !outcome.was_repeated) {
        remembered.unanswered = remembered.unanswered.max(if is_experimental { 2 } else { 1 });
    }
}
