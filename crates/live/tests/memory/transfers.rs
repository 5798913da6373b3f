//! Transfers over paths that lose, duplicate and reorder.

use crate::path::{Impairments, Sighting, TestPath};
use earlybird_live::device::Encapsulation;
use earlybird_live::{Event, Id};
use earlybird_tcp::{Config, Ending, ListenConfig, Segmentation};
use earlybird_units::{Duration, Instant};
use proptest::prelude::*;

const PORT: u16 = 80;

/// Pseudo-random bytes without a short period.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|index| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// Opens a connection from side 0 to side 1 and returns both ends.
pub(crate) fn open(net: &mut TestPath, config: &Config) -> [Id; 2] {
    net.hosts[1].listen(PORT, config, ListenConfig::default()).unwrap();
    let path = net.path(0);
    let opened = net.hosts[0].connect(config, path, PORT).unwrap();
    loop {
        net.step().expect("something happens");
        if let Some(accepted) = net.hosts[1].accept(PORT) {
            return [opened, accepted];
        }
    }
}

/// The state of one end: what it still writes, and what it has read.
struct End<'a> {
    rest: &'a [u8],
    got: Vec<u8>,
    has_ended: bool,
    ending: Option<Ending>,
}

impl End<'_> {
    fn work(&mut self, net: &mut TestPath, side: usize, id: Id) {
        let host = &mut net.hosts[side];
        while let Some((_, event)) = host.poll_event() {
            match event {
                Event::PeerClosed => self.has_ended = true,
                Event::Closed(ending) => self.ending = Some(ending),
                _ => {}
            }
        }
        let written = if self.rest.is_empty() { 0 } else { host.write(id, self.rest).unwrap() };
        self.rest = &self.rest[written..];
        if self.rest.is_empty() && self.ending.is_none() {
            host.shutdown(id).unwrap();
        }
        let mut buffer = [0; 3000];
        while let count @ 1.. = host.read(id, &mut buffer).unwrap() {
            self.got.extend(&buffer[..count]);
        }
    }
}

/// Sends texts in both directions at once. Returns what was read, first by side 1.
pub(crate) fn exchange(net: &mut TestPath, config: &Config, texts: [&[u8]; 2]) -> [Vec<u8>; 2] {
    net.hosts[1].listen(PORT, config, ListenConfig::default()).unwrap();
    let path = net.path(0);
    let mut ids = [Some(net.hosts[0].connect(config, path, PORT).unwrap()), None];
    let mut ends = texts.map(|text| End { rest: text, got: Vec::new(), has_ended: false, ending: None });
    while ends.iter().any(|end| end.ending.is_none()) {
        ids[1] = ids[1].or_else(|| net.hosts[1].accept(PORT));
        for side in [0, 1] {
            ids[side].inspect(|id| ends[side].work(net, side, *id));
        }
        net.step().expect("something happens");
        assert!(net.now() < Instant::ZERO + Duration::from_secs(3600), "it takes too long");
    }
    assert!(ends.iter().all(|end| end.has_ended && end.ending == Some(Ending::InOrder)));
    for side in [0, 1] {
        ids[side].inspect(|id| net.hosts[side].close(*id).unwrap());
    }
    let [one, other] = ends;
    [other.got, one.got]
}

/// Returns the length of the IP packet of a sighting.
fn packet_len(encapsulation: Encapsulation, is_v6: bool, sighting: &Sighting) -> usize {
    let headers = if encapsulation == Encapsulation::Ip { 0 } else { 8 + if is_v6 { 40 } else { 20 } };
    sighting.bytes.len() + headers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_read_is_what_was_written(
        seed in any::<u64>(),
        is_udp in any::<bool>(),
        is_v6 in any::<bool>(),
        profile in 0..3_usize,
        lost in 0.0..0.08,
        duplicated in 0.0..0.05,
        reordered in 0.0..0.1,
        lengths in [0..200_000_usize, 0..100_000],
    ) {
        let encapsulation = if is_udp { Encapsulation::Udp } else { Encapsulation::Ip };
        let config = [Config::linux(), Config::rfc(), Config::linux().with_send_buffer(Some(9000))][profile];
        let impairments = Impairments { lost, duplicated, reordered };
        let mut net = TestPath::new(encapsulation, is_v6, Duration::from_millis(10), impairments, seed % 1000);
        let texts = lengths.map(pattern);
        let got = exchange(&mut net, &config, [&texts[0], &texts[1]]);
        prop_assert!(got == texts);
        prop_assert!(net.seen.iter().all(|seen| packet_len(encapsulation, is_v6, seen) <= 1500));
    }
}

#[test]
fn connections_are_removed_after_time_wait() {
    let mut net = TestPath::new(Encapsulation::Ip, false, Duration::from_millis(5), Impairments::default(), 1);
    exchange(&mut net, &Config::linux(), [b"question", b"answer"]);
    while net.step().is_some() {}
    assert_eq!([0, 1].map(|side| net.hosts[side].connections()), [0, 0]);
    assert!(net.now() >= Instant::ZERO + Duration::from_secs(60));
}

/// A full packet has 1500 bytes in each encapsulation and IP version.
#[test]
fn full_packets_have_the_mtu() {
    for (encapsulation, is_v6) in
        [(Encapsulation::Ip, false), (Encapsulation::Ip, true), (Encapsulation::Udp, false), (Encapsulation::Udp, true)]
    {
        let mut net = TestPath::new(encapsulation, is_v6, Duration::from_millis(5), Impairments::default(), 1);
        let text = pattern(100_000);
        let config = Config::linux().with_mss(9000);
        assert!(exchange(&mut net, &config, [&text, &[]]) == [text, vec![]]);
        let longest = net.seen.iter().map(|seen| packet_len(encapsulation, is_v6, seen)).max();
        assert_eq!(longest, Some(1500), "{encapsulation:?}, IPv6: {is_v6}");
    }
}

/// With a manual clock, segments leave at the time of the event that caused them.
#[test]
fn segments_leave_without_delay() {
    let delay = Duration::from_millis(10);
    let mut net = TestPath::new(Encapsulation::Ip, false, delay, Impairments::default(), 1);
    exchange(&mut net, &Config::linux().with_segmentation(Segmentation::Simulated), [&pattern(50_000), &[]]);
    let begin = net.seen[0].at;
    let steps: Vec<u64> = net.seen.iter().map(|seen| (seen.at - begin).as_nanos() % delay.as_nanos()).collect();
    // Nothing is lost: the only timer that matters is the one for delayed ACKs.
    let late = steps.iter().filter(|step| **step != 0).count();
    assert!(late <= 2, "{steps:?}");
}

#[test]
fn runs_are_deterministic() {
    let run = || {
        let impairments = Impairments { lost: 0.03, duplicated: 0.02, reordered: 0.05 };
        let mut net = TestPath::new(Encapsulation::Udp, true, Duration::from_millis(10), impairments, 7);
        let text = pattern(100_000);
        exchange(&mut net, &Config::linux(), [&text, &text]);
        net.seen
    };
    assert!(run() == run());
}

#[test]
fn clock_jumps_are_tolerated() {
    use earlybird_live::Clock;
    let mut net = TestPath::new(Encapsulation::Ip, false, Duration::from_millis(10), Impairments::default(), 3);
    let config = Config::linux();
    let ids = open(&mut net, &config);
    let text = pattern(60_000);
    assert_eq!(net.hosts[0].write(ids[0], &text), Ok(text.len()));
    let mut got = Vec::<u8>::new();
    let mut buffer = [0; 9000];
    for number in 0.. {
        net.step().expect("something happens");
        match number {
            2 => net.clock.advance(Duration::from_secs(40)),
            5 => net.clock.set(Instant::from_nanos(1)),
            _ => {}
        }
        let count = net.hosts[1].read(ids[1], &mut buffer).unwrap();
        got.extend(&buffer[..count]);
        if got.len() == text.len() {
            break;
        }
        assert!(number < 10_000, "{} bytes by {:?}", got.len(), net.clock.now());
    }
    assert!(got == text);
}

/// The path drops segments above 1280 bytes without an ICMP message.
#[test]
fn udp_black_holes_are_detected() {
    let mut net = TestPath::new(Encapsulation::Udp, false, Duration::from_millis(10), Impairments::default(), 3);
    net.largest = 1280;
    let text = pattern(50_000);
    let got = exchange(&mut net, &Config::linux(), [&text, &[]]);
    assert!(got[0] == text);
}
