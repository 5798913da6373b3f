//! A long live stream between two encrypted endpoints in memory, in simulated time.

use earlybird_live::device::{Memory, MemoryPacket, Path};
use earlybird_live::{Clock, Id, ManualClock, Settings, Stack};
use earlybird_relay::connection_config;
use earlybird_seal::{Key, RandomSource, Role, Sealed};
use earlybird_tcp::ListenConfig;
use earlybird_units::{Duration, Instant, Random, SeedTree};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;

const PORT: u16 = 4201;
/// A unit of seven packets of a transport stream.
const UNIT: usize = 1316;
/// The time between units of 4 Mb/s; also the step of the clock.
const INTERVAL: Duration = Duration::from_micros(2632);
/// The one-way delay of the link, and what packets that are overtaken take more.
const DELAY: Duration = Duration::from_millis(20);
const LATE: Duration = Duration::from_millis(10);
/// One of so many packets of each direction is lost, and another one is late.
const LOST_ONE_IN: u64 = 100;
const LATE_ONE_IN: u64 = 100;
/// Seven round trips: several repairs of a unit arrive in time.
const LATENCY: Duration = Duration::from_millis(300);
/// Two minutes before 2³² milliseconds, at which clocks of 32 bits begin anew.
const START: Duration = Duration::from_secs(4_294_967 - 120);

/// The progress of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamProgress {
    /// Units that were written.
    pub sent: u64,
    /// Units that were read.
    pub received: u64,
    /// Units that were skipped as they were incomplete when they were due.
    pub lost: u64,
    /// Bytes on the link from the sender, with all headers above UDP.
    pub bytes: u64,
}

/// One direction of the link.
struct Link {
    random: Random,
    on_time: VecDeque<(Instant, MemoryPacket)>,
    late: VecDeque<(Instant, MemoryPacket)>,
}

impl Link {
    fn new(seed: u64) -> Self {
        Self { random: SeedTree::new(seed).random(), on_time: VecDeque::new(), late: VecDeque::new() }
    }

    /// Takes the packets of one end, and delivers those that are due to the other. Returns the bytes that were taken.
    fn carry(&mut self, now: Instant, from: &Memory, to: &Memory) -> u64 {
        let mut taken = 0;
        while let Some(packet) = from.take() {
            taken += packet.bytes.len() as u64;
            if self.random.below(LOST_ONE_IN) == 0 {
                continue;
            }
            if self.random.below(LATE_ONE_IN) == 0 {
                self.late.push_back((now + DELAY + LATE, packet));
            } else {
                self.on_time.push_back((now + DELAY, packet));
            }
        }
        for queue in [&mut self.on_time, &mut self.late] {
            while let Some((_, packet)) = queue.pop_front_if(|(due, _)| *due <= now) {
                to.put(packet).expect("the queue of the device has room for a millisecond's packets");
            }
        }
        taken
    }
}

/// An endpoint, and the network's end of its device.
struct End {
    stack: Stack<Sealed<Memory, ManualClock>, ManualClock>,
    wire: Memory,
}

impl End {
    fn new(clock: &ManualClock, address: SocketAddr, role: Role) -> io::Result<Self> {
        let (device, wire) = Memory::udp_pair(1500, [address; 2]);
        let unix = Duration::from_secs(1_795_000_000);
        let device = Sealed::new(device, clock.clone(), role, Key::new([7; 32]), RandomSource::of_system(), unix)?;
        let settings = Settings::deterministic(address.port().into(), &[]);
        Ok(Self { stack: Stack::new(device, clock.clone(), settings).map_err(io::Error::other)?, wire })
    }

    fn turn(&mut self) -> io::Result<()> {
        self.stack.turn()?;
        while self.stack.poll_event().is_some() {}
        Ok(())
    }
}

/// A stream between two endpoints.
pub struct Stream {
    clock: ManualClock,
    sender: End,
    receiver: End,
    there: Link,
    back: Link,
    ids: [Id; 2],
    began: Instant,
    progress: StreamProgress,
}

impl Stream {
    /// Connects two endpoints with a transport of frames, such as `earlybird-rt`.
    ///
    /// # Errors
    ///
    /// If there is no such transport.
    ///
    /// # Panics
    ///
    /// If they do not connect within a second.
    pub fn new(transport: &str) -> io::Result<Self> {
        let clock = ManualClock::default();
        clock.set(Instant::ZERO + START);
        let addresses = [1, 2].map(|host| SocketAddr::from(([192, 0, 2, host], PORT)));
        let config = connection_config(transport, LATENCY).map_err(|error| io::Error::other(error.to_string()))?;
        let mut sender = End::new(&clock, addresses[0], Role::Caller)?;
        let mut receiver = End::new(&clock, addresses[1], Role::Listener)?;
        receiver.stack.listen(PORT, &config, ListenConfig::default()).map_err(io::Error::other)?;
        let id = sender.stack.connect(&config, Path::over_udp(addresses[1]), PORT).map_err(io::Error::other)?;
        let progress = StreamProgress::default();
        let (there, back) = (Link::new(1), Link::new(2));
        let mut stream = Self { clock, sender, receiver, there, back, ids: [id; 2], began: Instant::ZERO, progress };
        for _ in 0..400 {
            stream.step()?;
            if let Some(accepted) = stream.receiver.stack.accept(PORT) {
                stream.ids[1] = accepted;
                stream.began = stream.clock.now();
                return Ok(stream);
            }
        }
        panic!("the endpoints do not connect");
    }

    /// Runs the stream for some time and returns its progress since the beginning.
    ///
    /// # Errors
    ///
    /// If a device fails.
    pub fn run(&mut self, span: Duration) -> io::Result<StreamProgress> {
        let end = self.clock.now() + span;
        let mut unit = vec![0; UNIT];
        while self.clock.now() < end {
            unit[..8].copy_from_slice(&self.progress.sent.to_be_bytes());
            self.sender.stack.write_frame(self.ids[0], &unit, self.progress.sent).map_err(io::Error::other)?;
            self.progress.sent += 1;
            self.step()?;
            self.read()?;
        }
        Ok(self.progress)
    }

    fn step(&mut self) -> io::Result<()> {
        self.clock.advance(INTERVAL);
        let now = self.clock.now();
        self.sender.turn()?;
        self.receiver.turn()?;
        self.progress.bytes += self.there.carry(now, &self.sender.wire, &self.receiver.wire);
        self.back.carry(now, &self.receiver.wire, &self.sender.wire);
        Ok(())
    }

    /// Reads units in order; one behind a hole only when it is due, as a relay does.
    fn read(&mut self) -> io::Result<()> {
        let (id, mut unit) = (self.ids[1], [0; UNIT]);
        while self.receiver.stack.peek_frame(id, &mut unit).map_err(io::Error::other)?.is_some() {
            let number = u64::from_be_bytes(*unit.first_chunk().expect("a unit is longer"));
            let due = self.began + INTERVAL * number + DELAY + LATENCY;
            let connection = self.receiver.stack.connection(id).map_err(io::Error::other)?;
            if connection.readable() == 0 && due > self.clock.now() {
                return Ok(());
            }
            let expected = self.progress.received + self.progress.lost;
            self.receiver.stack.read_frame(id, &mut unit).map_err(io::Error::other)?;
            self.progress.lost += number - expected;
            self.progress.received += 1;
        }
        Ok(())
    }
}
