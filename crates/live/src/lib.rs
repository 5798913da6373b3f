//! The endpoint of `earlybird-tcp` under a real clock, over real devices.
//!
//! A [`Stack`] has a [`Device`](device::Device), a [`Clock`], and everything between the two: connections by their addresses,
//! listeners by their ports, bytes that wait on either side, one heap of deadlines. It does nothing by itself. Whoever has it calls
//!
//! * [`Stack::receive`]: what the device has is taken in, and what is due by the clock is done;
//! * [`Stack::poll_event`], and then reads, writes, accepts, closes;
//! * [`Stack::transmit`]: what has to leave leaves, one batch at a time;
//! * [`Stack::deadline`]: when to come back if nothing arrives before.
//!
//! [`Stack::turn`] is the first and the third in one. [`Driver`] does all of it on a thread, and takes work from others.
//! With a [`Scripted`] clock and a [`Memory`](device::Memory) device nothing depends on anything but what the test says.
//!
//! ```
//! use earlybird_live::{Event, Settings, Scripted, Stack, device::{Memory, Path}};
//! use earlybird_tcp::{Config, ListenConfig};
//!
//! let clock = Scripted::default();
//! let (one, other) = Memory::pair(1500);
//! let mut client = Stack::new(one, clock.clone(), Settings::scripted(1, &["10.0.0.1".parse()?]))?;
//! let mut server = Stack::new(other, clock.clone(), Settings::scripted(2, &["10.0.0.2".parse()?]))?;
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
mod drive;
mod error;
mod event;
mod stack;

pub use clock::{Clock, Monotonic, Scripted};
pub use drive::{Application, Driver, Handle, Spawned, spawn};
pub use error::Error;
pub use event::Event;
pub use stack::{Counters, Id, Limits, Settings, Stack, Watch, Way};
