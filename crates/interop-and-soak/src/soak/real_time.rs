//! A soak in real time: two namespaces, a UDP socket in each, and emulated links between them.

use super::applications::{Client, Progress, Server};
use super::{PORT, Soak};
use crate::testbed::Testbed;
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

pub(super) fn run(
    soak: &Soak,
    span: Duration,
    mut on_progress: impl FnMut(Instant, &Progress),
) -> io::Result<Arc<Progress>> {
    let (soak, progress) = (*soak, Arc::<Progress>::default());
    let testbed = Testbed::new(&soak.path)?;
    let [near, far] = Side::ALL.map(|side| testbed.udp(side));
    let (near, far) = (Udp::from_socket(near?)?, Udp::from_socket(far?)?);
    // One clock for both stacks, so that their traces can be compared.
    let (path, clock) = (Path::over_udp(far.address()), MonotonicClock::default());
    let (client, server) = (Client::new(&soak, path, &progress), Server::new(&progress));
    // The server has no end of its own: it ends with the process.
    let (_, _handle) = spawn(move || {
        let mut stack = stack(far, clock)?;
        stack.listen(PORT, &Config::linux(), ListenConfig::default()).map_err(io::Error::other)?;
        Ok((stack, server))
    })?;
    let (client, _handle) = spawn(move || Ok((stack(near, clock)?, client)))?;
    let mut passed = Duration::ZERO;
    while !client.is_finished() {
        std::thread::sleep(std::time::Duration::from_nanos(span.as_nanos()));
        passed += span;
        on_progress(Instant::ZERO + passed, &progress);
    }
    client.join().map_err(|_| io::Error::other("the client failed"))??;
    testbed.stop()?;
    Ok(progress)
}
