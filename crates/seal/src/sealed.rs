//! A device that seals the datagrams of another one.

use crate::engine::{Drops, Engine, Role};
use crate::identities::Identities;
use crate::key::Key;
use crate::packet::OVERHEAD;
use crate::random::RandomSource;
use earlybird_live::Clock;
use earlybird_live::device::{Device, Encapsulation, RxQueue, TxQueue};
use earlybird_units::Duration;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// A device whose datagrams are encrypted and authenticated. Its packets are shorter than those of the device below by [`OVERHEAD`].
///
/// Nothing is sent to anybody who has not shown that it knows the key. The stack knows each peer by the address of its first datagram,
/// also after that has changed.
#[derive(Debug)]
pub struct Sealed<D, C> {
    device: D,
    clock: C,
    engine: Engine,
    out: TxQueue,
    /// The packets of the stack's queue that are in `out` and not yet sent.
    taken: usize,
}

impl<D: Device, C: Clock> Sealed<D, C> {
    /// Wraps a device. `unix_time` is the time since 1970 by the machine's clock, which may be wrong: then the handshake takes one round
    /// trip more.
    ///
    /// # Errors
    ///
    /// If there are no random bytes, or the device carries IP packets.
    pub fn new(
        device: D,
        clock: C,
        role: Role,
        key: Key,
        random: RandomSource,
        unix_time: Duration,
    ) -> io::Result<Self> {
        Self::with_keys(device, clock, role, vec![key], random, unix_time)
    }

    /// Wraps a device with several keys, one for each caller of a listener; [`Self::identities`] has the number of each caller's key. A caller
    /// uses the first.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn with_keys(
        device: D,
        clock: C,
        role: Role,
        keys: Vec<Key>,
        random: RandomSource,
        unix_time: Duration,
    ) -> io::Result<Self> {
        if device.encapsulation() != Encapsulation::Udp {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "only datagrams of UDP are sealed"));
        }
        let engine = Engine::new(role, keys, random, unix_time, clock.now())?;
        Ok(Self { device, clock, engine, out: TxQueue::default(), taken: 0 })
    }

    /// Returns the numbers of the keys of peers.
    pub fn identities(&self) -> Identities {
        self.engine.identities()
    }

    /// Returns the counters of dropped datagrams.
    pub fn drops(&self) -> Arc<Drops> {
        self.engine.drops()
    }
}

impl<D: Device, C: Clock> Device for Sealed<D, C> {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp
    }

    fn mtu(&self) -> u16 {
        self.device.mtu().saturating_sub(OVERHEAD)
    }

    fn has_black_holes(&self) -> bool {
        self.device.has_black_holes()
    }

    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()> {
        self.device.receive(rx)?;
        let now = self.clock.now();
        self.engine.update(now)?;
        rx.retain_mut(|bytes, packet| {
            let range = packet.range.clone();
            self.engine.open(now, &mut bytes[range], packet, &mut self.out)
        });
        Ok(())
    }

    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()> {
        // The packets stay in the stack's queue until the device has accepted all of them, so that the stack knows that it is congested.
        if self.taken == 0 && !tx.is_empty() {
            let now = self.clock.now();
            for packet in tx.pending() {
                self.engine.seal(now, packet.path, packet.ecn, tx.bytes(packet.range.clone()), &mut self.out);
            }
            self.taken = tx.pending().len();
        }
        self.device.send(&mut self.out)?;
        if self.out.is_empty() {
            tx.advance(std::mem::take(&mut self.taken));
        }
        Ok(())
    }

    fn route_mtu(&self, remote: SocketAddr) -> Option<u16> {
        let address = self.engine.address_of(remote).unwrap_or(remote);
        self.device.route_mtu(address).map(|mtu| mtu.saturating_sub(OVERHEAD))
    }

    fn take_too_long(&mut self) -> Option<SocketAddr> {
        let address = self.device.take_too_long()?;
        Some(self.engine.alias_of(address).unwrap_or(address))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.device.descriptor()
    }
}
