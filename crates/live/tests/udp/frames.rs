//! Real-time mode over loopback: frames are written at fixed times and read as they arrive.

use crate::{PORT, client, loopback};
use earlybird_live::device::{Path, Udp};
use earlybird_live::{Application, Clock, Driver, Event, Id, MonotonicClock, Settings, Stack, spawn};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::{Duration, Instant};
use std::io;
use std::ops::ControlFlow;

type Host = Stack<Udp, MonotonicClock>;

/// 4 Mbit/s in frames of seven MPEG-TS packets, for a second.
const FRAME: usize = 7 * 188;
const INTERVAL: Duration = Duration::from_nanos(2_632_000);
const FRAMES: u64 = 380;

/// Writes frames at a fixed interval; each contains the time at which it was due.
struct Source {
    id: Option<Id>,
    written: u64,
    begin: Instant,
    is_over: bool,
}

impl Source {
    fn next(&self) -> Instant {
        self.begin + INTERVAL * self.written
    }
}

impl Application<Udp, MonotonicClock> for Source {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        match event {
            Event::Established => (self.id, self.begin) = (Some(id), stack.now()),
            Event::Closed(_) => self.is_over = true,
            _ => {}
        }
    }

    fn on_turn(&mut self, stack: &mut Host) -> ControlFlow<(), Option<Instant>> {
        let Some(id) = self.id else { return ControlFlow::Continue(None) };
        while self.written < FRAMES && stack.clock().now() >= self.next() {
            let mut frame = [0; FRAME];
            frame[..8].copy_from_slice(&self.next().as_nanos().to_le_bytes());
            assert_eq!(stack.write_frame(id, &frame, self.written), Ok(self.written));
            self.written += 1;
        }
        if self.written < FRAMES {
            return ControlFlow::Continue(Some(self.next()));
        }
        stack.shutdown(id).unwrap();
        if self.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

/// Reads frames and records the delay of each.
struct Viewer {
    clock: MonotonicClock,
    delays: Vec<Duration>,
    is_over: bool,
}

impl Application<Udp, MonotonicClock> for Viewer {
    fn on_event(&mut self, stack: &mut Host, id: Id, event: Event) {
        let mut frame = [0; 2000];
        match event {
            Event::Incoming(port) => assert_eq!(stack.accept(port), Some(id)),
            Event::Readable | Event::PeerClosed => {
                while let Some(len) = stack.read_frame(id, &mut frame).unwrap() {
                    assert_eq!(len, FRAME);
                    let written = Instant::from_nanos(u64::from_le_bytes(std::array::from_fn(|index| frame[index])));
                    self.delays.push(self.clock.now() - written);
                }
                stack.stop_waiting(id).unwrap();
                if event == Event::PeerClosed {
                    stack.shutdown(id).unwrap();
                }
            }
            Event::Closed(_) => self.is_over = true,
            _ => {}
        }
    }

    fn on_turn(&mut self, _: &mut Host) -> ControlFlow<(), Option<Instant>> {
        if self.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(None) }
    }
}

#[test]
fn frames_arrive_without_delay() {
    let clock = MonotonicClock::default();
    let config = Config::earlybird_rt(Duration::from_millis(200)).with_mss(1460).with_nagle(false);
    let device = Udp::bind(loopback()).unwrap();
    let there = Path::over_udp(device.address());
    let make = move || {
        let mut stack = Stack::new(device, clock, Settings::random(&[])?).map_err(io::Error::other)?;
        stack.listen(PORT, &config, ListenConfig::default()).map_err(io::Error::other)?;
        Ok((stack, Viewer { clock, delays: Vec::new(), is_over: false }))
    };
    let (thread, _) = spawn(make).unwrap();
    let mut driver = Driver::new(client(loopback(), clock)).unwrap();
    driver.stack.connect(&config, there, PORT).unwrap();
    let mut source = Source { id: None, written: 0, begin: Instant::ZERO, is_over: false };
    driver.run(&mut source).unwrap();
    let mut delays = thread.join().unwrap().unwrap().delays;
    delays.sort();
    let at = |share: f64| delays[(delays.len() as f64 * share) as usize];
    eprintln!("{} frames: median {}, 99 % {}, longest {}", delays.len(), at(0.5), at(0.99), at(0.9999));
    assert_eq!(delays.len() as u64, FRAMES);
    assert!(at(0.5) < Duration::from_millis(5), "half of them are late");
}
