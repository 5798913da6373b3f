//! Runs the endpoint of `earlybird-tcp` in real time, over real devices.
//!
//! A [`Stack`] owns a [`Device`](device::Device), a [`Clock`], a table of connections by address, listeners by port, the send and
//! receive buffers, and one heap of timers. It performs no blocking call and starts no thread. The owner calls
//!
//! * [`Stack::receive`]: reads packets from the device, and runs the timers that are due;
//! * [`Stack::poll_event`]: returns the next event; then read, write, accept or close;
//! * [`Stack::transmit`]: sends one batch of packets;
//! * [`Stack::deadline`]: returns when to call again if nothing arrives before.
//!
//! [`Stack::turn`] is `receive` followed by `transmit`. A [`Driver`] runs this loop on a thread and accepts tasks from other
//! threads. With a [`ManualClock`] and a [`Memory`](device::Memory) device, everything is deterministic.
//!
//! ```
//! use earlybird_live::{Event, Settings, ManualClock, Stack, device::{Memory, Path}};
//! use earlybird_tcp::{Config, ListenConfig};
//!
//! let clock = ManualClock::default();
//! let (one, other) = Memory::pair(1500);
//! let mut client = Stack::new(one, clock.clone(), Settings::deterministic(1, &["10.0.0.1".parse()?]))?;
//! let mut server = Stack::new(other, clock.clone(), Settings::deterministic(2, &["10.0.0.2".parse()?]))?;
//! server.listen(80, &Config::linux(), ListenConfig::default())?;
//! let id = client.connect(&Config::linux(), Path::to("10.0.0.2".parse()?), 80)?;
//! client.write(id, b"early bird")?;
//! for _ in 0..4 {
//!     client.turn()?;
//!     server.turn()?;
//! }
//! let accepted = server.accept(80).expect("the handshake is done");
//! let mut text = [0; 20];
//! assert_eq!(server.read(accepted, &mut text)?, 10);
//! assert_eq!(&text[..10], b"early bird");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

pub mod device;

mod clock;
mod driver;
mod error;
mod event;
mod stack;

pub use clock::{Clock, ManualClock, MonotonicClock, unix_time};
pub use driver::{Application, Driver, Handle, Spawned, spawn};
pub use error::Error;
pub use event::Event;
pub use stack::{AbandonedFrame, Counters, Direction, Id, Limits, Observer, Settings, Stack};
