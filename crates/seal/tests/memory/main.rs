//! Sealed devices in memory, under a clock that only moves when it is set.

mod network;

use earlybird_live::device::MemoryPacket;
use earlybird_live::{Event, Id, ManualClock};
use earlybird_seal::{OVERHEAD, Role};
use earlybird_tcp::RfcState;
use earlybird_units::Duration;
use network::{SealedSide, Side, address, carry, connect, events, listen, plain, read, run, sealed};
use std::net::SocketAddr;

const CALLER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 50_000);
const LISTENER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2)), 4201);

/// Two sides whose keys and clocks differ as stated.
fn pair(clock: &ManualClock, keys: [u8; 2], offset: i64) -> [SealedSide; 2] {
    let caller = sealed(clock, CALLER, Role::Caller, keys[0], offset);
    let mut listener = sealed(clock, LISTENER, Role::Listener, keys[1], 0);
    listen(&mut listener.side);
    clock.advance(Duration::from_millis(5));
    [caller, listener]
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a change")]
fn unchanged(packet: MemoryPacket) -> Option<MemoryPacket> {
    Some(packet)
}

/// Connects, and returns both ends of the connection and what was carried.
fn establish(clock: &ManualClock, [caller, listener]: &mut [SealedSide; 2]) -> ([Id; 2], Vec<MemoryPacket>) {
    let id = connect(&mut caller.side, LISTENER);
    let carried = run(clock, &mut caller.side, &mut listener.side, 10, &mut unchanged);
    let accepted = listener.side.stack.accept(network::PORT).expect("the handshake is complete");
    ([id, accepted], carried)
}

/// Writes `bytes` on one side and returns what the other one has after some milliseconds.
fn transfer(
    clock: &ManualClock,
    [caller, listener]: &mut [SealedSide; 2],
    [from, to]: [Id; 2],
    bytes: &[u8],
    milliseconds: u64,
    change: &mut impl FnMut(MemoryPacket) -> Option<MemoryPacket>,
) -> Vec<u8> {
    let written = caller.side.stack.write(from, bytes).expect("it is open");
    assert_eq!(written, bytes.len());
    run(clock, &mut caller.side, &mut listener.side, milliseconds, change);
    read(&mut listener.side, to)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn the_first_message_carries_the_syn_and_no_plaintext_is_on_the_path() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    let (ids, mut carried) = establish(&clock, &mut sides);
    assert!(events(&mut sides[0].side).contains(&Event::Established));
    // Initiation with SYN; response, SYN-ACK; ACK and confirmation.
    let kinds: Vec<_> = carried.iter().map(|packet| packet.bytes[0]).collect();
    assert_eq!(kinds[..3], [1, 2, 4], "{kinds:?}");
    assert!(kinds[3..].iter().all(|kind| [4, 5].contains(kind)), "{kinds:?}");
    let text = b"a stream that nobody else may read".repeat(100);
    let received = transfer(&clock, &mut sides, ids, &text, 50, &mut |packet| {
        carried.push(packet.clone());
        Some(packet)
    });
    assert_eq!(received, text);
    assert!(carried.iter().all(|packet| !contains(&packet.bytes, b"stream") && packet.bytes.len() <= 1472));
    assert!(carried.iter().any(|packet| packet.bytes.len() == 1472), "the packets fill the MTU");
    assert_eq!(sides.map(|side| side.drops.undecrypted()), [0, 0]);
    assert_eq!(OVERHEAD, 32);
}

#[test]
fn a_wrong_key_gets_no_answer() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 2], 0);
    connect(&mut sides[0].side, LISTENER);
    let [caller, listener] = &mut sides;
    let carried = run(&clock, &mut caller.side, &mut listener.side, 4_000, &mut unchanged);
    assert!(carried.len() >= 2 && carried.iter().all(|packet| packet.from == CALLER), "{}", carried.len());
    assert_eq!(listener.drops.undecrypted(), carried.len() as u64);
    assert_eq!((listener.side.stack.counters().received, listener.side.stack.connections()), (0, 0));
    assert!(!events(&mut caller.side).contains(&Event::Established));
}

#[test]
fn there_is_no_downgrade_to_plaintext() {
    let clock = ManualClock::default();
    let mut caller = plain(&clock, CALLER);
    let mut listener = sealed(&clock, LISTENER, Role::Listener, 1, 0);
    listen(&mut listener.side);
    connect(&mut caller, LISTENER);
    let carried = run(&clock, &mut caller, &mut listener.side, 4_000, &mut unchanged);
    assert!(carried.iter().all(|packet| packet.from == CALLER) && listener.drops.undecrypted() >= 2);

    let mut caller = sealed(&clock, CALLER, Role::Caller, 1, 0);
    let mut listener = plain(&clock, LISTENER);
    listen(&mut listener);
    connect(&mut caller.side, LISTENER);
    let carried = run(&clock, &mut caller.side, &mut listener, 4_000, &mut unchanged);
    // A listener without a key may answer some by a reset, as it answers anything that has the format of TCP.
    let mut sent = carried.iter().filter(|packet| packet.from == CALLER);
    assert!(sent.all(|packet| packet.bytes[0] == 1), "only initiations");
    assert_eq!((caller.side.stack.counters().received, listener.stack.connections()), (0, 0));
}

/// Sends datagrams to a listener from an address. Returns the datagrams that it sends in reply.
fn replay(
    clock: &ManualClock,
    listener: &mut SealedSide,
    recorded: &[MemoryPacket],
    from: SocketAddr,
    milliseconds: u64,
) -> Vec<MemoryPacket> {
    for packet in recorded {
        let packet = MemoryPacket { from, to: LISTENER, ..packet.clone() };
        listener.side.wire.put(packet).expect("there is room");
    }
    for _ in 0..milliseconds {
        clock.advance(Duration::from_millis(1));
        listener.side.stack.turn().expect("memory");
    }
    std::iter::from_fn(|| listener.side.wire.take()).collect()
}

#[test]
fn a_replayed_capture_changes_nothing_and_gets_no_answer() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    let (ids, mut recorded) = establish(&clock, &mut sides);
    let text = vec![7; 20_000];
    let received = transfer(&clock, &mut sides, ids, &text, 100, &mut |packet| {
        recorded.push(packet.clone());
        Some(packet)
    });
    assert_eq!(received, text);
    recorded.retain(|packet| packet.from == CALLER);
    for from in [CALLER, address(66, 6666)] {
        let before = (sides[1].side.stack.connections(), *sides[1].side.stack.counters(), sides[1].drops.replayed());
        let answers = replay(&clock, &mut sides[1], &recorded, from, 20);
        let after = (sides[1].side.stack.connections(), *sides[1].side.stack.counters());
        assert_eq!((answers.len(), (before.0, before.1)), (0, after), "{from}");
        assert_eq!(sides[1].drops.replayed() - before.2, recorded.len() as u64);
    }
    assert_eq!(sides[1].drops.undecrypted(), 0);
}

/// A recording from before a listener started, or of longer ago than two minutes, gets a cookie: fewer bytes than it has, and nothing is
/// stored.
#[test]
fn an_old_initiation_gets_less_than_it_sent() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    let (_, recorded) = establish(&clock, &mut sides);
    let initiation = &recorded[..1];
    for advance in [0, 300] {
        clock.advance(Duration::from_secs(advance));
        let mut listener = sealed(&clock, LISTENER, Role::Listener, 1, 0);
        listen(&mut listener.side);
        let answers = replay(&clock, &mut listener, initiation, address(66, 6666), 20);
        assert_eq!(answers.len(), 1);
        assert!(answers[0].bytes[0] == 3 && answers[0].bytes.len() * 2 < initiation[0].bytes.len());
        assert_eq!((listener.side.stack.connections(), listener.side.stack.counters().received), (0, 0));
    }
}

#[test]
fn a_wrong_clock_costs_one_round_trip() {
    for offset in [-1_000_000, -60, 60, 1_000_000] {
        let clock = ManualClock::default();
        let mut sides = pair(&clock, [1, 1], offset);
        let (_, carried) = establish(&clock, &mut sides);
        let kinds: Vec<_> = carried.iter().map(|packet| packet.bytes[0]).take(4).collect();
        let expected: &[u8] = if offset == 60 { &[1, 2, 4] } else { &[1, 3, 1, 2] };
        assert_eq!(&kinds[..expected.len()], expected, "{offset}");
    }
}

#[test]
fn each_changed_byte_is_dropped_and_counted() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    let (ids, recorded) = establish(&clock, &mut sides);
    let mut data = None;
    // The datagram does not arrive: unchanged, it would be authentic and new.
    transfer(&clock, &mut sides, ids, b"early bird", 5, &mut |packet| {
        data.get_or_insert(packet);
        None
    });
    let data = data.expect("it was sent");
    for original in [&recorded[0], &data] {
        for index in 0..original.bytes.len() {
            for bit in 0..8 {
                let mut changed = original.clone();
                changed.bytes[index] ^= 1 << bit;
                let before = sides[1].drops.undecrypted();
                let received = sides[1].side.stack.counters().received;
                let answers = replay(&clock, &mut sides[1], &[changed], CALLER, 1);
                assert!(answers.is_empty(), "{index}");
                assert_eq!(sides[1].drops.undecrypted() - before, 1, "{index}");
                assert_eq!(sides[1].side.stack.counters().received, received);
            }
        }
    }
    replay(&clock, &mut sides[1], &[data], CALLER, 1);
    assert_eq!(read(&mut sides[1].side, ids[1]), b"early bird");
}

/// Ten minutes with 10 % loss, and every third datagram delayed behind later ones.
#[test]
fn keys_are_renewed_under_loss_and_reordering() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    let (ids, _) = establish(&clock, &mut sides);
    let (mut number, mut ids_seen) = (0_u32, std::collections::BTreeSet::new());
    let mut held: Vec<MemoryPacket> = Vec::new();
    let mut received = Vec::new();
    let mut sent = Vec::new();
    for round in 0..600_u32 {
        let text = round.to_le_bytes().repeat(500);
        sent.extend(&text);
        let mut wire = |packet: MemoryPacket| {
            number += 1;
            if packet.bytes[0] == 4 {
                ids_seen.insert(packet.bytes[1..8].to_vec());
            }
            if number.is_multiple_of(10) {
                return None;
            }
            if number.is_multiple_of(3) {
                held.push(packet);
                return None;
            }
            Some(packet)
        };
        received.extend(transfer(&clock, &mut sides, ids, &text, 50, &mut wire));
        for packet in std::mem::take(&mut held) {
            let side = if packet.to == CALLER { &sides[0] } else { &sides[1] };
            side.side.wire.put(packet).expect("there is room");
        }
        let [caller, listener] = &mut sides;
        run(&clock, &mut caller.side, &mut listener.side, 50, &mut unchanged);
        clock.advance(Duration::from_millis(900));
    }
    let [caller, listener] = &mut sides;
    for _ in 0..200 {
        clock.advance(Duration::from_millis(200));
        run(&clock, &mut caller.side, &mut listener.side, 20, &mut unchanged);
        received.extend(read(&mut listener.side, ids[1]));
    }
    assert_eq!(received.len(), sent.len());
    assert!(received == sent);
    // Five renewals, two directions.
    assert!((8..=16).contains(&ids_seen.len()), "{}", ids_seen.len());
    assert_eq!(caller.side.stack.connections(), 1, "the connection is the first one");
}

/// A NAT gives the caller another port, and later another address.
#[test]
fn a_connection_survives_a_change_of_the_callers_address() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    let (ids, _) = establish(&clock, &mut sides);
    for new in [address(1, 51_000), address(9, 1_024)] {
        let to_old = std::cell::Cell::new(0);
        let mut nat = |packet: MemoryPacket| match packet.from {
            CALLER => Some(MemoryPacket { from: new, ..packet }),
            _ if packet.to == new => Some(MemoryPacket { to: CALLER, ..packet }),
            _ => {
                to_old.set(to_old.get() + 1);
                None
            }
        };
        sides[0].side.stack.write(ids[0], &[5; 4000]).expect("it is open");
        for _ in 0..2_000 {
            clock.advance(Duration::from_millis(1));
            for side in &mut sides {
                side.side.stack.turn().expect("memory");
            }
            let [caller, listener] = &sides;
            carry(&caller.side, &listener.side, &mut nat);
            while let Some(packet) = listener.side.wire.take() {
                if let Some(packet) = nat(packet) {
                    caller.side.wire.put(packet).expect("there is room");
                }
            }
        }
        assert_eq!(read(&mut sides[1].side, ids[1]), [5; 4000], "{new}");
        assert!((1..10).contains(&to_old.get()), "{to_old:?} datagrams went to the old address");
        sides[1].side.stack.write(ids[1], b"back").expect("it is open");
        let [caller, listener] = &mut sides;
        for _ in 0..10 {
            clock.advance(Duration::from_millis(1));
            listener.side.stack.turn().expect("memory");
            while let Some(packet) = listener.side.wire.take() {
                assert_eq!(packet.to, new);
                caller.side.wire.put(MemoryPacket { to: CALLER, ..packet }).expect("there is room");
            }
            caller.side.stack.turn().expect("memory");
            carry(&caller.side, &listener.side, &mut nat);
        }
        assert_eq!(read(&mut caller.side, ids[0]), b"back");
    }
    assert_eq!(sides[1].side.stack.connections(), 1);
}

/// Somebody on the path copies the caller's newest datagram and sends it first, from another address.
#[test]
fn a_new_address_gets_one_challenge_until_it_is_validated() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    let (ids, _) = establish(&clock, &mut sides);
    let other = address(66, 6666);
    let [caller, listener] = &mut sides;
    let (mut sent, mut answered) = (0, 0);
    for _ in 0..50 {
        caller.side.stack.write(ids[0], &[1; 100]).expect("it is open");
        listener.side.stack.write(ids[1], &[2; 1000]).expect("it is open");
        clock.advance(Duration::from_millis(1));
        caller.side.stack.turn().expect("memory");
        listener.side.stack.turn().expect("memory");
        carry(&caller.side, &listener.side, &mut |packet| {
            sent += packet.bytes.len();
            listener.side.wire.put(MemoryPacket { from: other, ..packet.clone() }).expect("there is room");
            Some(packet)
        });
        while let Some(packet) = listener.side.wire.take() {
            if packet.to == other {
                answered += packet.bytes.len();
            } else {
                caller.side.wire.put(packet).expect("there is room");
            }
        }
    }
    assert!(answered > 0 && answered < sent / 3, "{answered} bytes for {sent}");
    run(&clock, &mut caller.side, &mut listener.side, 50, &mut unchanged);
    assert_eq!(read(&mut caller.side, ids[0]).len(), 50_000, "the stream goes where it went before");
}

/// With a table of 64 callers per second that are answered at once, further ones get a cookie.
#[test]
fn many_callers_get_cookies_and_all_connect() {
    let clock = ManualClock::default();
    let mut listener = sealed(&clock, LISTENER, Role::Listener, 1, 0);
    listen(&mut listener.side);
    clock.advance(Duration::from_millis(5));
    let mut callers: Vec<_> =
        (0..100).map(|number| sealed(&clock, address(1, 50_000 + number), Role::Caller, 1, 0)).collect();
    let (mut cookies, mut established) = (0, 0);
    for caller in &mut callers {
        connect(&mut caller.side, LISTENER);
    }
    for _ in 0..20 {
        clock.advance(Duration::from_millis(1));
        for caller in &mut callers {
            caller.side.stack.turn().expect("memory");
            carry(&caller.side, &listener.side, &mut unchanged);
        }
        listener.side.stack.turn().expect("memory");
        while let Some(packet) = listener.side.wire.take() {
            cookies += u32::from(packet.bytes[0] == 3);
            let caller = &callers[usize::from(packet.to.port() - 50_000)];
            caller.side.wire.put(packet).expect("there is room");
        }
    }
    for caller in &mut callers {
        established += u32::from(events(&mut caller.side).contains(&Event::Established));
    }
    assert_eq!((cookies, established), (36, 100));
}

#[test]
fn a_caller_finds_a_listener_that_has_restarted() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    establish(&clock, &mut sides);
    let [mut caller, _] = sides;
    let mut listener = sealed(&clock, LISTENER, Role::Listener, 1, 0);
    listen(&mut listener.side);
    let id = connect(&mut caller.side, LISTENER);
    run(&clock, &mut caller.side, &mut listener.side, 4_000, &mut unchanged);
    assert!(caller.side.stack.connection(id).is_ok_and(|connection| connection.state() == RfcState::Established));
    let _: &Side<_> = &listener.side;
}

/// The symptom: all who knew the passphrase were the same caller.
#[test]
fn callers_with_keys_of_their_own_are_distinguished() {
    let clock = ManualClock::default();
    let (mut listener, drops, identities) = network::listener_of(&clock, LISTENER, &[1, 2]);
    listen(&mut listener);
    clock.advance(Duration::from_millis(5));
    for (host, key, identity) in [(1, 2, Some(1)), (3, 1, Some(0)), (4, 3, None)] {
        let at = address(host, 50_000);
        let mut caller = sealed(&clock, at, Role::Caller, key, 0);
        connect(&mut caller.side, LISTENER);
        run(&clock, &mut caller.side, &mut listener, 20, &mut unchanged);
        assert_eq!(identities.of(at), identity, "key {key}");
        assert_eq!(events(&mut caller.side).contains(&Event::Established), identity.is_some(), "key {key}");
    }
    assert!(drops.undecrypted() > 0);
}

/// The symptom: a caller asked with a new handshake after 1, 2, 4, … 60 s, so that a listener which came back had to wait for it.
#[test]
fn a_caller_finds_a_listener_that_was_away_for_a_minute() {
    let clock = ManualClock::default();
    let mut sides = pair(&clock, [1, 1], 0);
    let (ids, _) = establish(&clock, &mut sides);
    let [mut caller, mut gone] = sides;
    let is_there = |caller: &SealedSide| caller.side.stack.connection(ids[0]).is_ok_and(|one| one.ending().is_none());
    for _ in 0..120 {
        caller.side.stack.probe(ids[0]).expect("it is open");
        run(&clock, &mut caller.side, &mut gone.side, 500, &mut |_| None);
    }
    assert!(is_there(&caller));
    let mut listener = sealed(&clock, LISTENER, Role::Listener, 1, 60);
    listen(&mut listener.side);
    for _ in 0..2 {
        caller.side.stack.probe(ids[0]).expect("it is open");
        run(&clock, &mut caller.side, &mut listener.side, 500, &mut unchanged);
    }
    assert!(!is_there(&caller), "the restarted listener has not reset the connection");
}

/// On a path whose round trip is longer than the initial RTO, the handshake is repeated before its answer arrives.
#[test]
fn a_handshake_works_on_a_path_of_three_seconds() {
    let clock = ManualClock::default();
    let [mut caller, mut listener] = pair(&clock, [1, 1], 0);
    let id = connect(&mut caller.side, LISTENER);
    let mut flying: std::collections::VecDeque<(u64, MemoryPacket)> = std::collections::VecDeque::new();
    for now in 0..12_000_u64 {
        clock.advance(Duration::from_millis(1));
        caller.side.stack.turn().expect("memory");
        listener.side.stack.turn().expect("memory");
        for side in [&caller.side.wire, &listener.side.wire] {
            flying.extend(std::iter::from_fn(|| side.take()).map(|packet| (now + 1_500, packet)));
        }
        while let Some((_, packet)) = flying.pop_front_if(|(due, _)| *due <= now) {
            let wire = if packet.to == CALLER { &caller.side.wire } else { &listener.side.wire };
            wire.put(packet).expect("there is room");
        }
    }
    assert!(caller.side.stack.connection(id).is_ok_and(|connection| connection.state() == RfcState::Established));
    assert_eq!(listener.side.stack.connections(), 1);
}
