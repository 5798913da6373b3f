//! A device that accepts only a few packets at a time.

use crate::path::addresses;
use crate::transfers::pattern;
use earlybird_live::device::{Device, Encapsulation, Memory, Path, RxQueue, TxQueue};
use earlybird_live::{Event, ManualClock, Settings, Stack};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::Duration;
use std::io;
use std::os::fd::BorrowedFd;

const PER_CALL: usize = 3;

/// Accepts at most three packets in every other call, and none in between.
struct SlowDevice {
    inner: Memory,
    calls: usize,
}

impl Device for SlowDevice {
    fn encapsulation(&self) -> Encapsulation {
        self.inner.encapsulation()
    }

    fn mtu(&self) -> u16 {
        self.inner.mtu()
    }

    fn receive(&mut self, rx: &mut RxQueue) -> io::Result<()> {
        self.inner.receive(rx)
    }

    fn send(&mut self, tx: &mut TxQueue) -> io::Result<()> {
        self.calls += 1;
        let count = tx.pending().len().min(if self.calls.is_multiple_of(2) { PER_CALL } else { 0 });
        let mut passed = TxQueue::default();
        for queued in &tx.pending()[..count] {
            let packet = tx.bytes(queued.range.clone());
            passed.add(queued.path, queued.ecn, packet.len(), |into| {
                into.copy_from_slice(packet);
                Ok::<usize, io::Error>(packet.len())
            })?;
        }
        tx.advance(count);
        self.inner.send(&mut passed)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

#[test]
fn packets_wait_for_the_device_and_keep_their_order() {
    let clock = ManualClock::default();
    let (one, other) = Memory::pair(1500);
    let host = |inner, side: usize| {
        let device = SlowDevice { inner, calls: 0 };
        Stack::new(device, clock.clone(), Settings::deterministic(1, &addresses(false)[side..=side])).unwrap()
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
