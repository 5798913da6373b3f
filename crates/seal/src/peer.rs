//! One peer: its addresses, keys and handshakes.

use crate::cookie::COOKIE;
use crate::handshake::{Split, Started};
use crate::packet::KeyId;
use crate::traffic_keys::TrafficKeys;
use earlybird_live::device::Path;
use earlybird_units::{Duration, Instant};
use earlybird_wire::Ecn;
use std::net::SocketAddr;

/// The most sets of keys, and of handshakes, that a peer has at once: on a path of long delay, a handshake is repeated before its
/// response can arrive. Enough for four seconds.
const MOST_KEYS: usize = 8;
/// The least time between two initiations to a peer.
const INITIATION_INTERVAL: Duration = Duration::from_millis(500);
/// The least time between two initiations that renew usable keys (`WireGuard`'s `REKEY_TIMEOUT`).
const RENEWAL_INTERVAL: Duration = Duration::from_secs(5);
/// The time without an authentic datagram, while datagrams are sent, after which the listener may have restarted: then it has lost the
/// keys. As often as handshakes without keys are repeated.
const UNANSWERED: Duration = INITIATION_INTERVAL;
/// The largest such time: it is doubled while a listener answers handshakes and nothing else.
const LONGEST_UNANSWERED: Duration = Duration::from_secs(60);
/// The least time between two challenges to a new address.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(200);
/// A peer whose address is not validated gets at most this multiple of the bytes it has sent (RFC 9000 §8.1).
const AMPLIFICATION: u64 = 3;
/// The most packets that wait for a response.
const MOST_WAITING: usize = 8;

/// A handshake of a caller that waits for its response.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) id: KeyId,
    pub(crate) started: Started,
    /// The cookie that it has sent.
    pub(crate) cookie: [u8; COOKIE],
    pub(crate) datagram: Vec<u8>,
}

/// An address from which the peer's newest datagram came, and to which nothing but a challenge is sent until the peer returns it.
#[derive(Debug)]
pub(crate) struct NewAddress {
    pub(crate) address: SocketAddr,
    pub(crate) token: u64,
    challenged: Instant,
}

/// A peer.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The address by which the stack knows the peer: the one of its first datagram.
    pub(crate) alias: SocketAddr,
    /// The address to which datagrams are sent.
    pub(crate) address: SocketAddr,
    pub(crate) new_address: Option<NewAddress>,
    /// The newest last.
    pub(crate) keys: Vec<TrafficKeys>,
    /// The newest last.
    pub(crate) pending: Vec<Pending>,
    last_initiation: Option<Instant>,
    /// The first datagram that was sent after the last authentic one was received.
    unanswered_since: Option<Instant>,
    /// The time after which a datagram counts as unanswered.
    unanswered_after: Duration,
    pub(crate) cookie: [u8; COOKIE],
    /// Bytes received from an address that is not validated, and sent to it.
    received: u64,
    sent: u64,
    /// Packets that wait for the response.
    waiting: Vec<(Path, Ecn, Vec<u8>)>,
}

impl Peer {
    pub(crate) const fn new(alias: SocketAddr, address: SocketAddr) -> Self {
        Self {
            alias,
            address,
            new_address: None,
            keys: Vec::new(),
            pending: Vec::new(),
            last_initiation: None,
            unanswered_since: None,
            unanswered_after: UNANSWERED,
            cookie: [0; COOKIE],
            received: 0,
            sent: 0,
            waiting: Vec::new(),
        }
    }

    /// Returns the keys to send with: the newest that the peer is known to have, or else the newest.
    pub(crate) fn sending_keys(&mut self, now: Instant) -> Option<&mut TrafficKeys> {
        let is_usable = |keys: &&mut TrafficKeys| keys.is_usable(now);
        let index = match self.keys.iter().rposition(|keys| keys.is_confirmed && keys.is_usable(now)) {
            Some(index) => index,
            None => self.keys.len().checked_sub(1)?,
        };
        self.keys.get_mut(index).filter(is_usable)
    }

    /// Returns whether the peer has shown that it receives at its address.
    fn is_validated(&self) -> bool {
        self.keys.iter().any(|keys| keys.is_confirmed)
    }

    /// Counts bytes from an address that is not validated.
    pub(crate) const fn count_received(&mut self, bytes: usize) {
        self.received += bytes as u64;
    }

    /// Counts bytes to be sent. Returns whether they may be sent.
    pub(crate) fn may_send(&mut self, bytes: usize) -> bool {
        if self.is_validated() {
            return true;
        }
        let is_allowed = self.sent + bytes as u64 <= AMPLIFICATION * self.received;
        self.sent += if is_allowed { bytes as u64 } else { 0 };
        is_allowed
    }

    /// Adds keys. Returns the ids of those that were removed for them.
    pub(crate) fn add_keys(&mut self, keys: TrafficKeys, now: Instant) -> Vec<KeyId> {
        let mut removed: Vec<_> = self.keys.extract_if(.., |old| !old.is_usable(now)).map(|old| old.local).collect();
        if self.keys.len() == MOST_KEYS {
            // The keys in use must not be pushed out by handshakes that are never confirmed.
            let in_use = self.keys.iter().rposition(|keys| keys.is_confirmed);
            removed.push(self.keys.remove(usize::from(in_use == Some(0))).local);
        }
        self.keys.push(keys);
        removed
    }

    /// Marks keys as confirmed: the address of their handshake is validated. Returns the ids of older keys that nobody will use.
    pub(crate) fn confirm(&mut self, id: KeyId) -> Vec<KeyId> {
        let Some(index) = self.keys.iter().position(|keys| keys.local == id) else { return Vec::new() };
        if self.keys[index].is_confirmed {
            return Vec::new();
        }
        self.keys[index].is_confirmed = true;
        self.address = self.keys[index].address;
        let newest = self.keys[index].local;
        let mut is_older = true;
        let removed = self.keys.extract_if(.., |keys| {
            is_older &= keys.local != newest;
            is_older && !keys.is_confirmed
        });
        removed.map(|keys| keys.local).collect()
    }

    /// Returns whether the peer has not answered for so long that it may have lost the keys.
    pub(crate) fn is_unanswered(&self, now: Instant) -> bool {
        self.unanswered_since.is_some_and(|since| now - since >= self.unanswered_after)
    }

    /// Returns whether an initiation is due with a packet that is sent now.
    pub(crate) fn is_initiation_due(&self, now: Instant) -> bool {
        let newest = self.keys.last().filter(|keys| keys.is_usable(now));
        let interval = match newest {
            None => INITIATION_INTERVAL,
            Some(_) if self.is_unanswered(now) => self.unanswered_after,
            Some(keys) if keys.is_renewal_due(now) => RENEWAL_INTERVAL,
            Some(_) => return false,
        };
        self.last_initiation.is_none_or(|last| now - last >= interval)
    }

    /// Adds a handshake that was started. Returns the id of one that is given up for it.
    pub(crate) fn add_pending(&mut self, pending: Pending, now: Instant) -> Option<KeyId> {
        self.last_initiation = Some(now);
        let removed = (self.pending.len() == MOST_KEYS).then(|| self.pending.remove(0).id);
        self.pending.push(pending);
        removed
    }

    /// Completes a handshake of a caller. Returns its keys' ids and secrets.
    pub(crate) fn finish(&mut self, id: KeyId, message: &[u8]) -> Option<(KeyId, Split)> {
        let index = self.pending.iter().position(|pending| pending.id == id)?;
        let finished = self.pending[index].started.finish(message)?;
        self.pending.remove(index);
        // Not before: a listener that is away must be found as soon as it is back.
        self.unanswered_after = (self.unanswered_after + self.unanswered_after).min(LONGEST_UNANSWERED);
        Some(finished)
    }

    /// Keeps a packet until the response arrives.
    pub(crate) fn wait(&mut self, path: Path, ecn: Ecn, packet: &[u8]) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push((path, ecn, packet.to_vec()));
        }
    }

    pub(crate) fn take_waiting(&mut self) -> Vec<(Path, Ecn, Vec<u8>)> {
        std::mem::take(&mut self.waiting)
    }

    pub(crate) fn on_sent(&mut self, now: Instant) {
        self.unanswered_since.get_or_insert(now);
    }

    /// Notes an authentic datagram, which contains a packet if `has_packet`.
    pub(crate) const fn on_authentic(&mut self, has_packet: bool) {
        self.unanswered_since = None;
        if has_packet {
            self.unanswered_after = UNANSWERED;
        }
    }

    /// Returns whether a challenge is due to an address from which the newest datagram came.
    pub(crate) fn is_challenge_due(&self, address: SocketAddr, now: Instant) -> bool {
        let recent = self.new_address.as_ref().filter(|new| now - new.challenged < CHALLENGE_INTERVAL);
        recent.is_none_or(|new| new.address != address)
    }

    pub(crate) fn challenge(&mut self, address: SocketAddr, token: u64, now: Instant) {
        self.new_address = Some(NewAddress { address, token, challenged: now });
    }

    /// Moves the peer to a new address if it has returned the challenge from there.
    pub(crate) fn on_challenge_returned(&mut self, address: SocketAddr, token: u64) {
        if self.new_address.take_if(|new| new.address == address && new.token == token).is_some() {
            self.address = address;
        }
    }
}
