//! Megabytes between two stacks over UDP on this host, or between a stack and this machine's kernel over TUN: how fast, and what a
//! segment costs.
//!
//! `bulk [MEGABYTES] [udp|tun] [cubic|bbr]`; `tun` needs root, and takes a network of its own.

mod side;

use earlybird_live::device::{Path, Tun, Udp};
use earlybird_live::{Monotonic, Settings, Stack};
use earlybird_tcp::{BbrParameters, Config, Control, ListenConfig};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use side::{Side, run};
use std::error::Error;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::thread;

const PORT: u16 = 4201;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: u64 = arguments.next().map_or(Ok(1000), |text| text.parse())?;
    let is_tun = arguments.next().is_some_and(|text| text == "tun");
    let config = match arguments.next().as_deref() {
        Some("bbr") => Config::linux().with_control(Control::Bbr(BbrParameters::DEFAULT)),
        _ => Config::linux(),
    };
    let bytes = megabytes * 1_000_000;
    if is_tun { over_tun(&config, bytes) } else { over_udp(config, bytes) }
}

fn over_udp(config: Config, bytes: u64) -> Result<(), Box<dyn Error>> {
    let clock = Monotonic::default();
    let any = || SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Udp::bind(any())?;
    let there = Path::over_udp(server.address());
    let receiver = thread::spawn(move || {
        let mut server = Stack::new(server, clock, Settings::drawn(&[]).expect("random numbers")).expect("it fits");
        server.listen(PORT, &config, ListenConfig::default()).expect("the port is free");
        run(server, Side::new(0))
    });
    let mut client = Stack::new(Udp::bind(any())?, clock, Settings::drawn(&[])?)?;
    client.connect(&config, there, PORT)?;
    let sender = run(client, Side::new(bytes));
    let receiver = receiver.join().map_err(|_| "the receiver failed")?;
    assert_eq!(receiver.side.read, bytes);
    sender.report("sender", bytes, sender.side.segments);
    receiver.report("receiver", bytes, sender.side.segments);
    Ok(())
}

fn over_tun(config: &Config, bytes: u64) -> Result<(), Box<dyn Error>> {
    let [kernel, ours] = [1, 2].map(|host| IpAddr::from([10, 77, 0, host]));
    // SAFETY: only the network namespace is left; no descriptor and no memory is shared differently afterwards.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
    let stack = |name: &str| -> Result<_, Box<dyn Error>> {
        let device = Tun::new(name, 1500)?;
        Tun::add_address(name, kernel, 24)?;
        Ok(Stack::new(device, Monotonic::default(), Settings::drawn(&[ours])?)?)
    };
    send_to_kernel(stack("first")?, config, bytes, kernel)?;
    receive_from_kernel(stack("second")?, config, bytes, ours)
}

fn send_to_kernel(
    mut stack: Stack<Tun, Monotonic>,
    config: &Config,
    bytes: u64,
    kernel: IpAddr,
) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((kernel, PORT))?;
    let reader = thread::spawn(move || {
        let (mut peer, _) = listener.accept().expect("somebody comes");
        let (mut buffer, mut read) = (vec![0; 1 << 17], 0);
        while let count @ 1.. = peer.read(&mut buffer).expect("it is read") {
            read += count as u64;
        }
        read
    });
    stack.connect(config, Path::to(kernel), PORT)?;
    let sender = run(stack, Side::new(bytes));
    assert_eq!(reader.join().map_err(|_| "the reader failed")?, bytes);
    sender.report("to the kernel", bytes, sender.side.segments);
    Ok(())
}

fn receive_from_kernel(
    mut stack: Stack<Tun, Monotonic>,
    config: &Config,
    bytes: u64,
    ours: IpAddr,
) -> Result<(), Box<dyn Error>> {
    stack.listen(PORT, config, ListenConfig::default())?;
    let writer = thread::spawn(move || {
        let mut peer = TcpStream::connect((ours, PORT)).expect("it opens");
        let buffer = vec![7; 1_000_000];
        for _ in 0..bytes / 1_000_000 {
            peer.write_all(&buffer).expect("it is written");
        }
    });
    let receiver = run(stack, Side::new(0));
    writer.join().map_err(|_| "the writer failed")?;
    assert_eq!(receiver.side.read, bytes);
    receiver.report("from the kernel", bytes, bytes / 1448);
    Ok(())
}
