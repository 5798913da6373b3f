//! A processor that is somewhere else for a while, and what the clock tells then.

use crate::line::addresses;
use earlybird_live::device::{Carriage, Device, Inbox, Memory, Outbox, Path};
use earlybird_live::{Scripted, Settings, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::Duration;
use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

/// Something happens between the call for packets and their reading.
struct Interrupted<F> {
    inner: Memory,
    meanwhile: F,
}

impl<F: FnMut()> Device for Interrupted<F> {
    fn carriage(&self) -> Carriage {
        self.inner.carriage()
    }

    fn mtu(&self) -> u16 {
        self.inner.mtu()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        (self.meanwhile)();
        self.inner.receive(inbox)
    }

    fn send(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        self.inner.send(outbox)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

#[test]
fn a_round_trip_in_which_the_processor_was_taken_away_was_shorter_than_the_path() {
    let clock = Scripted::default();
    let (one, other) = Memory::pair(1500);
    let settings = |side: usize| Settings::scripted(1, &addresses(false)[side..=side]);
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
