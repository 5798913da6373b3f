//! One of our two ends of a transfer.

use earlybird_live::device::Device;
use earlybird_live::{Application, Driver, Event, Id, MonotonicClock, Stack};
use earlybird_tcp::Ending;
use earlybird_units::Instant;
use std::ops::ControlFlow;

type Host<D> = Stack<D, MonotonicClock>;

/// Writes what it has, or reads what comes.
#[derive(Default)]
pub(crate) struct Side {
    rest: u64,
    read: u64,
    has_ended: bool,
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
        match event {
            Event::Incoming(port) => assert!(stack.accept(port).is_some()),
            Event::Established | Event::Writable if self.rest > 0 => self.write(stack, id)?,
            Event::Readable => self.read(stack, id)?,
            Event::PeerClosed => stack.shutdown(id)?,
            Event::Closed(ending) => {
                assert_eq!(ending, Ending::InOrder);
                self.has_ended = true;
            }
            _ => {}
        }
        Ok(())
    }
}

impl<D: Device> Application<D, MonotonicClock> for Side {
    fn on_event(&mut self, stack: &mut Host<D>, id: Id, event: Event) {
        self.act(stack, id, event).expect("the connection is there");
    }

    fn on_turn(&mut self, _: &mut Host<D>) -> ControlFlow<(), Option<Instant>> {
        if self.has_ended { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

/// Runs a side to its end; gives how many bytes it has read.
pub(crate) fn run<D: Device>(stack: Host<D>, mut side: Side) -> u64 {
    Driver::new(stack).expect("a descriptor").run(&mut side).expect("the device works");
    side.read
}
