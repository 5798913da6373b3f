//! A command whose packets cross an emulated network, as in mahimahi's shells.

mod children;
mod gateway;
mod names;
mod statistics;

pub use children::Ended;
pub use statistics::{LinkState, Snapshot};

use crate::capture::Capture;
use crate::crossing::{Carried, Crossing, Watch};
use crate::emulator::Emulator;
use crate::namespace::{Host, Namespace, Place};
use crate::ways::Side;
use children::Children;
use earlybird_units::{Duration, Instant};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

/// What runs on the two sides.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// The command, with its arguments.
    pub command: Vec<String>,
    /// The servers on the far side, each with its arguments, if that is not this machine.
    pub peers: Vec<Vec<String>>,
    /// The file that tells the command who resolves names (`resolv.conf(5)`), in place of this machine's.
    pub resolver: Option<PathBuf>,
}

/// What the far side is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarSide {
    /// This machine.
    Machine,
    /// A network of its own, with nobody in it but servers …
    Own,
    /// … and one with a way to the Internet through a program that needs no right, `slirp4netns`.
    Gateway,
}

/// Returns the place of a side's host.
///
/// The networks are from the blocks for private use (RFC 1918, RFC 4193).
pub const fn place(side: Side, mtu: u16) -> Place {
    let number = match side {
        Side::Near => 1,
        Side::Far => 2,
    };
    Place { v4: Ipv4Addr::new(10, 77, 0, number), v6: Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number as u16), mtu }
}

/// Two sides, of which each is a network of its own.
#[derive(Debug)]
pub struct Shell {
    near: Namespace,
    far: Far,
}

#[derive(Debug)]
enum Far {
    Own(Namespace),
    Gateway(Namespace),
    /// This machine's network, with one device more.
    Host(Host),
}

/// Why there is no shell.
#[derive(Debug)]
pub enum NoShell {
    /// Neither network nor user namespaces are to be had, or no TUN device in them.
    Namespace(io::Error),
    /// This machine's network takes no device more.
    Host(io::Error),
}

/// How a command in an emulated network ended.
#[derive(Debug)]
pub struct Outcome {
    /// How the command did.
    pub ended: Ended,
    /// What the network had done by then.
    pub last: Snapshot,
    /// Why there is no capture, though one was asked for.
    pub capture: io::Result<()>,
}

/// Time between two snapshots.
const BETWEEN_SNAPSHOTS: Duration = Duration::from_secs(1);

impl Shell {
    /// Makes the two sides.
    ///
    /// # Errors
    ///
    /// If the system does not allow it.
    pub fn new(mtu: u16, far: FarSide) -> Result<Self, NoShell> {
        let near = Namespace::new(place(Side::Near, mtu)).map_err(NoShell::Namespace)?;
        let place = place(Side::Far, mtu);
        let far = match far {
            FarSide::Machine => Host::new(place).map(Far::Host).map_err(NoShell::Host)?,
            FarSide::Own => Namespace::new(place).map(Far::Own).map_err(NoShell::Namespace)?,
            FarSide::Gateway => Namespace::router(place).map(Far::Gateway).map_err(NoShell::Namespace)?,
        };
        Ok(Self { near, far })
    }

    fn devices(&self) -> io::Result<[OwnedFd; 2]> {
        let far = match &self.far {
            Far::Own(namespace) | Far::Gateway(namespace) => namespace.device(),
            Far::Host(host) => host.device(),
        };
        Ok([self.near.device().try_clone()?, far.try_clone()?])
    }

    /// Runs the command until it ends, or `look` – which is called several times a second, with a snapshot each second – wants no
    /// more; then everything is stopped that still runs.
    ///
    /// # Errors
    ///
    /// If a program cannot be started, or a device fails.
    pub fn run(
        &self,
        programs: &Programs,
        emulator: Emulator,
        capture: Option<Capture>,
        mut look: impl FnMut(Option<Snapshot>) -> bool,
    ) -> io::Result<Outcome> {
        let [near, far] = self.devices()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (sender, snapshots) = mpsc::channel();
        let observer = Reporter { is_over: is_over.clone(), sender, next: Instant::ZERO + BETWEEN_SNAPSHOTS, capture };
        let carrier =
            thread::Builder::new().name("emulator".into()).spawn(move || carry([near, far], emulator, observer))?;
        let ended = self.start(programs).and_then(|mut children| {
            let ended = children.wait(|| look(snapshots.try_recv().ok()) && !carrier.is_finished());
            children.stop();
            ended
        });
        is_over.store(true, Ordering::Relaxed);
        let result = carrier.join().map_err(|_| io::Error::other("the emulator failed"))?;
        let (ended, (last, capture)) = (ended?, result?);
        Ok(Outcome { ended, last, capture: capture.map_or(Ok(()), Capture::finish) })
    }

    fn start(&self, programs: &Programs) -> io::Result<Children> {
        let mut children = Children::default();
        if let Far::Own(far) | Far::Gateway(far) = &self.far {
            for peer in &programs.peers {
                children.start_peer(far, peer)?;
            }
        }
        children.await_peers();
        if let Far::Gateway(far) = &self.far {
            children.start_gateway(far)?;
        }
        children.start_command(&self.near, &programs.command, programs.resolver.as_deref())?;
        Ok(children)
    }
}

/// Carries packets until it is told to stop.
fn carry(
    [near, far]: [OwnedFd; 2],
    mut emulator: Emulator,
    mut reporter: Reporter,
) -> io::Result<(Snapshot, Option<Capture>)> {
    let mut crossing = Crossing::new(near, far);
    crossing.run(&mut emulator, &mut reporter)?;
    let last = Snapshot::new(crossing.now(), &mut emulator, crossing.carried());
    Ok((last, reporter.capture))
}

/// Watches the crossing on behalf of another thread.
struct Reporter {
    is_over: Arc<AtomicBool>,
    sender: mpsc::Sender<Snapshot>,
    next: Instant,
    capture: Option<Capture>,
}

impl Watch for Reporter {
    fn look(&mut self, now: Instant, emulator: &mut Emulator, carried: &Carried) -> bool {
        if now >= self.next {
            self.next += BETWEEN_SNAPSHOTS;
            // Whoever does not listen any more has enough.
            let _ = self.sender.send(Snapshot::new(now, emulator, carried));
        }
        !self.is_over.load(Ordering::Relaxed)
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(10)
    }

    fn on_packet(&mut self, at: Instant, device: Side, _is_entering: bool, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.write(at, device, bytes);
        }
    }
}
