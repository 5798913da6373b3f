//! A caller and a listener over a network in memory, which records and changes what it carries.

use earlybird_live::device::{Device, Memory, MemoryPacket, Path};
use earlybird_live::{Event, Id, ManualClock, Settings, Stack};
use earlybird_seal::{Drops, Identities, Key, RandomSource, Role, Sealed};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::Duration;
use std::net::SocketAddr;
use std::sync::Arc;

pub(crate) const PORT: u16 = 4201;

pub(crate) fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], port))
}

/// A sequence of bytes that depends on `seed` (`SplitMix64`).
pub(crate) fn random(seed: u64) -> RandomSource {
    let mut state = seed;
    RandomSource::new(move |bytes| {
        for byte in bytes {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            *byte = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB).to_le_bytes()[7];
        }
        Ok(())
    })
}

/// One side: its stack, and the network's end of its link.
pub(crate) struct Side<D> {
    pub(crate) stack: Stack<D, ManualClock>,
    pub(crate) wire: Memory,
    pub(crate) address: SocketAddr,
}

/// The state of a side with encryption.
pub(crate) struct SealedSide {
    pub(crate) side: Side<Sealed<Memory, ManualClock>>,
    pub(crate) drops: Arc<Drops>,
}

pub(crate) fn plain(clock: &ManualClock, address: SocketAddr) -> Side<Memory> {
    let (device, wire) = Memory::udp_pair(1500, [address; 2]);
    let stack = Stack::new(device, clock.clone(), Settings::deterministic(address.port().into(), &[])).expect("valid");
    Side { stack, wire, address }
}

/// Creates a side whose clock differs by `offset` seconds from 2026.
pub(crate) fn sealed(clock: &ManualClock, address: SocketAddr, role: Role, key: u8, offset: i64) -> SealedSide {
    let (device, wire) = Memory::udp_pair(1500, [address; 2]);
    let unix =
        Duration::from_secs(1_795_000_000_u64.saturating_add_signed(offset)) + Duration::from_nanos(clock.now_nanos());
    let seed = u64::from(address.port()) << 32 | clock.now_nanos();
    let device = Sealed::new(device, clock.clone(), role, Key::new([key; 32]), random(seed), unix).expect("valid");
    let drops = device.drops();
    let stack = Stack::new(device, clock.clone(), Settings::deterministic(address.port().into(), &[])).expect("valid");
    SealedSide { side: Side { stack, wire, address }, drops }
}

/// Creates a listener whose callers have these keys.
pub(crate) fn listener_of(
    clock: &ManualClock,
    address: SocketAddr,
    keys: &[u8],
) -> (Side<Sealed<Memory, ManualClock>>, Arc<Drops>, Identities) {
    let (device, wire) = Memory::udp_pair(1500, [address; 2]);
    let unix = Duration::from_secs(1_795_000_000) + Duration::from_nanos(clock.now_nanos());
    let keys = keys.iter().map(|key| Key::new([*key; 32])).collect();
    let device = Sealed::with_keys(device, clock.clone(), Role::Listener, keys, random(7), unix).expect("valid");
    let (drops, identities) = (device.drops(), device.identities());
    let stack = Stack::new(device, clock.clone(), Settings::deterministic(7, &[])).expect("valid");
    (Side { stack, wire, address }, drops, identities)
}

pub(crate) trait Nanos {
    fn now_nanos(&self) -> u64;
}

impl Nanos for ManualClock {
    fn now_nanos(&self) -> u64 {
        earlybird_live::Clock::now(self).as_nanos()
    }
}

/// Moves datagrams from one side to another. `change` may drop or change them.
pub(crate) fn carry<A: Device, B: Device>(
    from: &Side<A>,
    to: &Side<B>,
    change: &mut impl FnMut(MemoryPacket) -> Option<MemoryPacket>,
) -> Vec<MemoryPacket> {
    let mut carried = Vec::new();
    while let Some(packet) = from.wire.take() {
        if packet.to == to.address
            && let Some(packet) = change(packet)
        {
            to.wire.put(packet.clone()).expect("there is room");
            carried.push(packet);
        }
    }
    carried
}

/// Runs both stacks for some milliseconds over a path with a one-way delay of one millisecond.
pub(crate) fn run<A: Device, B: Device>(
    clock: &ManualClock,
    caller: &mut Side<A>,
    listener: &mut Side<B>,
    milliseconds: u64,
    change: &mut impl FnMut(MemoryPacket) -> Option<MemoryPacket>,
) -> Vec<MemoryPacket> {
    let mut all = Vec::new();
    for _ in 0..milliseconds {
        clock.advance(Duration::from_millis(1));
        caller.stack.turn().expect("memory");
        listener.stack.turn().expect("memory");
        all.extend(carry(caller, listener, change));
        all.extend(carry(listener, caller, change));
    }
    all
}

pub(crate) fn listen<D: Device>(side: &mut Side<D>) {
    side.stack.listen(PORT, &Config::linux(), ListenConfig::default()).expect("a free port");
}

pub(crate) fn connect<D: Device>(side: &mut Side<D>, to: SocketAddr) -> Id {
    side.stack.connect(&Config::linux(), Path::over_udp(to), PORT).expect("a free port")
}

pub(crate) fn events<D: Device>(side: &mut Side<D>) -> Vec<Event> {
    std::iter::from_fn(|| side.stack.poll_event()).map(|(_, event)| event).collect()
}

pub(crate) fn read<D: Device>(side: &mut Side<D>, id: Id) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 20];
    let length = side.stack.read(id, &mut bytes).expect("it is open");
    bytes.truncate(length);
    bytes
}
