//! Two relays over this machine's loopback device.
#![allow(clippy::disallowed_methods, reason = "relays live in real time")]

use earlybird_relay::{Address, RelayError, Report, Wish, transmit};
use std::io::Read;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// A relay on a thread, which drains when it is told to.
struct Running {
    thread: JoinHandle<Result<Report, RelayError>>,
    is_over: Arc<AtomicBool>,
}

impl Running {
    fn new(source: &str, destination: &str) -> Self {
        let [from, to] = [source, destination].map(ToOwned::to_owned);
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = is_over.clone();
        let thread = spawn(move || {
            let read = |text: &str| Address::read(text).expect("an address");
            let mut watch = |_: Option<&Report>| if seen.load(Ordering::Relaxed) { Wish::Drain } else { Wish::GoOn };
            transmit((&from, &read(&from)), (&to, &read(&to)), &mut watch)
        });
        Self { thread, is_over }
    }

    fn drain(self) -> Report {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("it does not panic").expect("it ends as it should")
    }
}

/// The one that sends waits.
const PLAIN: [&str; 2] = ["mode=listener&latency=30", "latency=30"];

/// Two relays between a source and a destination, each with its options of where they meet.
fn pair(source: &str, destination: &str, [sending, receiving]: [&str; 2]) -> [Running; 2] {
    let middle = free();
    let sender = Running::new(source, &format!("eb://{middle}?{sending}"));
    [sender, Running::new(&format!("eb://{middle}?{receiving}"), destination)]
}

/// A source of 500 datagrams a second.
struct Source {
    thread: JoinHandle<()>,
    is_over: Arc<AtomicBool>,
}

impl Source {
    fn new(entry: &str) -> Self {
        let (entry, is_over) = (entry.to_owned(), Arc::new(AtomicBool::new(false)));
        let seen = is_over.clone();
        let thread = spawn(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
            while !seen.load(Ordering::Relaxed) {
                socket.send_to(&[7; 1000], &entry).expect("a datagram");
                sleep(Duration::from_millis(2));
            }
        });
        Self { thread, is_over }
    }

    fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("it sends");
    }
}

/// A socket of this machine, and its address.
fn socket() -> (UdpSocket, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
    let address = socket.local_addr().expect("it is bound").to_string();
    (socket, address)
}

/// The port of an address.
fn port_of(address: &str) -> &str {
    address.rsplit(':').next().expect("a port")
}

/// An address that is free now.
fn free() -> String {
    socket().1
}

/// Sends datagrams of different lengths a few milliseconds apart, and gives the times that they took.
fn exchange(to: &str, at: &UdpSocket, count: usize) -> Vec<Duration> {
    let (began, to) = (Instant::now(), to.to_owned());
    let sender = spawn(move || {
        let sender = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        for number in 0..count {
            let mut datagram = vec![number as u8; 100 + number * 20];
            datagram[..8].copy_from_slice(&(began.elapsed().as_nanos() as u64).to_be_bytes());
            sender.send_to(&datagram, &to).expect("a datagram");
            sleep(Duration::from_millis(5));
        }
    });
    let mut times = Vec::new();
    let mut buffer = [0; 3000];
    for number in 0..count {
        let length = at.recv(&mut buffer).expect("a datagram in time");
        assert_eq!((length, buffer[8]), (100 + number * 20, number as u8));
        let sent = u64::from_be_bytes(*buffer.first_chunk().expect("eight bytes"));
        times.push(began.elapsed().saturating_sub(Duration::from_nanos(sent)));
    }
    sender.join().expect("it sends");
    times
}

/// Waits for two relays to find each other: what is sent before is for nobody.
fn settle(to: &str, at: &UdpSocket) {
    let sender = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    at.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    let began = Instant::now();
    while at.recv(&mut [0; 10]).is_err() {
        sender.send_to(b"anybody?", to).expect("a datagram");
        assert!(began.elapsed() < Duration::from_secs(10), "the relays do not find each other");
    }
    // Others are on their way for as long as the latency says.
    at.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout");
    while at.recv(&mut [0; 10]).is_ok() {}
    at.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
}

fn datagrams_arrive(transport: &str) {
    let (entry, (exit, at)) = (free(), socket());
    let options = ["latency=80", "mode=listener&latency=100"].map(|first| format!("{first}&transport={transport}"));
    let [sender, receiver] =
        pair(&format!("udp://{entry}"), &format!("udp://{at}"), options.each_ref().map(String::as_str));
    settle(&entry, &exit);
    let mut times = exchange(&entry, &exit, 100);
    times.sort_unstable();
    let [sent, came] = [sender.drain(), receiver.drain()];
    assert_eq!(
        (sent.counts.units, came.counts.lost),
        (came.counts.units + sent.counts.dropped, 0),
        "{sent:?} {came:?}"
    );
    // Both keep to the longer latency. This machine may be late, but is never early.
    assert!(times[0] >= Duration::from_millis(99) && times[50] < Duration::from_millis(160), "{transport}: {times:?}");
}

#[test]
fn datagrams_arrive_whole_and_at_their_time_as_frames() {
    datagrams_arrive("earlybird-rt");
}

#[test]
fn datagrams_arrive_whole_and_at_their_time_over_a_stream() {
    datagrams_arrive("cubic-rack");
}

#[test]
fn a_receiver_that_comes_back_is_served_again() {
    let (entry, middle, (exit, at)) = (free(), free(), socket());
    let sender = Running::new(&format!("udp://{entry}"), &format!("eb://{middle}?mode=listener&latency=30"));
    for _ in 0..2 {
        let receiver = Running::new(&format!("eb://{middle}?latency=30"), &format!("udp://{at}"));
        settle(&entry, &exit);
        assert_eq!(exchange(&entry, &exit, 10).len(), 10);
        receiver.drain();
    }
    assert_eq!(sender.drain().reconnects, 1);
}

/// It plays what it has; what comes afterwards is for others.
#[test]
fn a_receiver_ends_when_it_is_asked_to_although_the_stream_goes_on() {
    let (entry, (exit, at)) = (free(), socket());
    let options = ["mode=listener&latency=200", "latency=200"];
    let [sender, receiver] = pair(&format!("udp://{entry}"), &format!("udp://{at}"), options);
    settle(&entry, &exit);
    let source = Source::new(&entry);
    sleep(Duration::from_millis(500));
    let began = Instant::now();
    let report = receiver.drain();
    assert!(began.elapsed() < Duration::from_secs(2), "{report:?}");
    source.stop();
    sender.drain();
}

/// Makes a pipe with a name.
fn pipe(name: &str) -> PathBuf {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let pipe = std::env::temp_dir().join(format!("earlybird-pipe-{name}-{}", std::process::id()));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    pipe
}

#[test]
fn a_relay_whose_pipe_nobody_writes_to_ends_when_it_is_asked_to() {
    let (pipe, at) = (pipe("silent"), socket().1);
    let [sender, receiver] = pair(&format!("file:{}", pipe.display()), &format!("udp://{at}"), PLAIN);
    // Long enough to be connected, and to read what is not there.
    sleep(Duration::from_secs(1));
    let began = Instant::now();
    assert_eq!((sender.drain().counts.units, receiver.drain().counts.units), (0, 0));
    assert!(began.elapsed() < Duration::from_secs(5));
    std::fs::remove_file(pipe).expect("it is there");
}

#[test]
fn a_relay_whose_player_never_comes_ends_when_it_is_asked_to() {
    let pipe = pipe("unread");
    for destination in [format!("tcp://0.0.0.0:{}", port_of(&free())), format!("file:{}", pipe.display())] {
        let [sender, receiver] = pair(&format!("udp://{}", free()), &destination, PLAIN);
        sleep(Duration::from_secs(1));
        let began = Instant::now();
        receiver.drain();
        assert!(began.elapsed() < Duration::from_secs(5), "{destination}");
        sender.drain();
    }
    std::fs::remove_file(pipe).expect("it is there");
}

#[test]
fn a_pipe_is_written_to_for_each_who_reads_it() {
    let (pipe, entry) = (pipe("read"), free());
    let [sender, receiver] = pair(&format!("udp://{entry}"), &format!("file:{}", pipe.display()), PLAIN);
    let source = Source::new(&entry);
    for _ in 0..2 {
        let mut bytes = [0; 5000];
        std::fs::File::open(&pipe).and_then(|mut player| player.read_exact(&mut bytes)).expect("it is written to");
        assert_eq!(bytes, [7; 5000]);
    }
    source.stop();
    receiver.drain();
    sender.drain();
    std::fs::remove_file(pipe).expect("it is there");
}

/// A pipe holds 64 kB.
#[test]
fn a_player_that_stops_reading_does_not_hold_the_end() {
    let (pipe, entry) = (pipe("stopped"), free());
    let [sender, receiver] = pair(&format!("udp://{entry}"), &format!("file:{}", pipe.display()), PLAIN);
    let source = Source::new(&entry);
    let player = std::fs::File::open(&pipe).expect("it is written to");
    (&player).read_exact(&mut [0; 5000]).expect("it plays for a while");
    sleep(Duration::from_millis(1500));
    let began = Instant::now();
    let report = receiver.drain();
    assert!(began.elapsed() < Duration::from_secs(20), "{report:?}");
    assert!(report.left.units > 100 && report.left.bytes == report.left.units * 1000, "{report:?}");
    drop(player);
    source.stop();
    sender.drain();
    std::fs::remove_file(pipe).expect("it is there");
}

#[test]
fn a_pipe_is_read_from_when_somebody_writes_to_it_until_he_ends() {
    let (pipe, at) = (pipe("written"), socket().1);
    let [sender, receiver] = pair(&format!("file:{}", pipe.display()), &format!("udp://{at}"), PLAIN);
    sleep(Duration::from_millis(500));
    let packet = [&[0x47][..], &[0; 187]].concat();
    std::fs::write(&pipe, packet.repeat(700)).expect("it is read");
    let [sent, came] = [sender, receiver].map(|relay| relay.thread.join().expect("no panic").expect("it ends"));
    assert_eq!((sent.counts.bytes, came.counts.bytes), (700 * 188, 700 * 188));
    std::fs::remove_file(pipe).expect("it is there");
}

#[test]
fn a_stream_with_another_name_is_refused() {
    let options = ["mode=listener&streamid=one", "streamid=other"];
    let [sender, receiver] = pair(&format!("udp://{}", free()), &format!("udp://{}", free()), options);
    sleep(Duration::from_millis(1500));
    let report = receiver.drain();
    assert!(report.refusal.is_some_and(|reason| reason.contains("streamid")), "{:?}", report.counts);
    assert_eq!(sender.drain().peers, 0);
}

/// As an ordinary user, in a process of its own.
#[test]
fn who_may_make_no_device_is_told_of_udp() {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    // A thread has its own: it goes without them, and no other notices.
    let refused = spawn(|| {
        let mut own = capabilities(None).expect("it has some, or none");
        (own.effective, own.permitted, own.inheritable) = [CapabilitySet::empty(); 3].into();
        set_capabilities(None, own).expect("fewer are always allowed");
        let [from, to] = ["udp://127.0.0.1:5000", "eb://10.79.0.2:4201?via=tun&local=10.78.0.2"];
        let [source, destination] = [from, to].map(|text| Address::read(text).expect("an address"));
        transmit((from, &source), (to, &destination), &mut |_| Wish::Stop)
    });
    let error = refused.join().expect("it does not panic").expect_err("it may not").to_string();
    assert!(error.contains("via=udp needs no right") || error.contains("No such file"), "{error}");
    assert_eq!(error.lines().count(), 1);
}
