//! Our stack, with another one and with the kernel.

use crate::Result;
use crate::kernel::{drain, fill, in_a_network};
use crate::side::{Side, run};
use earlybird_live::device::{Path, Tun, Udp};
use earlybird_live::{MonotonicClock, Settings, Stack};
use earlybird_tcp::{Config, ListenConfig};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::thread;

const PORT: u16 = 4201;
const KERNEL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 1));
const OURS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 2));

pub(crate) fn over_udp(bytes: u64) -> Result<()> {
    let clock = MonotonicClock::default();
    let any = || SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Udp::bind(any())?;
    let there = Path::over_udp(server.address());
    let receiver = thread::spawn(move || {
        let mut server = Stack::new(server, clock, Settings::random(&[]).expect("random numbers")).expect("it fits");
        server.listen(PORT, &Config::linux(), ListenConfig::default()).expect("the port is free");
        run(server, Side::new(0))
    });
    let mut client = Stack::new(Udp::bind(any())?, clock, Settings::random(&[])?)?;
    client.connect(&Config::linux(), there, PORT)?;
    run(client, Side::new(bytes));
    assert_eq!(receiver.join().map_err(|_| "the receiver failed")?, bytes);
    Ok(())
}

fn stack() -> Result<Stack<Tun, MonotonicClock>> {
    let device = Tun::new("ours", 1500)?;
    Tun::add_address("ours", KERNEL, 24)?;
    Ok(Stack::new(device, MonotonicClock::default(), Settings::random(&[OURS])?)?)
}

pub(crate) fn to_kernel(bytes: u64) -> Result<()> {
    in_a_network(move || {
        let mut stack = stack()?;
        let listener = TcpListener::bind((KERNEL, PORT))?;
        let reader = thread::spawn(move || drain(listener.accept().expect("somebody comes").0));
        stack.connect(&Config::linux(), Path::to(KERNEL), PORT)?;
        run(stack, Side::new(bytes));
        assert_eq!(reader.join().map_err(|_| "the reader failed")?, bytes);
        Ok(())
    })
}

pub(crate) fn from_kernel(bytes: u64) -> Result<()> {
    in_a_network(move || {
        let mut stack = stack()?;
        stack.listen(PORT, &Config::linux(), ListenConfig::default())?;
        let writer = thread::spawn(move || fill(TcpStream::connect((OURS, PORT)).expect("it opens"), bytes));
        let read = run(stack, Side::new(0));
        writer.join().map_err(|_| "the writer failed")?;
        assert_eq!(read, bytes);
        Ok(())
    })
}
