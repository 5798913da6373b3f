//! A device that takes only a few packets at a time.

use crate::line::addresses;
use crate::transfers::pattern;
use earlybird_live::device::{Carriage, Device, Inbox, Memory, Outbox, Path};
use earlybird_live::{Event, Scripted, Settings, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::Duration;
use std::io;
use std::os::fd::BorrowedFd;

const AT_A_TIME: usize = 3;

/// Passes on no more than three packets in a call; every other time, none.
struct Narrow {
    inner: Memory,
    calls: usize,
}

impl Device for Narrow {
    fn carriage(&self) -> Carriage {
        self.inner.carriage()
    }

    fn mtu(&self) -> u16 {
        self.inner.mtu()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        self.inner.receive(inbox)
    }

    fn send(&mut self, outbox: &mut Outbox) -> io::Result<()> {
        self.calls += 1;
        let count = outbox.waiting().len().min(if self.calls.is_multiple_of(2) { AT_A_TIME } else { 0 });
        let mut passed = Outbox::default();
        for departure in &outbox.waiting()[..count] {
            let packet = outbox.bytes(departure.range.clone());
            passed.add(departure.path, departure.ecn, packet.len(), |into| {
                into.copy_from_slice(packet);
                Ok::<usize, io::Error>(packet.len())
            })?;
        }
        outbox.strike_out(count);
        self.inner.send(&mut passed)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

#[test]
fn what_a_device_cannot_take_waits_and_leaves_in_order() {
    let clock = Scripted::default();
    let (one, other) = Memory::pair(1500);
    let host = |inner, side: usize| {
        let device = Narrow { inner, calls: 0 };
        Stack::new(device, clock.clone(), Settings::scripted(1, &addresses(false)[side..=side])).unwrap()
    };
    let (mut client, mut server) = (host(one, 0), host(other, 1));
    server.listen(80, &Config::linux(), ListenConfig::default()).unwrap();
    let id = client.connect(&Config::linux(), Path::to(addresses(false)[1]), 80).unwrap();
    let text = pattern(1_000_000);
    assert_eq!(client.write(id, &text), Ok(text.len()));
    let (mut got, mut accepted, mut was_congested) = (Vec::<u8>::new(), None, 0);
    let mut buffer = [0; 9000];
    for _ in 0..5000 {
        client.turn().unwrap();
        was_congested += usize::from(client.is_congested());
        server.receive().unwrap();
        while let Some((id, event)) = server.poll_event() {
            if let Event::Incoming(port) = event {
                accepted = server.accept(port);
                assert_eq!(accepted, Some(id));
            }
        }
        while let Some(count @ 1..) = accepted.map(|id| server.read(id, &mut buffer).unwrap()) {
            got.extend(&buffer[..count]);
        }
        server.transmit().unwrap();
        clock.advance(Duration::from_micros(100));
    }
    assert!(got == text, "{} of {} bytes", got.len(), text.len());
    assert!(was_congested > 300, "{was_congested}");
    assert_eq!(client.connection(id).unwrap().statistics().retransmissions, 0);
}
