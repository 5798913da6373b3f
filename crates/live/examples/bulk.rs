//! Megabytes over UDP on this host, one thread each for sender and receiver: how fast, and what a packet costs.
//!
//! `bulk [MEGABYTES] [cubic|bbr]`

use earlybird_live::device::{Path, Udp};
use earlybird_live::{Application, Clock, Driver, Event, Id, Monotonic, Settings, Stack};
use earlybird_tcp::{BbrParameters, Config, Control, Ending, ListenConfig};
use earlybird_units::Instant;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::net::SocketAddr;
use std::ops::ControlFlow;

const PORT: u16 = 4201;

type Host = Stack<Udp, Monotonic>;

/// What a side has done.
#[derive(Default)]
struct Side {
    rest: u64,
    id: Option<Id>,
    read: u64,
    begin: Option<Instant>,
    end: Option<Instant>,
    segments: u64,
    buffer: Vec<u8>,
}

impl Side {
    fn new(rest: u64) -> Self {
        Self { rest, buffer: vec![7; 1 << 17], ..Self::default() }
    }

    fn write(&mut self, stack: &mut Host, id: Id) -> Result<(), earlybird_live::Error> {
        while self.rest > 0 {
            let most = self.buffer.len().min(self.rest as usize);
            let written = stack.write(id, &self.buffer[..most])?;
            self.rest -= written as u64;
            if written < most {
                return Ok(());
            }
        }
        stack.shutdown(id)
    }

    fn read(&mut self, stack: &mut Host, id: Id) -> Result<(), earlybird_live::Error> {
        self.begin = self.begin.or(Some(stack.now()));
        while let count @ 1.. = stack.read(id, &mut self.buffer)? {
            self.read += count as u64;
        }
        Ok(())
    }

    fn act(&mut self, stack: &mut Host, id: Id, event: Event) -> Result<(), earlybird_live::Error> {
        match event {
            Event::Incoming(port) => self.id = stack.accept(port),
            Event::Established | Event::Writable if self.rest > 0 => self.write(stack, id)?,
            Event::Readable => self.read(stack, id)?,
            Event::PeerClosed => stack.shutdown(id)?,
            Event::Closed(ending) => {
                assert_eq!(ending, Ending::InOrder);
                self.end = Some(stack.clock().now());
                self.segments = stack.connection(id)?.statistics().segments_sent;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Application<Udp, Monotonic> for Side {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        self.act(stack, id, event).expect("the connection is there");
    }

    fn on_turn(&mut self, _: &mut Host) -> ControlFlow<(), Option<Instant>> {
        if self.end.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

/// Gives the seconds that this thread has worked.
fn worked() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs a side to its end; gives it, and the seconds that it worked.
fn run(stack: Host, side: Side) -> (Side, f64, u64) {
    let mut driver = Driver::new(stack).expect("a descriptor");
    let (mut side, begin) = (side, worked());
    driver.run(&mut side).expect("the socket works");
    (side, worked() - begin, driver.stack.counters().arrived)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: u64 = arguments.next().map_or(Ok(1000), |text| text.parse())?;
    let config = match arguments.next().as_deref() {
        Some("bbr") => Config::linux().with_control(Control::Bbr(BbrParameters::DEFAULT)),
        _ => Config::linux(),
    };
    let clock = Monotonic::default();
    let any = || SocketAddr::from(([127, 0, 0, 1], 0));
    let server_device = Udp::bind(any())?;
    let there = Path::over_udp(server_device.address());
    let receiver = std::thread::spawn(move || {
        let mut server =
            Stack::new(server_device, clock, Settings::drawn(&[]).expect("random numbers")).expect("it fits");
        server.listen(PORT, &config, ListenConfig::default()).expect("the port is free");
        run(server, Side::new(0))
    });
    let mut client = Stack::new(Udp::bind(any())?, clock, Settings::drawn(&[])?)?;
    client.connect(&config, there, PORT)?;
    let (sender, sending, acks) = run(client, Side::new(megabytes * 1_000_000));
    let (receiver, receiving, packets) = receiver.join().map_err(|_| "the receiver failed")?;
    assert_eq!(receiver.read, megabytes * 1_000_000);
    let took = (receiver.end.unwrap_or_default() - receiver.begin.unwrap_or_default()).as_secs_f64();
    let segments = sender.segments as f64;
    eprintln!(
        "{megabytes} MB in {took:.2} s: {:.0} Mbit/s; {segments} segments sent, {packets} arrived, {acks} ACKs; CPU per segment: \
         sender {:.2} us, receiver {:.2} us",
        receiver.read as f64 * 8.0 / took / 1e6,
        sending * 1e6 / segments,
        receiving * 1e6 / segments,
    );
    Ok(())
}
