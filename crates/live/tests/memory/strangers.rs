//! What comes from nobody that is known: rubbish, floods, and questions in the name of others.

use crate::line::{Harm, Line, addresses};
use crate::transfers::open;
use earlybird_live::device::{Carriage, Memory, Parcel};
use earlybird_live::{Scripted, Settings, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::{Duration, Random, SeedTree};
use earlybird_wire::{Addresses, Ecn, Flags, Layout, Options, Segment, SeqNum, Style, emit, emit_bare};
use std::net::SocketAddr;
use std::num::NonZeroU16;

const PORT: u16 = 80;

/// A stack that listens, and the network's end of its device.
fn host(carriage: Carriage) -> (Stack<Memory, Scripted>, Memory, Scripted) {
    let [there, here] = addresses(false);
    let (device, end) = match carriage {
        Carriage::Ip => Memory::pair(1500),
        Carriage::Udp => Memory::udp_pair(1500, [SocketAddr::new(here, 4201), SocketAddr::new(there, 9)]),
    };
    let clock = Scripted::default();
    let mut stack = Stack::new(device, clock.clone(), Settings::scripted(1, &[here])).unwrap();
    stack.listen(PORT, &Config::linux(), ListenConfig::default()).unwrap();
    (stack, end, clock)
}

fn parcel(bytes: Vec<u8>, peer_port: u16) -> Parcel {
    let [there, here] = addresses(false);
    Parcel { bytes, from: SocketAddr::new(there, peer_port), to: SocketAddr::new(here, 4201), ecn: Ecn::NotCapable }
}

fn rubbish(random: &mut Random) -> Vec<u8> {
    let len = random.below(1500);
    (0..len).map(|_| random.below(256) as u8).collect()
}

fn written(carriage: Carriage, segment: &Segment, source_port: u16, destination_port: u16) -> Vec<u8> {
    let [source, destination] = addresses(false);
    let addresses = Addresses { source, destination, source_port, destination_port };
    let mut bytes = vec![0; 200];
    let len = match carriage {
        Carriage::Ip => emit(segment, &addresses, Style::default(), [&[]; 2], &mut bytes),
        Carriage::Udp => emit_bare(segment, &addresses, Layout::Linux, [&[]; 2], &mut bytes),
    };
    bytes.truncate(len.unwrap());
    bytes
}

/// What is not even a segment gets no answer and leaves nothing behind; what looks like one gets no more than it brought.
#[test]
fn rubbish_is_counted_and_gets_no_more_than_it_brought() {
    for carriage in [Carriage::Ip, Carriage::Udp] {
        let (mut stack, end, _) = host(carriage);
        let mut random = SeedTree::new(1).random();
        let (mut brought, mut got) = (0, 0);
        for number in 0..100_000_u32 {
            let bytes = rubbish(&mut random);
            brought += bytes.len();
            end.put(parcel(bytes, number as u16)).unwrap();
            if number % 50 == 0 {
                stack.turn().unwrap();
            }
            got += std::iter::from_fn(|| end.take()).map(|parcel| parcel.bytes.len()).sum::<usize>();
        }
        while stack.turn().unwrap() {}
        assert!(got * 20 < brought, "{got} bytes for {brought}");
        assert_eq!(stack.connections(), 0);
        let counters = stack.counters();
        assert!(counters.malformed + counters.strangers > 99_000 && counters.malformed > 30_000, "{counters:?}");
        assert!(counters.resets <= 200, "{counters:?}");
    }
}

/// A flood of SYNs in the name of others keeps what a listener keeps. No answer is longer than its question, and none goes more
/// than three times.
#[test]
fn a_flood_of_syns_over_udp_is_not_amplified() {
    let (mut stack, end, clock) = host(Carriage::Udp);
    let options = |mss| Options { mss: NonZeroU16::new(mss), ..Options::default() };
    let full = Options { window_scale: Some(7), sack_permitted: true, ..options(1460) };
    for number in 0..20_000_u32 {
        let options = [options(0), options(1460), full][number as usize % 3];
        let syn = Segment { seq: SeqNum(number), flags: Flags::SYN, options, ..Segment::default() };
        let bytes = written(Carriage::Udp, &syn, number as u16, PORT);
        let asked = bytes.len();
        end.put(parcel(bytes, (number >> 4) as u16)).unwrap();
        stack.turn().unwrap();
        let answers: Vec<Parcel> = std::iter::from_fn(|| end.take()).collect();
        assert!(answers.len() <= 1 && answers.iter().all(|answer| answer.bytes.len() <= asked));
        assert!(answers.iter().all(|answer| answer.to.port() == (number >> 4) as u16));
    }
    assert!(stack.listen_statistics(PORT).all(|statistics| statistics.opened == 0));
    let mut again = 0;
    for _ in 0..200 {
        clock.advance(Duration::from_secs(1));
        while stack.turn().unwrap() {}
        again += std::iter::from_fn(|| end.take()).count();
    }
    assert_eq!(again, 2 * ListenConfig::default().half_open);
    assert!(stack.counters().held_back > 6000);
}

#[test]
fn resets_are_limited() {
    let (mut stack, end, clock) = host(Carriage::Ip);
    let mut count = |span: Duration| {
        clock.advance(span);
        for number in 0..1000 {
            let ack = Segment { seq: SeqNum(number), flags: Flags::ACK, ..Segment::default() };
            end.put(parcel(written(Carriage::Ip, &ack, number as u16, 81), 0)).unwrap();
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
fn what_is_for_somebody_else_is_left_alone() {
    let (mut stack, end, _) = host(Carriage::Ip);
    let [source, _] = addresses(false);
    let elsewhere = Addresses { source, destination: [10, 77, 0, 9].into(), source_port: 1, destination_port: PORT };
    let martian = Addresses { source: [127, 0, 0, 1].into(), destination: addresses(false)[1], ..elsewhere };
    for addresses in [elsewhere, martian] {
        let syn = Segment { flags: Flags::SYN, ..Segment::default() };
        let mut bytes = vec![0; 40];
        emit(&syn, &addresses, Style::default(), [&[]; 2], &mut bytes).unwrap();
        end.put(parcel(bytes, 0)).unwrap();
    }
    stack.turn().unwrap();
    assert_eq!((stack.counters().misdirected, end.take()), (2, None));
}

/// Two peers behind one address, whose TCP ports are the same: their UDP ports keep them apart.
#[test]
fn peers_behind_one_nat_are_two() {
    let (mut stack, end, _) = host(Carriage::Udp);
    for (port, origin) in [(5000, 100), (6000, 200)] {
        let syn = Segment {
            seq: SeqNum(origin),
            flags: Flags::SYN,
            options: Options { mss: NonZeroU16::new(1400), ..Options::default() },
            ..Segment::default()
        };
        end.put(parcel(written(Carriage::Udp, &syn, 1234, PORT), port)).unwrap();
        stack.turn().unwrap();
        let answer = end.take().expect("an answer");
        let parsed =
            earlybird_wire::parse_bare(&answer.bytes, answer.from.ip(), answer.to.ip(), Ecn::NotCapable).unwrap();
        assert_eq!(answer.to.port(), port);
        let flags = Flags::ACK;
        let ack = Segment { seq: SeqNum(origin + 1), ack: parsed.segment.seq.at(1), flags, ..Segment::default() };
        end.put(parcel(written(Carriage::Udp, &ack, 1234, PORT), port)).unwrap();
        stack.turn().unwrap();
    }
    let accepted: Vec<_> = std::iter::from_fn(|| stack.accept(PORT)).collect();
    let accepted: Vec<u16> = accepted.iter().map(|id| stack.peer(*id).unwrap().0.remote.port()).collect();
    assert_eq!(accepted, [5000, 6000]);
}

/// A router says that packets are too big, and another time what cannot be.
#[test]
fn reports_of_routers_reach_the_connection() {
    use earlybird_wire::{Trouble, emit_icmp};
    let mut line = Line::new(Carriage::Ip, false, Duration::from_millis(10), Harm::default(), 9);
    let [id, _] = open(&mut line, &Config::linux());
    line.hosts[0].write(id, &vec![1; 20_000]).unwrap();
    line.settle_now();
    let packet = line.seen.last().unwrap().bytes.clone();
    let mut report = vec![0; 576];
    let router = [10, 77, 0, 3].into();
    let len = emit_icmp(Trouble::TooBig { mtu: 1000 }, &packet, router, &mut report).unwrap();
    report.truncate(len);
    line.give(0, parcel(report, 0));
    line.settle_now();
    assert_eq!(line.hosts[0].counters().reports, 1);
    assert!(line.hosts[0].connection(id).unwrap().effective_mss() <= 1000 - 40);
    line.give(0, parcel(emit_unrelated(), 0));
    line.settle_now();
    assert_eq!(line.hosts[0].counters().reports, 1);
}

/// A report on a packet that was never sent.
fn emit_unrelated() -> Vec<u8> {
    use earlybird_wire::{Trouble, Unreachable, emit_icmp};
    let sent = written(Carriage::Ip, &Segment { flags: Flags::ACK, ..Segment::default() }, 7, 7);
    let mut report = vec![0; 576];
    let trouble = Trouble::Unreachable(Unreachable::Port);
    let len = emit_icmp(trouble, &sent, [10, 77, 0, 3].into(), &mut report).unwrap();
    report.truncate(len);
    report
}
