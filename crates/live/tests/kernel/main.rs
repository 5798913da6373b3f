//! Transfers between a stack and this machine's kernel. Needs root, for network namespaces, and a TUN device; where either is
//! missing the test prints the reason and passes.

#![expect(clippy::unwrap_used, reason = "what cannot go on has failed")]

mod bench;
mod iperf;
mod path;
mod programs;

use bench::{Bench, Family};
use earlybird_live::{Event, Id, Stack};
use earlybird_tcp::{Config, ListenConfig, RfcState};
use earlybird_units::Duration;
use path::{Fate, Path, Side};
use rustix::net::sockopt::set_tcp_congestion;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

const PORT: u16 = 4201;
const LONGEST: Duration = Duration::from_secs(300);

/// Returns the value, or prints why it could not be created.
fn unless_refused<T>(made: std::io::Result<T>) -> Option<T> {
    made.inspect_err(|error| eprintln!("skipped: no network namespace with a TUN device: {error}")).ok()
}

fn bench(delay: Duration, fate: fn(Side, u64) -> Fate) -> Option<Bench> {
    unless_refused(Bench::new(Path::new(delay, fate)))
}

/// Pseudo-random bytes without a short period.
fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|index| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// The stack connects and sends `bytes`. Returns what the kernel's application read.
fn sends(bench: &mut Bench, family: Family, config: &Config, bytes: &[u8]) -> Vec<u8> {
    let listener = TcpListener::bind((family.kernel(), PORT)).expect("the port is free");
    let reader = thread::spawn(move || {
        let mut got = Vec::new();
        let (mut peer, _) = listener.accept().expect("a connection");
        peer.read_to_end(&mut got).expect("it is read");
        got
    });
    let id = bench.connect(family, config, PORT);
    let mut written = 0;
    let is_done = |stack: &mut Stack<_, _>| {
        while stack.poll_event().is_some() {}
        if written < bytes.len() {
            written += stack.write(id, &bytes[written..]).expect("it is open");
        } else {
            stack.shutdown(id).expect("it is there");
        }
        matches!(stack.connection(id).expect("it is there").state(), RfcState::TimeWait | RfcState::Closed)
    };
    assert!(bench.run(LONGEST, is_done).expect("the device works"), "{:?}", bench.stack.connection(id));
    bench.stack.close(id).expect("it is there");
    reader.join().expect("the reader ends")
}

/// The kernel connects and sends `bytes`. Returns what the stack's application read.
fn receives(bench: &mut Bench, family: Family, config: &Config, bytes: &[u8]) -> Vec<u8> {
    let sent = bytes.to_vec();
    let writer = thread::spawn(move || {
        let mut peer = TcpStream::connect((family.ours(), PORT)).expect("it opens");
        // The congestion control of the `linux` profile, whatever this machine's default is.
        set_tcp_congestion(&peer, "cubic").expect("every kernel has it");
        peer.write_all(&sent).expect("it is written");
        peer.shutdown(Shutdown::Write).expect("it closes");
        peer.read_to_end(&mut Vec::new()).expect("the other side closes");
    });
    bench.stack.listen(PORT, config, ListenConfig::default()).expect("the port is free");
    let (mut got, mut accepted, mut has_ended) = (Vec::new(), None::<Id>, false);
    let mut buffer = vec![0; 1 << 16];
    let is_done = |stack: &mut Stack<_, _>| {
        while let Some((_, event)) = stack.poll_event() {
            has_ended |= event == Event::PeerClosed;
        }
        accepted = accepted.or_else(|| stack.accept(PORT));
        let Some(id) = accepted else { return false };
        while let count @ 1.. = stack.read(id, &mut buffer).expect("it is there") {
            got.extend(&buffer[..count]);
        }
        if has_ended {
            stack.shutdown(id).expect("it is there");
        }
        stack.connection(id).expect("it is there").state() == RfcState::Closed
    };
    assert!(bench.run(LONGEST, is_done).expect("the device works"), "{accepted:?}");
    bench.stack.unlisten(PORT).expect("it listens");
    writer.join().expect("the writer ends");
    got
}

fn loses_nothing(_: Side, _: u64) -> Fate {
    Fate::Arrives
}

fn loses_every_fortieth(_: Side, number: u64) -> Fate {
    if number % 40 == 7 { Fate::Lost } else { Fate::Arrives }
}

/// 1 % of packets is lost and 1 % late; the period 101 divides no window, so that the losses hit all positions.
fn loses_and_reorders(_: Side, number: u64) -> Fate {
    match number % 101 {
        7 => Fate::Lost,
        53 => Fate::Late,
        _ => Fate::Arrives,
    }
}

/// Environment variable with the megabytes per direction (4 by default; 50 for a thorough test).
const MEGABYTES: &str = "EARLYBIRD_INTEROP_MEGABYTES";

fn megabytes() -> usize {
    std::env::var(MEGABYTES).map_or(4, |text| text.parse().expect("a number of megabytes"))
}

/// Transfers in each direction over a path and prints the rates.
fn both_directions(family: Family, name: &str, fate: fn(Side, u64) -> Fate) {
    let Some(mut bench) = bench(Duration::from_millis(5), fate) else { return };
    let bytes = pattern(megabytes() * 1_000_000);
    let report = |direction: &str, took: Duration| {
        let rate = bytes.len() as f64 * 8.0 / took.as_secs_f64() / 1e6;
        eprintln!(
            "{family:?}, {name}, {direction}: {} bytes in {:.2} s, {rate:.1} Mb/s",
            bytes.len(),
            took.as_secs_f64()
        );
    };
    let begin = bench.now();
    assert!(sends(&mut bench, family, &Config::linux(), &bytes) == bytes, "what the kernel read is not what was sent");
    let turn = bench.now();
    report("stack to kernel", turn - begin);
    assert!(
        receives(&mut bench, family, &Config::linux(), &bytes) == bytes,
        "what was read is not what the kernel sent"
    );
    report("kernel to stack", bench.now() - turn);
}

#[test]
fn transfers_are_complete() {
    for family in Family::ALL {
        both_directions(family, "nothing lost", loses_nothing);
    }
}

#[test]
fn transfers_survive_loss_and_reordering() {
    for family in Family::ALL {
        both_directions(family, "1 % lost, 1 % late", loses_and_reorders);
    }
}

#[test]
fn profiles_send_to_the_kernel() {
    for config in [Config::rfc(), Config::linux()] {
        let Some(mut bench) = bench(Duration::from_millis(5), loses_nothing) else { return };
        let bytes = pattern(1 << 20);
        assert!(sends(&mut bench, Family::V4, &config, &bytes) == bytes);
    }
}

#[test]
fn profiles_receive_from_the_kernel() {
    for config in [Config::rfc(), Config::linux()] {
        let Some(mut bench) = bench(Duration::from_millis(5), loses_nothing) else { return };
        let bytes = pattern(1 << 20);
        assert!(receives(&mut bench, Family::V4, &config, &bytes) == bytes);
    }
}

#[test]
fn losses_are_repaired_in_both_directions() {
    let Some(mut bench) = bench(Duration::from_millis(5), loses_every_fortieth) else { return };
    let bytes = pattern(300_000);
    assert!(sends(&mut bench, Family::V4, &Config::linux(), &bytes) == bytes);
    assert!(receives(&mut bench, Family::V4, &Config::linux(), &bytes) == bytes);
}

/// Both start with ten segments (RFC 6928) and double per RTT.
#[test]
fn the_linux_profile_starts_like_the_kernel() {
    let delay = Duration::from_millis(40);
    let Some(mut bench) = bench(delay, loses_nothing) else { return };
    let bytes = pattern(150_000);
    assert!(receives(&mut bench, Family::V4, &Config::linux(), &bytes) == bytes);
    let kernel = bench.path.segments_per(Side::Kernel, delay);
    bench.path.seen.clear();
    assert!(sends(&mut bench, Family::V4, &Config::linux(), &bytes) == bytes);
    let ours = bench.path.segments_per(Side::Ours, delay);
    eprintln!("segments per half round trip: kernel {kernel:?}, stack {ours:?}");
    assert_eq!((kernel[0], ours[0]), (10, 10));
    // Pacing may shift some of the kernel's segments into the next half RTT.
    let second = |counts: &[usize]| counts[1..=3].iter().sum::<usize>();
    assert!(second(&kernel).abs_diff(second(&ours)) <= 2, "kernel {kernel:?}, stack {ours:?}");
}
