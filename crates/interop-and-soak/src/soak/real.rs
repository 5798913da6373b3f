//! A soak in real time: two namespaces, a socket of UDP in each, the emulated links between.

use super::applications::{Caller, Progress, Taker};
use super::{PORT, Soak};
use crate::rig::Rig;
use earlybird_emulator::Side;
use earlybird_live::device::{Path, Udp};
use earlybird_live::{MonotonicClock, Settings, Stack, spawn};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::{Duration, Instant};
use std::io;
use std::sync::Arc;

fn stack(device: Udp, clock: MonotonicClock) -> io::Result<Stack<Udp, MonotonicClock>> {
    Stack::new(device, clock, Settings::random(&[])?).map_err(io::Error::other)
}

pub(super) fn run(soak: &Soak, span: Duration, mut look: impl FnMut(Instant, &Progress)) -> io::Result<Arc<Progress>> {
    let (soak, progress) = (*soak, Arc::<Progress>::default());
    let rig = Rig::new(&soak.line)?;
    let [near, far] = Side::ALL.map(|side| rig.udp(side));
    let (near, far) = (Udp::from_socket(near?)?, Udp::from_socket(far?)?);
    let (path, clock) = (Path::over_udp(far.address()), MonotonicClock::default());
    let (caller, taker) = (Caller::new(&soak, path, &progress), Taker::new(&progress));
    // The taker has no end of its own: it goes with the process.
    let (_, _handle) = spawn(move || {
        let mut stack = stack(far, clock)?;
        stack.listen(PORT, &Config::linux(), ListenConfig::default()).map_err(io::Error::other)?;
        Ok((stack, taker))
    })?;
    let (caller, _handle) = spawn(move || Ok((stack(near, clock)?, caller)))?;
    let mut passed = Duration::ZERO;
    while !caller.is_finished() {
        std::thread::sleep(std::time::Duration::from_nanos(span.as_nanos()));
        passed += span;
        look(Instant::ZERO + passed, &progress);
    }
    caller.join().map_err(|_| io::Error::other("the caller failed"))??;
    rig.stop()?;
    Ok(progress)
}
