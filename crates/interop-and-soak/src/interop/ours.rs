//! Our side of a transfer.

use super::Family;
use crate::rig::MTU;
use earlybird_live::device::{Path, Tun};
use earlybird_live::{Application, Driver, Error, Event, Id, MonotonicClock, Settings, Stack};
use earlybird_tcp::{BbrParameters, Config, Control, ListenConfig, RfcState, TolerantParameters};
use earlybird_units::Instant;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::net::IpAddr;
use std::ops::ControlFlow;

pub(super) const PORT: u16 = 4201;
const DEVICE: &str = "ours";

type Host = Stack<Tun, MonotonicClock>;

/// Runs our side in the namespace that this process is in: `send|read|page PEER MEGABYTES CONTROL`. Says at the end the SHA-256 of what it
/// sent or read, and how many segments it sent again.
///
/// # Errors
///
/// If the arguments are others, or there is no device.
pub fn serve(arguments: &[String]) -> io::Result<()> {
    let [role, peer, megabytes, control] = arguments else { return Err(wrong("four arguments")) };
    let peer: IpAddr = peer.parse().map_err(|_| wrong("an address"))?;
    let megabytes: u64 = megabytes.parse().map_err(|_| wrong("a number of megabytes"))?;
    let config = config(control).ok_or_else(|| wrong("cubic, bbr or tolerant"))?;
    let mut stack = stack()?;
    let transfer = match &**role {
        "send" => Transfer::new(megabytes * 1_000_000),
        "read" => Transfer::new(0),
        "page" => Transfer { awaits_question: true, ..Transfer::new(megabytes * 1_000_000) },
        _ => return Err(wrong("send, read or page")),
    };
    if role == "send" {
        stack.connect(&config, Path::to(peer), PORT).map_err(io::Error::other)?;
    } else {
        stack.listen(PORT, &config, ListenConfig::default()).map_err(io::Error::other)?;
        writeln!(io::stdout(), "ready")?;
    }
    transfer.run(stack)
}

fn wrong(expected: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("expected {expected}"))
}

fn config(control: &str) -> Option<Config> {
    match control {
        "cubic" => Some(Config::linux()),
        "bbr" => Some(Config::linux().with_control(Control::Bbr(BbrParameters::DEFAULT))),
        "tolerant" => Some(Config::linux().with_control(Control::Tolerant(TolerantParameters::DEFAULT))),
        _ => None,
    }
}

fn stack() -> io::Result<Host> {
    let device = Tun::new(DEVICE, MTU)?;
    for (family, prefix) in Family::ALL.into_iter().zip([24, 64]) {
        Tun::add_address(DEVICE, family.behind(1), prefix)?;
    }
    let settings = Settings::random(&Family::ALL.map(Family::ours))?;
    Stack::new(device, MonotonicClock::default(), settings).map_err(io::Error::other)
}

/// Bytes that were made, and not yet written.
const BLOCK: usize = 1 << 16;

/// A transfer in one direction.
struct Transfer {
    rest: u64,
    block: Vec<u8>,
    unwritten: usize,
    blocks: u64,
    awaits_question: bool,
    digest: Sha256,
    connection: Option<Id>,
}

impl Transfer {
    fn new(rest: u64) -> Self {
        Self {
            rest,
            block: vec![0; BLOCK],
            unwritten: 0,
            blocks: 0,
            awaits_question: false,
            digest: Sha256::new(),
            connection: None,
        }
    }

    fn run(mut self, stack: Host) -> io::Result<()> {
        let mut driver = Driver::new(stack)?;
        driver.run(&mut self)?;
        let id = self.connection.ok_or_else(|| io::Error::other("nobody came"))?;
        let repeated = driver.stack.connection(id).map_err(io::Error::other)?.statistics().retransmissions;
        writeln!(io::stdout(), "{:x} {repeated}", self.digest.finalize())
    }

    /// Makes the next block: each begins with its number, so that none is like another.
    fn next_block(&mut self) {
        self.blocks += 1;
        let count = self.rest.min(BLOCK as u64) as usize;
        for (place, byte) in self.block[..count].iter_mut().enumerate() {
            let number = self.blocks.wrapping_mul(BLOCK as u64).wrapping_add(place as u64);
            *byte = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
        }
        self.block.truncate(count);
        self.rest -= count as u64;
        self.unwritten = count;
        self.digest.update(&self.block);
    }

    fn write(&mut self, stack: &mut Host, id: Id) -> Result<(), Error> {
        loop {
            if self.unwritten == 0 && self.rest == 0 {
                return stack.shutdown(id);
            }
            if self.unwritten == 0 {
                self.next_block();
            }
            let start = self.block.len() - self.unwritten;
            self.unwritten -= stack.write(id, &self.block[start..])?;
            if self.unwritten > 0 {
                return Ok(());
            }
        }
    }

    /// Reads what came; a question is answered when it is whole.
    fn read(&mut self, stack: &mut Host, id: Id) -> Result<(), Error> {
        let mut buffer = [0; 1 << 14];
        while let count @ 1.. = stack.read(id, &mut buffer)? {
            if !self.awaits_question {
                self.digest.update(&buffer[..count]);
            } else if buffer[..count].ends_with(b"\r\n\r\n") {
                self.awaits_question = false;
                let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", self.rest);
                stack.write(id, head.as_bytes())?;
                self.write(stack, id)?;
            }
        }
        Ok(())
    }

    fn act(&mut self, stack: &mut Host, id: Id, event: Event) -> Result<(), Error> {
        self.connection = Some(id);
        match event {
            Event::Incoming(port) => {
                stack.accept(port);
                Ok(())
            }
            Event::Established | Event::Writable if !self.awaits_question && self.is_sending() => self.write(stack, id),
            Event::Readable => self.read(stack, id),
            Event::PeerClosed => stack.shutdown(id),
            _ => Ok(()),
        }
    }

    const fn is_sending(&self) -> bool {
        self.rest > 0 || self.unwritten > 0
    }
}

impl Application<Tun, MonotonicClock> for Transfer {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        self.act(stack, id, event).expect("the connection is there");
    }

    fn on_turn(&mut self, stack: &mut Host) -> ControlFlow<(), Option<Instant>> {
        let connection = self.connection.and_then(|id| stack.connection(id).ok());
        let is_over = |state| matches!(state, RfcState::TimeWait | RfcState::Closed);
        if connection.is_some_and(|connection| is_over(connection.state())) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(None)
        }
    }
}
