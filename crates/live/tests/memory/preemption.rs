//! A thread that is preempted between packet arrival and reading the clock.

use crate::path::addresses;
use earlybird_live::device::{Device, Encapsulation, Memory, Path, RxQueue, TxQueue};
use earlybird_live::{ManualClock, Settings, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::Duration;
use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

/// Calls `meanwhile` before packets are read.
struct Interrupted<F> {
    inner: Memory,
    meanwhile: F,
}

impl<F: FnMut()> Device for Interrupted<F> {
    fn encapsulation(&self) -> Encapsulation {
        self.inner.encapsulation()
    }

    fn mtu(&self) -> u16 {
        self.inner.mtu()
    }

    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()> {
        (self.meanwhile)();
        self.inner.receive(rx)
    }

    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()> {
        self.inner.send(tx)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

#[test]
fn preemption_does_not_shorten_rtt_samples() {
    let clock = ManualClock::default();
    let (one, other) = Memory::pair(1500);
    let settings = |side: usize| Settings::deterministic(1, &addresses(false)[side..=side]);
    let mut server = Stack::new(other, clock.clone(), settings(1)).unwrap();
    server.listen(80, &Config::linux(), ListenConfig::default()).unwrap();
    let (is_away, away) = (Rc::new(Cell::new(false)), Duration::from_millis(40));
    let meanwhile = {
        let (clock, is_away) = (clock.clone(), Rc::clone(&is_away));
        move || {
            if is_away.get() {
                clock.advance(away);
                while server.turn().unwrap() {}
            }
        }
    };
    let mut client = Stack::new(Interrupted { inner: one, meanwhile }, clock.clone(), settings(0)).unwrap();
    let id = client.connect(&Config::linux(), Path::to(addresses(false)[1]), 80).unwrap();
    while client.turn().unwrap() {}
    clock.advance(Duration::from_millis(100));
    is_away.set(true);
    client.receive().unwrap();
    assert_eq!(client.connection(id).unwrap().min_rtt(), Some(Duration::from_millis(140)));
}
