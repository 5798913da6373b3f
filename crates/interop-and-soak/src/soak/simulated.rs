//! A soak whose clock goes on to the next thing that happens.

use super::applications::{Caller, Progress, Taker};
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

/// A stack, its application, and the line's end of its device.
struct Host<A> {
    driver: Driver<Memory, ManualClock>,
    application: A,
    end: Memory,
    latest: Option<Instant>,
    is_over: bool,
}

impl<A: Application<Memory, ManualClock>> Host<A> {
    fn new(side: Side, clock: &ManualClock, application: A) -> io::Result<Self> {
        let (device, end) = Memory::pair(MTU);
        let settings = Settings::deterministic(side as u64, &[ADDRESSES[side as usize].into()]);
        let stack = Stack::new(device, clock.clone(), settings).map_err(io::Error::other)?;
        Ok(Self { driver: Driver::new(stack)?, application, end, latest: None, is_over: false })
    }

    /// Does all that is to be done now, and hands over what leaves.
    fn turn(&mut self, now: Instant, side: Side, emulator: &mut Emulator) -> io::Result<()> {
        loop {
            match self.driver.turn(&mut self.application)? {
                ControlFlow::Continue(latest) => self.latest = latest,
                ControlFlow::Break(()) => (self.latest, self.is_over) = (None, true),
            }
            while let Some(packet) = self.end.take() {
                emulator.offer(now, side, &packet.bytes);
            }
            if self.next().is_none_or(|next| next > now) {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Option<Instant> {
        [self.driver.stack.deadline(), self.latest].into_iter().flatten().min()
    }

    fn give(&self, bytes: &[u8]) {
        let nobody = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        let packet = MemoryPacket { bytes: bytes.to_vec(), from: nobody, to: nobody, ecn: Ecn::NotCapable };
        // Without room it is lost, as in a real device.
        let _ = self.end.put(packet);
    }
}

pub(super) fn run(soak: &Soak, span: Duration, mut look: impl FnMut(Instant, &Progress)) -> io::Result<Arc<Progress>> {
    let (clock, progress, mut emulator) = (ManualClock::default(), Arc::<Progress>::default(), soak.line.emulator(1));
    let mut near = Host::new(Side::Near, &clock, Caller::new(soak, Path::to(ADDRESSES[1].into()), &progress))?;
    let mut far = Host::new(Side::Far, &clock, Taker::new(&progress))?;
    far.driver.stack.listen(PORT, &Config::linux(), ListenConfig::default()).map_err(io::Error::other)?;
    let mut next_look = Instant::ZERO + span;
    while !near.is_over {
        let now = clock.now();
        if now >= next_look {
            look(now, &progress);
            next_look += span;
        }
        while let Some(delivery) = emulator.poll(now) {
            match delivery.to {
                Side::Near => near.give(delivery.bytes),
                Side::Far => far.give(delivery.bytes),
            }
        }
        near.turn(now, Side::Near, &mut emulator)?;
        far.turn(now, Side::Far, &mut emulator)?;
        let next = [near.next(), far.next(), emulator.deadline(), Some(next_look)].into_iter().flatten().min();
        clock.set(next.unwrap_or(next_look).max(now));
    }
    Ok(progress)
}
