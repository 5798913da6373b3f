//! An echo server and its client.

use earlybird_live::device::Udp;
use earlybird_live::{Application, Event, Id, MonotonicClock, Stack};
use earlybird_tcp::Ending;
use earlybird_units::Instant;
use std::collections::HashMap;
use std::ops::ControlFlow;

pub(crate) type Host = Stack<Udp, MonotonicClock>;

/// Pseudo-random bytes without a short period.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|index| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// Echoes received bytes, and closes when the peer does.
pub(crate) struct Echo {
    /// The number of connections after which it stops.
    connections: usize,
    pub(crate) endings: Vec<Ending>,
    /// Bytes that are not echoed yet, and whether the peer has closed.
    waiting: HashMap<Id, (Vec<u8>, bool)>,
}

/// The most bytes to buffer per connection.
const AT_MOST: usize = 1 << 18;

impl Echo {
    pub(crate) fn new(connections: usize) -> Self {
        Self { connections, endings: Vec::new(), waiting: HashMap::new() }
    }

    fn carry(&mut self, stack: &mut Host, id: Id) {
        let (bytes, has_ended) = self.waiting.entry(id).or_default();
        let mut buffer = [0; 1 << 14];
        loop {
            let written = if bytes.is_empty() { 0 } else { stack.write(id, bytes).unwrap() };
            bytes.drain(..written);
            let count = if bytes.len() < AT_MOST { stack.read(id, &mut buffer).unwrap() } else { 0 };
            bytes.extend(&buffer[..count]);
            if written + count == 0 {
                break;
            }
        }
        if bytes.is_empty() && *has_ended {
            stack.shutdown(id).unwrap();
        }
    }
}

impl Application<Udp, MonotonicClock> for Echo {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        match event {
            Event::Incoming(port) => assert!(stack.accept(port).is_some()),
            Event::Readable | Event::Writable => self.carry(stack, id),
            Event::PeerClosed => {
                self.waiting.entry(id).or_default().1 = true;
                self.carry(stack, id);
            }
            Event::Closed(ending) => {
                self.endings.push(ending);
                stack.close(id).unwrap();
            }
            _ => {}
        }
    }

    fn on_turn(&mut self, _: &mut Host) -> ControlFlow<(), Option<Instant>> {
        if self.endings.len() >= self.connections { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

/// Sends a text over each connection, and checks the echo.
pub(crate) struct Client {
    text: Vec<u8>,
    connections: usize,
    /// Bytes written and read.
    done: HashMap<Id, (usize, usize)>,
    pub(crate) endings: Vec<Ending>,
    /// Called when the first bytes come back.
    pub(crate) on_progress: Option<Box<dyn FnOnce()>>,
}

impl Client {
    pub(crate) fn new(text: Vec<u8>, connections: usize) -> Self {
        Self { text, connections, done: HashMap::new(), endings: Vec::new(), on_progress: None }
    }

    fn write(&mut self, stack: &mut Host, id: Id) {
        let (written, _) = self.done.entry(id).or_default();
        let rest = &self.text[*written..];
        if !rest.is_empty() {
            *written += stack.write(id, rest).unwrap();
            if *written == self.text.len() {
                stack.shutdown(id).unwrap();
            }
        }
    }

    fn read(&mut self, stack: &mut Host, id: Id) {
        let (_, read) = self.done.entry(id).or_default();
        let mut buffer = [0; 1 << 14];
        while let count @ 1.. = stack.read(id, &mut buffer).unwrap() {
            assert!(buffer[..count] == self.text[*read..*read + count], "other bytes come back at {read}");
            *read += count;
            if let Some(act) = self.on_progress.take() {
                act();
            }
        }
    }
}

impl Application<Udp, MonotonicClock> for Client {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        match event {
            Event::Established | Event::Writable => self.write(stack, id),
            Event::Readable => self.read(stack, id),
            Event::Closed(ending) => {
                self.endings.push(ending);
                let read = self.done.get(&id).map_or(0, |(_, read)| *read);
                assert!(ending != Ending::InOrder || read == self.text.len(), "{read} bytes came back");
                stack.close(id).unwrap();
            }
            _ => {}
        }
    }

    fn on_turn(&mut self, _: &mut Host) -> ControlFlow<(), Option<Instant>> {
        if self.endings.len() >= self.connections { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}
