//! Two network namespaces, and emulated links between them.

use crate::line::Line;
use earlybird_emulator::shell::host_config;
use earlybird_emulator::{Bridge, BridgeObserver, BridgeStats, Emulator, Namespace, Side};
use earlybird_units::Instant;
use rustix::net::{AddressFamily, SocketType};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Ethernet's.
pub const MTU: u16 = 1500;

/// Two hosts of this machine's kernel, each in a namespace of its own, and a thread that carries their packets.
#[derive(Debug)]
pub struct Rig {
    /// The namespaces, near and far.
    pub sides: [Namespace; 2],
    carrier: JoinHandle<io::Result<End>>,
    is_over: Arc<AtomicBool>,
}

/// What became of the packets.
#[derive(Clone, Debug)]
pub struct End {
    /// Those that came out of the links.
    pub stats: BridgeStats,
    /// Those that got lost on them or found a queue full.
    pub dropped: u64,
}

/// Carries until somebody says stop.
struct Until(Arc<AtomicBool>);

impl BridgeObserver for Until {
    fn poll(&mut self, _: Instant, _: &mut Emulator, _: &BridgeStats) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl Rig {
    /// Makes it.
    ///
    /// # Errors
    ///
    /// If the system gives no namespaces with TUN devices.
    pub fn new(line: &Line) -> io::Result<Self> {
        let [near, far] = Side::ALL.map(|side| Namespace::new(host_config(side, MTU)));
        let sides = [near?, far?];
        let [near, far] = sides.each_ref().map(|side| side.device().try_clone());
        let (near, far, is_over) = (near?, far?, Arc::<AtomicBool>::default());
        let (mut emulator, mut watch) = (line.emulator(1), Until(Arc::clone(&is_over)));
        let carrier = thread::Builder::new().name("emulator".into()).spawn(move || {
            let mut bridge = Bridge::new(near, far);
            bridge.run(&mut emulator, &mut watch)?;
            let dropped = emulator.network().links().map(|link| link.total.packets_dropped).sum();
            Ok(End { stats: bridge.stats().clone(), dropped })
        })?;
        Ok(Self { sides, carrier, is_over })
    }

    /// Returns a socket of UDP at a side's address over IPv4.
    ///
    /// # Errors
    ///
    /// If the system has none.
    pub fn udp(&self, side: Side) -> io::Result<UdpSocket> {
        let socket = self.sides[side as usize].socket(AddressFamily::INET, SocketType::DGRAM)?;
        rustix::net::bind(&socket, &SocketAddr::new(host_config(side, MTU).v4.into(), 0))?;
        Ok(socket.into())
    }

    /// Carries no more; gives what became of the packets.
    ///
    /// # Errors
    ///
    /// If a device failed.
    pub fn stop(self) -> io::Result<End> {
        self.is_over.store(true, Ordering::Relaxed);
        self.carrier.join().map_err(|_| io::Error::other("the emulator failed"))?
    }
}
