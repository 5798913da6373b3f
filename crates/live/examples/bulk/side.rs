//! One side of a transfer: what it writes or reads, and what that cost.

use earlybird_live::device::Device;
use earlybird_live::{Application, Clock, Driver, Event, Id, Monotonic, Stack};
use earlybird_tcp::Ending;
use earlybird_units::Instant;
use rustix::time::{ClockId, clock_gettime};
use std::ops::ControlFlow;

type Host<D> = Stack<D, Monotonic>;

/// What a side has done.
#[derive(Default)]
pub(crate) struct Side {
    rest: u64,
    pub(crate) read: u64,
    begin: Option<Instant>,
    end: Option<Instant>,
    pub(crate) segments: u64,
    buffer: Vec<u8>,
}

impl Side {
    pub(crate) fn new(rest: u64) -> Self {
        Self { rest, buffer: vec![7; 1 << 17], ..Self::default() }
    }

    fn write<D: Device>(&mut self, stack: &mut Host<D>, id: Id) -> Result<(), earlybird_live::Error> {
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

    fn read<D: Device>(&mut self, stack: &mut Host<D>, id: Id) -> Result<(), earlybird_live::Error> {
        while let count @ 1.. = stack.read(id, &mut self.buffer)? {
            self.read += count as u64;
        }
        Ok(())
    }

    /// Does what an event asks for.
    fn act<D: Device>(&mut self, stack: &mut Host<D>, id: Id, event: Event) -> Result<(), earlybird_live::Error> {
        self.begin = self.begin.or(Some(stack.now()));
        match event {
            Event::Incoming(port) => assert!(stack.accept(port).is_some()),
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

impl<D: Device> Application<D, Monotonic> for Side {
    fn on_event(&mut self, stack: &mut Host<D>, id: Id, event: Event) {
        self.act(stack, id, event).expect("the connection is there");
    }

    fn on_turn(&mut self, _: &mut Host<D>) -> ControlFlow<(), Option<Instant>> {
        if self.end.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

/// Gives the seconds that this thread has worked.
fn worked() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// A transfer as one side saw it.
pub(crate) struct Outcome {
    pub(crate) side: Side,
    /// Seconds of this thread.
    pub(crate) cpu: f64,
    /// Packets that arrived.
    pub(crate) arrived: u64,
}

/// Runs a side to its end.
pub(crate) fn run<D: Device>(stack: Host<D>, mut side: Side) -> Outcome {
    let mut driver = Driver::new(stack).expect("a descriptor");
    let begin = worked();
    driver.run(&mut side).expect("the device works");
    Outcome { side, cpu: worked() - begin, arrived: driver.stack.counters().arrived }
}

impl Outcome {
    /// Says how fast it was, and what each of so many data segments cost.
    pub(crate) fn report(&self, what: &str, bytes: u64, segments: u64) {
        let took = (self.side.end.unwrap_or_default() - self.side.begin.unwrap_or_default()).as_secs_f64();
        let rate = bytes as f64 * 8.0 / took / 1e6;
        let cost = self.cpu * 1e6 / segments as f64;
        eprintln!("{what}: {rate:.0} Mbit/s, {cost:.2} us of CPU per data segment, {} packets arrived", self.arrived);
    }
}
