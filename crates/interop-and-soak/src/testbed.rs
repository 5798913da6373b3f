//! Two network namespaces with emulated links between them.

use crate::path::TestPath;
use earlybird_emulator::shell::host_config;
use earlybird_emulator::{Bridge, BridgeObserver, BridgeStats, Emulator, Namespace, Side};
use earlybird_units::Instant;
use rustix::net::{AddressFamily, SocketType};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The MTU of Ethernet.
pub const MTU: u16 = 1500;

/// Two hosts of the kernel, each in a namespace, and a thread that bridges them.
#[derive(Debug)]
pub struct Testbed {
    /// The namespaces, near and far.
    pub sides: [Namespace; 2],
    bridge_thread: JoinHandle<io::Result<BridgeResult>>,
    is_stopped: Arc<AtomicBool>,
}

/// The result of a bridge.
#[derive(Clone, Debug)]
pub struct BridgeResult {
    /// Statistics of delivered packets.
    pub stats: BridgeStats,
    /// Packets that were lost or dropped by queues.
    pub dropped: u64,
}

/// Runs the bridge until the flag is set.
struct RunUntilStopped(Arc<AtomicBool>);

impl BridgeObserver for RunUntilStopped {
    fn poll(&mut self, _: Instant, _: &mut Emulator, _: &BridgeStats) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl Testbed {
    /// Creates the namespaces and starts the bridge.
    ///
    /// # Errors
    ///
    /// If namespaces with TUN devices are not available.
    pub fn new(line: &TestPath) -> io::Result<Self> {
        let [near, far] = Side::ALL.map(|side| Namespace::new(host_config(side, MTU)));
        let sides = [near?, far?];
        // The bridge owns duplicates of the descriptors: the namespaces stay usable for sockets.
        let [near, far] = sides.each_ref().map(|side| side.device().try_clone());
        let (near, far, is_stopped) = (near?, far?, Arc::<AtomicBool>::default());
        let (mut emulator, mut observer) = (line.emulator(1), RunUntilStopped(Arc::clone(&is_stopped)));
        let bridge_thread = thread::Builder::new().name("emulator".into()).spawn(move || {
            let mut bridge = Bridge::new(near, far);
            bridge.run(&mut emulator, &mut observer)?;
            let dropped = emulator.network().links().map(|link| link.total.packets_dropped).sum();
            Ok(BridgeResult { stats: bridge.stats().clone(), dropped })
        })?;
        Ok(Self { sides, bridge_thread, is_stopped })
    }

    /// Returns a UDP socket at the IPv4 address of a side.
    ///
    /// # Errors
    ///
    /// If the socket cannot be created.
    pub fn udp(&self, side: Side) -> io::Result<UdpSocket> {
        let socket = self.sides[side as usize].socket(AddressFamily::INET, SocketType::DGRAM)?;
        rustix::net::bind(&socket, &SocketAddr::new(host_config(side, MTU).v4.into(), 0))?;
        Ok(socket.into())
    }

    /// Stops the bridge and returns its result.
    ///
    /// # Errors
    ///
    /// If a device failed.
    pub fn stop(self) -> io::Result<BridgeResult> {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.bridge_thread.join().map_err(|_| io::Error::other("the emulator failed"))?
    }
}
