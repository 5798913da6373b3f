//! Our end of a transfer.

use super::Family;
use crate::testbed::MTU;
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

type TunStack = Stack<Tun, MonotonicClock>;

/// Runs our end in the current namespace: `send|read|page PEER MEGABYTES CONTROL`. Prints the SHA-256 of what it sent or read,
/// and the number of retransmissions.
///
/// # Errors
///
/// If the arguments are wrong, or there is no device.
pub fn serve(arguments: &[String]) -> io::Result<()> {
    let [role, peer, megabytes, control] = arguments else { return Err(usage_error("four arguments")) };
    let peer: IpAddr = peer.parse().map_err(|_| usage_error("an address"))?;
    let megabytes: u64 = megabytes.parse().map_err(|_| usage_error("a number of megabytes"))?;
    let config = config(control).ok_or_else(|| usage_error("cubic, bbr or tolerant"))?;
    let mut stack = stack()?;
    let transfer = match &**role {
        "send" => Transfer::new(megabytes * 1_000_000),
        "read" => Transfer::new(0),
        "page" => Transfer { awaits_request: true, ..Transfer::new(megabytes * 1_000_000) },
        _ => return Err(usage_error("send, read or page")),
    };
    if role == "send" {
        stack.connect(&config, Path::to(peer), PORT).map_err(io::Error::other)?;
    } else {
        stack.listen(PORT, &config, ListenConfig::default()).map_err(io::Error::other)?;
        // The parent starts the client only after this line.
        writeln!(io::stdout(), "ready")?;
    }
    transfer.run(stack)
}

fn usage_error(expected: &str) -> io::Error {
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

fn stack() -> io::Result<TunStack> {
    let device = Tun::new(DEVICE, MTU)?;
    for (family, prefix) in Family::ALL.into_iter().zip([24, 64]) {
        Tun::add_address(DEVICE, family.behind(1), prefix)?;
    }
    let settings = Settings::random(&Family::ALL.map(Family::ours))?;
    Stack::new(device, MonotonicClock::default(), settings).map_err(io::Error::other)
}

/// Bytes per generated block.
const BLOCK_BYTES: usize = 1 << 16;

/// A transfer in one direction.
struct Transfer {
    rest: u64,
    block: Vec<u8>,
    unwritten: usize,
    blocks: u64,
    awaits_request: bool,
    digest: Sha256,
    connection: Option<Id>,
}

impl Transfer {
    fn new(rest: u64) -> Self {
        Self {
            rest,
            block: vec![0; BLOCK_BYTES],
            unwritten: 0,
            blocks: 0,
            awaits_request: false,
            digest: Sha256::new(),
            connection: None,
        }
    }

    fn run(mut self, stack: TunStack) -> io::Result<()> {
        let mut driver = Driver::new(stack)?;
        driver.run(&mut self)?;
        let id = self.connection.ok_or_else(|| io::Error::other("unused came"))?;
        let retransmissions = driver.stack.connection(id).map_err(io::Error::other)?.statistics().retransmissions;
        writeln!(io::stdout(), "{:x} {retransmissions}", self.digest.finalize())
    }

    /// Generates the next block. Each is derived from its number, so that no two are equal and a repeated block changes the
    /// digest.
    fn next_block(&mut self) {
        self.blocks += 1;
        let count = self.rest.min(BLOCK_BYTES as u64) as usize;
        for (index, byte) in self.block[..count].iter_mut().enumerate() {
            let number = self.blocks.wrapping_mul(BLOCK_BYTES as u64).wrapping_add(index as u64);
            // A multiplicative hash: cheap, and without repetition that could hide swapped blocks.
            *byte = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
        }
        self.block.truncate(count);
        self.rest -= count as u64;
        self.unwritten = count;
        self.digest.update(&self.block);
    }

    fn write(&mut self, stack: &mut TunStack, id: Id) -> Result<(), Error> {
        loop {
            if self.unwritten == 0 && self.rest == 0 {
                return stack.shutdown(id);
            }
            if self.unwritten == 0 {
                self.next_block();
            }
            let start = self.block.len() - self.unwritten;
            self.unwritten -= stack.write(id, &self.block[start..])?;
            // The send buffer is full: `Event::Writable` continues.
            if self.unwritten > 0 {
                return Ok(());
            }
        }
    }

    /// Reads data, or an HTTP request, which is answered when it is complete.
    fn read(&mut self, stack: &mut TunStack, id: Id) -> Result<(), Error> {
        let mut buffer = [0; 1 << 14];
        while let count @ 1.. = stack.read(id, &mut buffer)? {
            if !self.awaits_request {
                self.digest.update(&buffer[..count]);
            } else if buffer[..count].ends_with(b"\r\n\r\n") {
                self.awaits_request = false;
                let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", self.rest);
                stack.write(id, head.as_bytes())?;
                self.write(stack, id)?;
            }
        }
        Ok(())
    }

    fn act(&mut self, stack: &mut TunStack, id: Id, event: Event) -> Result<(), Error> {
        self.connection = Some(id);
        match event {
            Event::Incoming(port) => {
                stack.accept(port);
                Ok(())
            }
            Event::Established | Event::Writable if !self.awaits_request && self.is_sending() => self.write(stack, id),
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
    fn on_event(&mut self, stack: &mut TunStack, id: Id, event: Event) {
        self.act(stack, id, event).expect("the connection is there");
    }

    fn on_turn(&mut self, stack: &mut TunStack) -> ControlFlow<(), Option<Instant>> {
        let connection = self.connection.and_then(|id| stack.connection(id).ok());
        // Stay until the FIN of the peer is acknowledged: this process owns the stack, and its end would reset the connection.
        let is_stopped = |state| matches!(state, RfcState::TimeWait | RfcState::Closed);
        if connection.is_some_and(|connection| is_stopped(connection.state())) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(None)
        }
    }
}
