//! A soak in simulated time.

use super::applications::{Client, Progress, Server};
use super::{PORT, Soak};
use earlybird_emulator::{Emulator, Side};
use earlybird_live::device::{Memory, MemoryPacket, Path};
use earlybird_live::{Application, Clock, Driver, ManualClock, Settings, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::{Duration, Instant};
use earlybird_wire::Ecn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::Arc;

const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
const MTU: u16 = 1500;

/// A stack, its application, and the network's end of its device.
struct Host<A> {
    driver: Driver<Memory, ManualClock>,
    application: A,
    end: Memory,
    latest: Option<Instant>,
    is_stopped: bool,
}

impl<A: Application<Memory, ManualClock>> Host<A> {
    fn new(side: Side, clock: &ManualClock, application: A) -> io::Result<Self> {
        let (device, end) = Memory::pair(MTU);
        let settings = Settings::deterministic(side as u64, &[ADDRESSES[side as usize].into()]);
        let stack = Stack::new(device, clock.clone(), settings).map_err(io::Error::other)?;
        Ok(Self { driver: Driver::new(stack)?, application, end, latest: None, is_stopped: false })
    }

    /// Runs the stack at the current time and passes its packets to the emulator.
    fn turn(&mut self, now: Instant, side: Side, emulator: &mut Emulator) -> io::Result<()> {
        loop {
            match self.driver.turn(&mut self.application)? {
                ControlFlow::Continue(latest) => self.latest = latest,
                ControlFlow::Break(()) => (self.latest, self.is_stopped) = (None, true),
            }
            while let Some(packet) = self.end.take() {
                emulator.offer(now, side, &packet.bytes);
            }
            // A stack may have more to do at the same time, for example the reply to its own event.
            if self.next().is_none_or(|next| next > now) {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Option<Instant> {
        [self.driver.stack.deadline(), self.latest].into_iter().flatten().min()
    }

    fn inject(&self, bytes: &[u8]) {
        let unused = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        let packet = MemoryPacket { bytes: bytes.to_vec(), from: unused, to: unused, ecn: Ecn::NotCapable };
        // Dropped if the queue is full, as by a real device.
        let _ = self.end.put(packet);
    }
}

pub(super) fn run(
    soak: &Soak,
    span: Duration,
    mut on_progress: impl FnMut(Instant, &Progress),
) -> io::Result<Arc<Progress>> {
    let (clock, progress, mut emulator) = (ManualClock::default(), Arc::<Progress>::default(), soak.path.emulator(1));
    let mut near = Host::new(Side::Near, &clock, Client::new(soak, Path::to(ADDRESSES[1].into()), &progress))?;
    let mut far = Host::new(Side::Far, &clock, Server::new(&progress))?;
    far.driver.stack.listen(PORT, &Config::linux(), ListenConfig::default()).map_err(io::Error::other)?;
    let mut next_progress = Instant::ZERO + span;
    while !near.is_stopped {
        let now = clock.now();
        if now >= next_progress {
            on_progress(now, &progress);
            next_progress += span;
        }
        while let Some(delivery) = emulator.poll(now) {
            match delivery.to {
                Side::Near => near.inject(delivery.bytes),
                Side::Far => far.inject(delivery.bytes),
            }
        }
        near.turn(now, Side::Near, &mut emulator)?;
        far.turn(now, Side::Far, &mut emulator)?;
        let next = [near.next(), far.next(), emulator.deadline(), Some(next_progress)].into_iter().flatten().min();
        // Never backwards: a deadline of the past means now.
        clock.set(next.unwrap_or(next_progress).max(now));
    }
    Ok(progress)
}
