//! Packets of no connection: random bytes, floods and spoofed addresses.

use crate::path::{Impairments, TestPath, addresses};
use crate::transfers::open;
use earlybird_live::device::{Encapsulation, Memory, MemoryPacket};
use earlybird_live::{ManualClock, Settings, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::{Duration, Random, SeedTree};
use earlybird_wire::{Addresses, Ecn, Flags, Layout, Options, Segment, SeqNum, Style, emit, emit_bare};
use std::net::SocketAddr;
use std::num::NonZeroU16;

const PORT: u16 = 80;

/// A listening stack, and the network's end of its device.
fn host(encapsulation: Encapsulation) -> (Stack<Memory, ManualClock>, Memory, ManualClock) {
    let [there, here] = addresses(false);
    let (device, end) = match encapsulation {
        Encapsulation::Ip => Memory::pair(1500),
        Encapsulation::Udp => Memory::udp_pair(1500, [SocketAddr::new(here, 4201), SocketAddr::new(there, 9)]),
    };
    let clock = ManualClock::default();
    let mut stack = Stack::new(device, clock.clone(), Settings::deterministic(1, &[here])).unwrap();
    stack.listen(PORT, &Config::linux(), ListenConfig::default()).unwrap();
    (stack, end, clock)
}

fn udp_packet(bytes: Vec<u8>, peer_port: u16) -> MemoryPacket {
    let [there, here] = addresses(false);
    MemoryPacket {
        bytes,
        from: SocketAddr::new(there, peer_port),
        to: SocketAddr::new(here, 4201),
        ecn: Ecn::NotCapable,
    }
}

fn random_bytes(random: &mut Random) -> Vec<u8> {
    let len = random.below(1500);
    (0..len).map(|_| random.below(256) as u8).collect()
}

fn serialised(encapsulation: Encapsulation, segment: &Segment, source_port: u16, destination_port: u16) -> Vec<u8> {
    let [source, destination] = addresses(false);
    let addresses = Addresses { source, destination, source_port, destination_port };
    let mut bytes = vec![0; 200];
    let len = match encapsulation {
        Encapsulation::Ip => emit(segment, &addresses, Style::default(), [&[]; 2], &mut bytes),
        Encapsulation::Udp => emit_bare(segment, &addresses, Layout::Linux, [&[]; 2], &mut bytes),
    };
    bytes.truncate(len.unwrap());
    bytes
}

/// Random bytes never open a connection; the replies to what parses are smaller than the input.
#[test]
fn random_bytes_get_small_replies() {
    for encapsulation in [Encapsulation::Ip, Encapsulation::Udp] {
        let (mut stack, end, _) = host(encapsulation);
        let mut random = SeedTree::new(1).random();
        let (mut brought, mut got) = (0, 0);
        for number in 0..100_000_u32 {
            let bytes = random_bytes(&mut random);
            brought += bytes.len();
            end.put(udp_packet(bytes, number as u16)).unwrap();
            if number % 50 == 0 {
                stack.turn().unwrap();
            }
            got += std::iter::from_fn(|| end.take()).map(|packet| packet.bytes.len()).sum::<usize>();
        }
        while stack.turn().unwrap() {}
        assert!(got * 20 < brought, "{got} bytes for {brought}");
        assert_eq!(stack.connections(), 0);
        let counters = stack.counters();
        assert!(counters.malformed + counters.unmatched > 99_000 && counters.malformed > 30_000, "{counters:?}");
        assert!(counters.resets <= 200, "{counters:?}");
    }
}

/// A flood of spoofed SYNs: the listener's state is bounded, no reply is longer than the SYN, and none is sent more than three
/// times.
#[test]
fn a_flood_of_syns_over_udp_is_not_amplified() {
    let (mut stack, end, clock) = host(Encapsulation::Udp);
    let options = |mss| Options { mss: NonZeroU16::new(mss), ..Options::default() };
    let full = Options { window_scale: Some(7), sack_permitted: true, ..options(1460) };
    for number in 0..20_000_u32 {
        let options = [options(0), options(1460), full][number as usize % 3];
        let syn = Segment { seq: SeqNum(number), flags: Flags::SYN, options, ..Segment::default() };
        let bytes = serialised(Encapsulation::Udp, &syn, number as u16, PORT);
        let asked = bytes.len();
        end.put(udp_packet(bytes, (number >> 4) as u16)).unwrap();
        stack.turn().unwrap();
        let answers: Vec<MemoryPacket> = std::iter::from_fn(|| end.take()).collect();
        assert!(answers.len() <= 1 && answers.iter().all(|answer| answer.bytes.len() <= asked));
        assert!(answers.iter().all(|answer| answer.to.port() == (number >> 4) as u16));
    }
    assert!(stack.listen_statistics(PORT).all(|statistics| statistics.opened == 0));
    let mut retransmitted = 0;
    for _ in 0..200 {
        clock.advance(Duration::from_secs(1));
        while stack.turn().unwrap() {}
        retransmitted += std::iter::from_fn(|| end.take()).count();
    }
    assert_eq!(retransmitted, 2 * ListenConfig::default().half_open);
    assert!(stack.counters().amplification_dropped > 6000);
}

#[test]
fn resets_are_limited() {
    let (mut stack, end, clock) = host(Encapsulation::Ip);
    let mut count = |span: Duration| {
        clock.advance(span);
        for number in 0..1000 {
            let ack = Segment { seq: SeqNum(number), flags: Flags::ACK, ..Segment::default() };
            end.put(udp_packet(serialised(Encapsulation::Ip, &ack, number as u16, 81), 0)).unwrap();
        }
        while stack.turn().unwrap() {}
        std::iter::from_fn(|| end.take()).count()
    };
    assert_eq!(
        [count(Duration::ZERO), count(Duration::from_millis(100)), count(Duration::from_secs(1))],
        [200, 0, 200]
    );
}

#[test]
fn packets_for_other_hosts_are_ignored() {
    let (mut stack, end, _) = host(Encapsulation::Ip);
    let [source, _] = addresses(false);
    let elsewhere = Addresses { source, destination: [10, 77, 0, 9].into(), source_port: 1, destination_port: PORT };
    let martian = Addresses { source: [127, 0, 0, 1].into(), destination: addresses(false)[1], ..elsewhere };
    for addresses in [elsewhere, martian] {
        let syn = Segment { flags: Flags::SYN, ..Segment::default() };
        let mut bytes = vec![0; 40];
        emit(&syn, &addresses, Style::default(), [&[]; 2], &mut bytes).unwrap();
        end.put(udp_packet(bytes, 0)).unwrap();
    }
    stack.turn().unwrap();
    assert_eq!((stack.counters().misdirected, end.take()), (2, None));
}

/// Two peers behind one NAT with the same TCP port differ by UDP port.
#[test]
fn peers_behind_one_nat_are_distinct() {
    let (mut stack, end, _) = host(Encapsulation::Udp);
    for (port, origin) in [(5000, 100), (6000, 200)] {
        let syn = Segment {
            seq: SeqNum(origin),
            flags: Flags::SYN,
            options: Options { mss: NonZeroU16::new(1400), ..Options::default() },
            ..Segment::default()
        };
        end.put(udp_packet(serialised(Encapsulation::Udp, &syn, 1234, PORT), port)).unwrap();
        stack.turn().unwrap();
        let answer = end.take().expect("an answer");
        let parsed =
            earlybird_wire::parse_bare(&answer.bytes, answer.from.ip(), answer.to.ip(), Ecn::NotCapable).unwrap();
        assert_eq!(answer.to.port(), port);
        let flags = Flags::ACK;
        let ack = Segment { seq: SeqNum(origin + 1), ack: parsed.segment.seq.at(1), flags, ..Segment::default() };
        end.put(udp_packet(serialised(Encapsulation::Udp, &ack, 1234, PORT), port)).unwrap();
        stack.turn().unwrap();
    }
    let accepted: Vec<_> = std::iter::from_fn(|| stack.accept(PORT)).collect();
    let accepted: Vec<u16> = accepted.iter().map(|id| stack.peer(*id).unwrap().0.remote.port()).collect();
    assert_eq!(accepted, [5000, 6000]);
}

/// An ICMP error for outstanding data is applied; an unrelated one is ignored.
#[test]
fn icmp_errors_reach_the_connection() {
    use earlybird_wire::{IcmpError, emit_icmp};
    let mut net = TestPath::new(Encapsulation::Ip, false, Duration::from_millis(10), Impairments::default(), 9);
    let [id, _] = open(&mut net, &Config::linux());
    net.hosts[0].write(id, &vec![1; 20_000]).unwrap();
    net.settle_now();
    let packet = net.seen.last().unwrap().bytes.clone();
    let mut report = vec![0; 576];
    let router = [10, 77, 0, 3].into();
    let len = emit_icmp(IcmpError::TooBig { mtu: 1000 }, &packet, router, &mut report).unwrap();
    report.truncate(len);
    net.inject(0, udp_packet(report, 0));
    net.settle_now();
    assert_eq!(net.hosts[0].counters().icmp, 1);
    assert!(net.hosts[0].connection(id).unwrap().effective_mss() <= 1000 - 40);
    net.inject(0, udp_packet(emit_unrelated(), 0));
    net.settle_now();
    assert_eq!(net.hosts[0].counters().icmp, 1);
}

/// An ICMP error about a packet that was never sent.
fn emit_unrelated() -> Vec<u8> {
    use earlybird_wire::{IcmpError, Unreachable, emit_icmp};
    let sent = serialised(Encapsulation::Ip, &Segment { flags: Flags::ACK, ..Segment::default() }, 7, 7);
    let mut report = vec![0; 576];
    let trouble = IcmpError::Unreachable(Unreachable::Port);
    let len = emit_icmp(trouble, &sent, [10, 77, 0, 3].into(), &mut report).unwrap();
    report.truncate(len);
    report
}
