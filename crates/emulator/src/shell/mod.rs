//! Runs a command over an emulated network, like mahimahi's shells.

mod dns;
mod gateway;
mod guard;
mod processes;
mod statistics;

pub use processes::CommandExit;
pub use statistics::{LinkSnapshot, Snapshot};

use crate::bridge::{Bridge, BridgeObserver, BridgeStats};
use crate::capture::Capture;
use crate::emulator::Emulator;
use crate::flow_routes::Side;
use crate::namespace::{HostConfig, HostDevice, Namespace};
use earlybird_units::{Duration, Instant};
use processes::Processes;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

/// The programs on both sides.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The servers on the far side, with their arguments. None if the far side is this machine.
    pub servers: Vec<Vec<String>>,
    /// The `resolv.conf(5)` of the command, instead of this machine's.
    pub resolver: Option<PathBuf>,
}

/// The kind of the far side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarHost {
    /// This machine.
    ThisMachine,
    /// A network namespace with servers only.
    Namespace,
    /// A network namespace with Internet access through `slirp4netns`, which needs no privileges.
    Gateway,
}

/// Returns the addresses and MTU of the host on a side.
///
/// The addresses are from the private blocks (RFC 1918, RFC 4193).
pub const fn host_config(side: Side, mtu: u16) -> HostConfig {
    let number = match side {
        Side::Near => 1,
        Side::Far => 2,
    };
    HostConfig { v4: Ipv4Addr::new(10, 77, 0, number), v6: Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number as u16), mtu }
}

/// The two sides of an emulated network.
#[derive(Debug)]
pub struct Shell {
    near: Namespace,
    far: Far,
}

#[derive(Debug)]
enum Far {
    Namespace(Namespace),
    Gateway(Namespace),
    /// This machine's network with an additional device.
    Host(HostDevice),
}

/// Errors of creating a shell.
#[derive(Debug)]
pub enum ShellError {
    /// Network or user namespaces are not available, or have no TUN device.
    Namespace(io::Error),
    /// No device can be added to this machine's network.
    Host(io::Error),
}

/// The result of a command in an emulated network.
#[derive(Debug)]
pub struct ShellOutcome {
    /// The end of the command.
    pub exit: CommandExit,
    /// Final statistics of the network.
    pub last: Snapshot,
    /// The error of the capture, if one was requested.
    pub capture: io::Result<()>,
}

/// The interval of snapshots.
const SNAPSHOT_INTERVAL: Duration = Duration::from_secs(1);

impl Shell {
    /// Creates both sides.
    ///
    /// # Errors
    ///
    /// If the system does not allow it.
    pub fn new(mtu: u16, far: FarHost) -> Result<Self, ShellError> {
        let near = Namespace::new(host_config(Side::Near, mtu)).map_err(ShellError::Namespace)?;
        let place = host_config(Side::Far, mtu);
        let far = match far {
            FarHost::ThisMachine => HostDevice::new(place).map(Far::Host).map_err(ShellError::Host)?,
            FarHost::Namespace => Namespace::new(place).map(Far::Namespace).map_err(ShellError::Namespace)?,
            FarHost::Gateway => Namespace::router(place).map(Far::Gateway).map_err(ShellError::Namespace)?,
        };
        Ok(Self { near, far })
    }

    fn devices(&self) -> io::Result<[OwnedFd; 2]> {
        let far = match &self.far {
            Far::Namespace(namespace) | Far::Gateway(namespace) => namespace.device(),
            Far::Host(host) => host.device(),
        };
        Ok([self.near.device().try_clone()?, far.try_clone()?])
    }

    /// Runs the command until it ends or `on_poll` returns false; then stops all other processes. Servers get ten seconds to finish if
    /// the command has ended. `on_poll` is called several
    /// times a second, with a snapshot once a second.
    ///
    /// # Errors
    ///
    /// If a program cannot be started, or a device fails.
    pub fn run(
        &self,
        programs: &Programs,
        emulator: Emulator,
        capture: Option<Capture>,
        mut on_poll: impl FnMut(Option<Snapshot>) -> bool,
    ) -> io::Result<ShellOutcome> {
        let [near, far] = self.devices()?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (sender, snapshots) = mpsc::channel();
        let observer =
            Reporter { is_stopped: is_stopped.clone(), sender, next: Instant::ZERO + SNAPSHOT_INTERVAL, capture };
        let bridge_thread = thread::Builder::new()
            .name("emulator".into())
            .spawn(move || run_bridge([near, far], emulator, observer))?;
        let ended = self.start(programs).and_then(|mut processes| {
            let mut goes_on = || {
                let snapshot = snapshots.try_recv().ok().map(|snapshot| self.with_device_drops(snapshot));
                on_poll(snapshot) && !bridge_thread.is_finished()
            };
            let ended = processes.wait(&mut goes_on);
            match ended {
                Ok(CommandExit::Exited(_) | CommandExit::Signalled(_)) => processes.finish(goes_on),
                Ok(CommandExit::Stopped) | Err(_) => processes.stop(),
            }
            ended
        });
        is_stopped.store(true, Ordering::Relaxed);
        let result = bridge_thread.join().map_err(|_| io::Error::other("the emulator failed"))?;
        let (ended, (last, capture)) = (ended?, result?);
        let last = self.with_device_drops(last);
        Ok(ShellOutcome { exit: ended, last, capture: capture.map_or(Ok(()), Capture::finish) })
    }

    /// Adds what the bridge cannot see: packets that its devices dropped before it read them.
    fn with_device_drops(&self, snapshot: Snapshot) -> Snapshot {
        let far = match &self.far {
            Far::Namespace(namespace) | Far::Gateway(namespace) => namespace.dropped(),
            Far::Host(host) => host.dropped(),
        };
        let device_drops = self.near.dropped().and_then(|near| Ok(near + far?)).ok();
        Snapshot { device_drops, ..snapshot }
    }

    fn start(&self, programs: &Programs) -> io::Result<Processes> {
        let mut processes = Processes::default();
        processes.guard(&self.near)?;
        if let Far::Namespace(far) | Far::Gateway(far) = &self.far {
            processes.guard(far)?;
            for server in &programs.servers {
                processes.start_server(far, server)?;
            }
        }
        // The command may connect at once.
        processes.await_servers();
        if let Far::Gateway(far) = &self.far {
            processes.start_gateway(far)?;
        }
        processes.start_command(&self.near, &programs.command, programs.resolver.as_deref())?;
        Ok(processes)
    }
}

/// Runs the bridge until the reporter stops it.
fn run_bridge(
    [near, far]: [OwnedFd; 2],
    mut emulator: Emulator,
    mut reporter: Reporter,
) -> io::Result<(Snapshot, Option<Capture>)> {
    let mut bridge = Bridge::new(near, far);
    bridge.run(&mut emulator, &mut reporter)?;
    let last = Snapshot::new(bridge.now(), &mut emulator, bridge.stats());
    Ok((last, reporter.capture))
}

/// Observes the bridge for another thread.
struct Reporter {
    is_stopped: Arc<AtomicBool>,
    sender: mpsc::Sender<Snapshot>,
    next: Instant,
    capture: Option<Capture>,
}

impl BridgeObserver for Reporter {
    fn poll(&mut self, now: Instant, emulator: &mut Emulator, stats: &BridgeStats) -> bool {
        if now >= self.next {
            self.next += SNAPSHOT_INTERVAL;
            // The receiver is gone when the command has ended.
            let _ = self.sender.send(Snapshot::new(now, emulator, stats));
        }
        !self.is_stopped.load(Ordering::Relaxed)
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(10)
    }

    fn on_packet(&mut self, at: Instant, device: Side, _is_ingress: bool, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.write(at, device, bytes);
        }
    }
}
