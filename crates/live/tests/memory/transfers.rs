//! Bytes from one side to the other, over lines that lose, double and mix up.

use crate::line::{Harm, Line, Sighting};
use earlybird_live::device::Carriage;
use earlybird_live::{Event, Id};
use earlybird_tcp::{Config, Ending, ListenConfig, Segmentation};
use earlybird_units::{Duration, Instant};
use proptest::prelude::*;

const PORT: u16 = 80;

/// Bytes that repeat nowhere soon.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|index| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// Opens a connection from side 0 to side 1; gives both its ends.
pub(crate) fn open(line: &mut Line, config: &Config) -> [Id; 2] {
    line.hosts[1].listen(PORT, config, ListenConfig::default()).unwrap();
    let path = line.path(0);
    let opened = line.hosts[0].connect(config, path, PORT).unwrap();
    loop {
        line.step().expect("something happens");
        if let Some(accepted) = line.hosts[1].accept(PORT) {
            return [opened, accepted];
        }
    }
}

/// What one end writes, and what it has read.
struct End<'a> {
    rest: &'a [u8],
    got: Vec<u8>,
    has_ended: bool,
    ending: Option<Ending>,
}

impl End<'_> {
    fn work(&mut self, line: &mut Line, side: usize, id: Id) {
        let host = &mut line.hosts[side];
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

/// Sends texts both ways at once, and gives what was read, first by side 1.
pub(crate) fn exchange(line: &mut Line, config: &Config, texts: [&[u8]; 2]) -> [Vec<u8>; 2] {
    line.hosts[1].listen(PORT, config, ListenConfig::default()).unwrap();
    let path = line.path(0);
    let mut ids = [Some(line.hosts[0].connect(config, path, PORT).unwrap()), None];
    let mut ends = texts.map(|text| End { rest: text, got: Vec::new(), has_ended: false, ending: None });
    while ends.iter().any(|end| end.ending.is_none()) {
        ids[1] = ids[1].or_else(|| line.hosts[1].accept(PORT));
        for side in [0, 1] {
            ids[side].inspect(|id| ends[side].work(line, side, *id));
        }
        line.step().expect("something happens");
        assert!(line.now() < Instant::ZERO + Duration::from_secs(3600), "it takes too long");
    }
    assert!(ends.iter().all(|end| end.has_ended && end.ending == Some(Ending::InOrder)));
    for side in [0, 1] {
        ids[side].inspect(|id| line.hosts[side].close(*id).unwrap());
    }
    let [one, other] = ends;
    [other.got, one.got]
}

/// Says how long the IP packet of a sighting was.
fn packet_len(carriage: Carriage, is_v6: bool, sighting: &Sighting) -> usize {
    let headers = if carriage == Carriage::Ip { 0 } else { 8 + if is_v6 { 40 } else { 20 } };
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
        doubled in 0.0..0.05,
        overtaken in 0.0..0.1,
        lengths in [0..200_000_usize, 0..100_000],
    ) {
        let carriage = if is_udp { Carriage::Udp } else { Carriage::Ip };
        let config = [Config::linux(), Config::rfc(), Config { send_buffer: Some(9000), ..Config::linux() }][profile];
        let harm = Harm { lost, doubled, overtaken };
        let mut line = Line::new(carriage, is_v6, Duration::from_millis(10), harm, seed % 1000);
        let texts = lengths.map(pattern);
        let got = exchange(&mut line, &config, [&texts[0], &texts[1]]);
        prop_assert!(got == texts);
        prop_assert!(line.seen.iter().all(|seen| packet_len(carriage, is_v6, seen) <= 1500));
    }
}

#[test]
fn closed_connections_go_when_time_wait_is_over_and_nothing_stays() {
    let mut line = Line::new(Carriage::Ip, false, Duration::from_millis(5), Harm::default(), 1);
    exchange(&mut line, &Config::linux(), [b"question", b"answer"]);
    while line.step().is_some() {}
    assert_eq!([0, 1].map(|side| line.hosts[side].connections()), [0, 0]);
    assert!(line.now() >= Instant::ZERO + Duration::from_secs(60));
}

/// A full packet is 1500 bytes over either carriage and either version, and no more.
#[test]
fn packets_fill_what_the_device_carries() {
    for (carriage, is_v6) in
        [(Carriage::Ip, false), (Carriage::Ip, true), (Carriage::Udp, false), (Carriage::Udp, true)]
    {
        let mut line = Line::new(carriage, is_v6, Duration::from_millis(5), Harm::default(), 1);
        let text = pattern(100_000);
        let config = Config { mss: 9000, ..Config::linux() };
        assert!(exchange(&mut line, &config, [&text, &[]]) == [text, vec![]]);
        let longest = line.seen.iter().map(|seen| packet_len(carriage, is_v6, seen)).max();
        assert_eq!(longest, Some(1500), "{carriage:?}, IPv6: {is_v6}");
    }
}

/// With the clock of a test everything leaves at the very time of what caused it.
#[test]
fn segments_leave_at_the_time_of_the_event_that_caused_them() {
    let delay = Duration::from_millis(10);
    let mut line = Line::new(Carriage::Ip, false, delay, Harm::default(), 1);
    exchange(&mut line, &Config { segmentation: Segmentation::Simulated, ..Config::linux() }, [&pattern(50_000), &[]]);
    let begin = line.seen[0].at;
    let steps: Vec<u64> = line.seen.iter().map(|seen| (seen.at - begin).as_nanos() % delay.as_nanos()).collect();
    // Nothing is lost, so that no timer has a part in it, but the one that holds ACKs back.
    let late = steps.iter().filter(|step| **step != 0).count();
    assert!(late <= 2, "{steps:?}");
}

#[test]
fn the_same_script_gives_the_same_packets_at_the_same_times() {
    let run = || {
        let harm = Harm { lost: 0.03, doubled: 0.02, overtaken: 0.05 };
        let mut line = Line::new(Carriage::Udp, true, Duration::from_millis(10), harm, 7);
        let text = pattern(100_000);
        exchange(&mut line, &Config::linux(), [&text, &text]);
        line.seen
    };
    assert!(run() == run());
}

#[test]
fn a_clock_that_goes_back_is_waited_for_and_one_that_jumps_ahead_does_no_harm() {
    use earlybird_live::Clock;
    let mut line = Line::new(Carriage::Ip, false, Duration::from_millis(10), Harm::default(), 3);
    let config = Config::linux();
    let ids = open(&mut line, &config);
    let text = pattern(60_000);
    assert_eq!(line.hosts[0].write(ids[0], &text), Ok(text.len()));
    let mut got = Vec::<u8>::new();
    let mut buffer = [0; 9000];
    for number in 0.. {
        line.step().expect("something happens");
        match number {
            2 => line.clock.advance(Duration::from_secs(40)),
            5 => line.clock.set(Instant::from_nanos(1)),
            _ => {}
        }
        let count = line.hosts[1].read(ids[1], &mut buffer).unwrap();
        got.extend(&buffer[..count]);
        if got.len() == text.len() {
            break;
        }
        assert!(number < 10_000, "{} bytes by {:?}", got.len(), line.clock.now());
    }
    assert!(got == text);
}

/// A segment longer than 1280 bytes never arrives, and nobody says so.
#[test]
fn a_path_over_udp_that_swallows_large_packets_gets_smaller_ones() {
    let mut line = Line::new(Carriage::Udp, false, Duration::from_millis(10), Harm::default(), 3);
    line.largest = 1280;
    let text = pattern(50_000);
    let got = exchange(&mut line, &Config::linux(), [&text, &[]]);
    assert!(got[0] == text);
}
