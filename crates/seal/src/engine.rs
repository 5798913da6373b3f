//! The peers of a device, and the datagrams to and from them.

use crate::cookie::{self, COOKIE, Cookies, LIFETIME};
use crate::handshake::{Handshakes, Initiation, Started};
use crate::identities::Identities;
use crate::initiations::Initiations;
use crate::key::Key;
use crate::packet::{DATA_HEADER, ID, KeyId, Kind, OVERHEAD, TAG, split};
use crate::peer::{Peer, Pending};
use crate::random::RandomSource;
use crate::traffic_keys::{Opened, TrafficKeys};
use earlybird_live::device::{Path, RxPacket, TxQueue};
use earlybird_units::{Duration, Instant};
use earlybird_wire::Ecn;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The role of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Starts handshakes with those to whom the stack sends.
    Caller,
    /// Answers handshakes, and sends to nobody else.
    Listener,
}

/// Counters of dropped datagrams, which other threads may read.
#[derive(Debug, Default)]
pub struct Drops {
    undecrypted: AtomicU64,
    replayed: AtomicU64,
}

impl Drops {
    /// Returns the number of datagrams that were not made with the key, or were changed.
    pub fn undecrypted(&self) -> u64 {
        self.undecrypted.load(Ordering::Relaxed)
    }

    /// Returns the number of authentic datagrams that had been received before, or were too old to know.
    pub fn replayed(&self) -> u64 {
        self.replayed.load(Ordering::Relaxed)
    }
}

fn count(counter: &AtomicU64) -> bool {
    counter.fetch_add(1, Ordering::Relaxed);
    false
}

/// Control messages inside sealed datagrams: a kind and a token. An empty one confirms keys.
const CHALLENGE: u8 = 1;
const CHALLENGE_RETURNED: u8 = 2;
const CONTROL: usize = 9;

/// The largest difference of an initiation's time from the listener's clock.
const MOST_CLOCK_OFFSET_MS: u64 = LIFETIME.as_nanos() / 1_000_000;
/// Initiations without a cookie per second that a listener answers at once; further ones get a cookie.
const UNVALIDATED_PER_SECOND: u32 = 64;
/// The most peers of a listener; [`Limits::connections`](earlybird_live::Limits) has the same default.
const MOST_PEERS: usize = 4096;
/// The longest packet that an initiation carries in addition to old keys: a TCP header with all options (RFC 9293 §3.1).
const MOST_CARRIED_TWICE: usize = 60;
/// The interval at which peers without usable keys are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// The peers of a device.
#[derive(Debug)]
pub(crate) struct Engine {
    role: Role,
    /// One for each key: a caller has one.
    handshakes: Vec<Handshakes>,
    random: RandomSource,
    /// Milliseconds since 1970 at the clock's zero.
    unix_ms: u64,
    created: Instant,
    peers: BTreeMap<u64, Peer>,
    next_peer: u64,
    by_alias: BTreeMap<SocketAddr, u64>,
    by_id: BTreeMap<KeyId, u64>,
    /// Peers by the number of their key and their own id.
    by_caller: BTreeMap<(usize, KeyId), u64>,
    identities: Identities,
    /// The id of this caller.
    own_id: KeyId,
    cookies: Cookies,
    initiations: Initiations,
    second: Instant,
    unvalidated: u32,
    next_sweep: Instant,
    drops: Arc<Drops>,
}

impl Engine {
    pub(crate) fn new(
        role: Role,
        keys: Vec<Key>,
        random: RandomSource,
        unix_time: Duration,
        now: Instant,
    ) -> io::Result<Self> {
        Ok(Self {
            role,
            unix_ms: (unix_time.as_nanos() / 1_000_000).saturating_sub(now.as_nanos() / 1_000_000),
            created: now,
            peers: BTreeMap::new(),
            next_peer: 0,
            by_alias: BTreeMap::new(),
            by_id: BTreeMap::new(),
            by_caller: BTreeMap::new(),
            own_id: KeyId::of(random.bytes::<ID>()?),
            cookies: Cookies::new(&random, now)?,
            initiations: Initiations::default(),
            second: now,
            unvalidated: 0,
            next_sweep: now + SWEEP_INTERVAL,
            drops: Arc::default(),
            handshakes: keys.into_iter().map(|key| Handshakes::new(key, random.clone())).collect(),
            identities: Identities::default(),
            random,
        })
    }

    pub(crate) fn drops(&self) -> Arc<Drops> {
        Arc::clone(&self.drops)
    }

    pub(crate) fn identities(&self) -> Identities {
        self.identities.clone()
    }

    /// Returns the address of the peer that the stack knows by another one.
    pub(crate) fn address_of(&self, alias: SocketAddr) -> Option<SocketAddr> {
        self.by_alias.get(&alias).and_then(|number| self.peers.get(number)).map(|peer| peer.address)
    }

    /// Returns the address by which the stack knows a peer.
    pub(crate) fn alias_of(&self, address: SocketAddr) -> Option<SocketAddr> {
        self.peers.values().find(|peer| peer.address == address).map(|peer| peer.alias)
    }

    /// Changes the secret of cookies and removes peers when it is time.
    pub(crate) fn update(&mut self, now: Instant) -> io::Result<()> {
        if self.role == Role::Caller || now < self.next_sweep {
            return Ok(());
        }
        self.next_sweep = now + SWEEP_INTERVAL;
        self.cookies.update(&self.random, now)?;
        self.peers.retain(|_, peer| peer.keys.iter().any(|keys| keys.is_usable(now)));
        let peers = &self.peers;
        self.by_alias.retain(|_, number| peers.contains_key(number));
        self.by_id.retain(|_, number| peers.contains_key(number));
        self.by_caller.retain(|_, number| peers.contains_key(number));
        self.identities.retain(|alias| self.by_alias.contains_key(alias));
        Ok(())
    }

    fn now_unix_ms(&self, now: Instant) -> u64 {
        self.unix_ms + now.as_nanos() / 1_000_000
    }

    /// Processes a received datagram; answers are appended to `out`. Returns whether `packet` then is a packet for the stack.
    pub(crate) fn open(&mut self, now: Instant, datagram: &mut [u8], packet: &mut RxPacket, out: &mut TxQueue) -> bool {
        let done = match split(datagram).map(|(kind, id, _)| (kind, id, self.role)) {
            Some((kind @ (Kind::Data | Kind::Control), id, _)) => self.on_sealed(now, kind, id, datagram, packet, out),
            Some((Kind::Initiation, _, Role::Listener)) => self.on_initiation(now, datagram, packet, out),
            Some((Kind::Response, id, Role::Caller)) => self.on_response(now, id, datagram, out),
            Some((Kind::Cookie, id, Role::Caller)) => self.on_cookie(now, id, datagram, out),
            _ => None,
        };
        done.unwrap_or_else(|| count(&self.drops.undecrypted))
    }

    fn on_sealed(
        &mut self,
        now: Instant,
        kind: Kind,
        id: KeyId,
        datagram: &mut [u8],
        packet: &mut RxPacket,
        out: &mut TxQueue,
    ) -> Option<bool> {
        let peer = self.by_id.get(&id).and_then(|number| self.peers.get_mut(number))?;
        let keys = peer.keys.iter_mut().find(|keys| keys.local == id && keys.is_usable(now))?;
        let is_newest = match keys.open(datagram) {
            Opened::Authentic { is_newest } => is_newest,
            Opened::Replayed => return Some(count(&self.drops.replayed)),
            Opened::Forged => return None,
        };
        peer.on_authentic(kind == Kind::Data);
        for id in peer.confirm(id) {
            self.by_id.remove(&id);
        }
        let remote = packet.path.remote;
        if self.role == Role::Listener && is_newest && remote != peer.address {
            challenge(peer, &self.random, now, packet.path, out);
        }
        if kind == Kind::Control {
            on_control(peer, now, &datagram[DATA_HEADER..datagram.len() - TAG], packet.path, out);
            return Some(false);
        }
        packet.range = packet.range.start + DATA_HEADER..packet.range.end - TAG;
        packet.path.remote = peer.alias;
        Some(true)
    }

    fn on_initiation(
        &mut self,
        now: Instant,
        datagram: &mut [u8],
        packet: &mut RxPacket,
        out: &mut TxQueue,
    ) -> Option<bool> {
        // The MAC tells which key it is, and no datagram names a caller.
        let read = |(identity, handshakes): (_, &Handshakes)| Some((identity, handshakes.read_initiation(datagram)?));
        let (identity, (started, initiation)) = self.handshakes.iter().enumerate().find_map(read)?;
        if self.initiations.contains(&started.ephemeral) {
            return Some(count(&self.drops.replayed));
        }
        if !self.is_accepted(now, &initiation, packet.path.remote) {
            let cookie = self.cookies.of(packet.path.remote);
            let nonce = self.random.bytes().ok()?;
            let reply =
                cookie::reply(self.handshakes[identity].key(), &started.ephemeral, initiation.id, cookie, nonce)?;
            append(out, packet.path, Ecn::NotCapable, &reply);
            return Some(false);
        }
        if !self.initiations.insert(started.ephemeral, now) {
            return Some(false);
        }
        let sender = (identity, datagram.len(), packet.path);
        let alias = self.respond(now, started, &initiation, sender, out)?;
        let inside = &initiation.datagram;
        datagram[..inside.len()].copy_from_slice(inside);
        packet.range = packet.range.start..packet.range.start + inside.len();
        packet.path.remote = alias;
        Some(!inside.is_empty())
    }

    /// Returns whether an initiation cannot be a recording of an earlier run, or of longer ago than initiations are remembered. One whose
    /// clock is wrong needs a cookie, and all do that come in excess of the rate.
    fn is_accepted(&mut self, now: Instant, initiation: &Initiation, from: SocketAddr) -> bool {
        if self.cookies.is_valid(&initiation.cookie, from) {
            return true;
        }
        let is_timely = initiation.unix_ms.abs_diff(self.now_unix_ms(now)) < MOST_CLOCK_OFFSET_MS
            && initiation.unix_ms >= self.now_unix_ms(self.created);
        if now - self.second >= Duration::from_secs(1) {
            (self.second, self.unvalidated) = (now, 0);
        }
        let is_allowed = is_timely && self.unvalidated < UNVALIDATED_PER_SECOND;
        self.unvalidated += u32::from(is_allowed);
        is_allowed
    }

    /// Answers an initiation. Returns the address by which the stack knows the peer.
    fn respond(
        &mut self,
        now: Instant,
        started: Started,
        initiation: &Initiation,
        (identity, received, path): (usize, usize, Path),
        out: &mut TxQueue,
    ) -> Option<SocketAddr> {
        let number = self.peer_of_caller((identity, initiation.caller), path.remote)?;
        let id = self.new_id(number)?;
        let (response, keys) = started.respond(initiation.id, id)?;
        let keys = TrafficKeys::of_listener([id, initiation.id], &keys, now, path.remote)?;
        let peer = self.peers.get_mut(&number)?;
        peer.count_received(received);
        for removed in peer.add_keys(keys, now) {
            self.by_id.remove(&removed);
        }
        if peer.may_send(response.len()) {
            append(out, path, Ecn::NotCapable, &response);
        }
        Some(peer.alias)
    }

    fn peer_of_caller(&mut self, caller: (usize, KeyId), from: SocketAddr) -> Option<u64> {
        if let Some(number) = self.by_caller.get(&caller) {
            return Some(*number);
        }
        // Those who know one key must not take the places of those who know another.
        let own = self.by_caller.range((caller.0, KeyId(0))..(caller.0 + 1, KeyId(0))).count();
        if own >= MOST_PEERS / self.handshakes.len() {
            return None;
        }
        // Another caller may have had the address before a NAT gave it to this one.
        let ports = (0..=u16::MAX).map(|step| SocketAddr::new(from.ip(), from.port().wrapping_add(step)));
        let alias = ports.into_iter().find(|alias| !self.by_alias.contains_key(alias))?;
        let number = self.add_peer(Peer::new(alias, from));
        self.by_caller.insert(caller, number);
        self.identities.insert(alias, caller.0);
        Some(number)
    }

    fn add_peer(&mut self, peer: Peer) -> u64 {
        let number = self.next_peer;
        self.next_peer += 1;
        self.by_alias.insert(peer.alias, number);
        self.peers.insert(number, peer);
        number
    }

    /// Chooses an id for keys of a peer.
    fn new_id(&mut self, number: u64) -> Option<KeyId> {
        loop {
            let id = KeyId::of(self.random.bytes::<ID>().ok()?);
            if id != KeyId::default() && !self.by_id.contains_key(&id) {
                self.by_id.insert(id, number);
                return Some(id);
            }
        }
    }

    fn on_response(&mut self, now: Instant, id: KeyId, datagram: &[u8], out: &mut TxQueue) -> Option<bool> {
        let (_, _, message) = split(datagram)?;
        let peer = self.by_id.get(&id).and_then(|number| self.peers.get_mut(number))?;
        let (remote, keys) = peer.finish(id, message)?;
        let keys = TrafficKeys::of_caller([id, remote], &keys, now, peer.address)?;
        peer.on_authentic(false);
        for removed in peer.add_keys(keys, now) {
            self.by_id.remove(&removed);
        }
        // The listener uses new keys once it knows that this side has them.
        send_control(peer, now, &[], Path::over_udp(peer.address), out);
        for (path, ecn, text) in peer.take_waiting() {
            self.seal(now, path, ecn, &text, out);
        }
        Some(false)
    }

    fn on_cookie(&mut self, now: Instant, id: KeyId, datagram: &[u8], out: &mut TxQueue) -> Option<bool> {
        let number = *self.by_id.get(&id)?;
        let peer = self.peers.get_mut(&number)?;
        let index = peer.pending.iter().position(|pending| pending.id == id)?;
        let cookie =
            cookie::read_reply(self.handshakes.first()?.key(), &peer.pending[index].started.ephemeral, datagram)?;
        // A listener that does not accept its own cookie must not cause a loop.
        if peer.pending[index].cookie != cookie {
            let answered = peer.pending.remove(index);
            peer.cookie = cookie;
            self.by_id.remove(&id);
            self.initiate(now, number, answered.datagram, out);
        }
        Some(false)
    }

    /// Starts a handshake whose first message carries a packet.
    fn initiate(&mut self, now: Instant, number: u64, datagram: Vec<u8>, out: &mut TxQueue) -> Option<()> {
        let id = self.new_id(number)?;
        let peer = self.peers.get_mut(&number)?;
        let cookie: [u8; COOKIE] = peer.cookie;
        let unix_ms = self.unix_ms + now.as_nanos() / 1_000_000;
        let initiation = Initiation { id, caller: self.own_id, unix_ms, cookie, datagram };
        let (started, first) = self.handshakes.first()?.initiate(&initiation)?;
        let pending = Pending { id, started, cookie, datagram: initiation.datagram };
        if let Some(removed) = peer.add_pending(pending, now) {
            self.by_id.remove(&removed);
        }
        append(out, Path::over_udp(peer.address), Ecn::NotCapable, &first);
        Some(())
    }

    /// Appends a packet of the stack to `out`, sealed. A packet to an unknown peer of a listener is dropped.
    pub(crate) fn seal(&mut self, now: Instant, path: Path, ecn: Ecn, text: &[u8], out: &mut TxQueue) {
        let alias = path.remote;
        let number = match self.by_alias.get(&alias) {
            Some(number) => *number,
            None if self.role == Role::Listener => return,
            None => self.add_peer(Peer::new(alias, alias)),
        };
        let Some(peer) = self.peers.get_mut(&number) else { return };
        let has_keys = peer.sending_keys(now).is_some();
        if self.role == Role::Caller && peer.is_initiation_due(now) {
            // A listener that has lost the keys answers a SYN or a probe at once, while one that has not gets it twice.
            let is_carried = !has_keys || (peer.is_unanswered(now) && text.len() <= MOST_CARRIED_TWICE);
            let carried = if is_carried { text.to_vec() } else { Vec::new() };
            // Without random bytes, the packet is lost.
            let _ = self.initiate(now, number, carried, out);
            if !has_keys {
                return;
            }
        }
        let Some(peer) = self.peers.get_mut(&number) else { return };
        if !has_keys {
            peer.wait(path, ecn, text);
        } else if self.role == Role::Caller || peer.may_send(text.len() + usize::from(OVERHEAD)) {
            peer.on_sent(now);
            seal_to(peer, now, Kind::Data, text, Path { remote: peer.address, ..path }, ecn, out);
        }
    }
}

fn append(out: &mut TxQueue, path: Path, ecn: Ecn, datagram: &[u8]) {
    let _ = out.add(path, ecn, datagram.len(), |into| {
        into.copy_from_slice(datagram);
        Ok::<_, ()>(datagram.len())
    });
}

fn seal_to(peer: &mut Peer, now: Instant, kind: Kind, text: &[u8], path: Path, ecn: Ecn, out: &mut TxQueue) {
    let Some(keys) = peer.sending_keys(now) else { return };
    let length = text.len() + usize::from(OVERHEAD);
    let _ = out.add(path, ecn, length, |into| keys.seal(kind, text, into).ok_or(()));
}

fn send_control(peer: &mut Peer, now: Instant, text: &[u8], path: Path, out: &mut TxQueue) {
    seal_to(peer, now, Kind::Control, text, path, Ecn::NotCapable, out);
}

/// Asks a peer at a new address to return a token from there.
fn challenge(peer: &mut Peer, random: &RandomSource, now: Instant, path: Path, out: &mut TxQueue) {
    if !peer.is_challenge_due(path.remote, now) {
        return;
    }
    let Ok(token) = random.bytes::<8>() else { return };
    peer.challenge(path.remote, u64::from_le_bytes(token), now);
    send_control(peer, now, &[&[CHALLENGE][..], &token].concat(), path, out);
}

fn on_control(peer: &mut Peer, now: Instant, text: &[u8], path: Path, out: &mut TxQueue) {
    let Ok([kind, token @ ..]) = <[u8; CONTROL]>::try_from(text) else { return };
    match kind {
        CHALLENGE => {
            let answer = [&[CHALLENGE_RETURNED][..], &token].concat();
            send_control(peer, now, &answer, Path { remote: peer.address, ..path }, out);
        }
        CHALLENGE_RETURNED => peer.on_challenge_returned(path.remote, u64::from_le_bytes(token)),
        _ => {}
    }
}
