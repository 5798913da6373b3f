//! Links send at exactly their rate.

use crate::dumbbell::{BUDGET, DuplexLink, link, ns2};
use earlybird_sim::{Observer, Packet, PacketEvent, QueueLimit};
use earlybird_tcp::Config;
use earlybird_units::Instant;

/// The times at which data packets of full size arrive: the first after the start, and the last.
#[derive(Default)]
struct Stopwatch {
    count: u64,
    started: Instant,
    last: Instant,
}

/// By then the window of 64 packets fills the link.
const WARM_UP: u64 = 1000;

impl Observer for Stopwatch {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        if event == PacketEvent::Arrived && packet.bytes == 1040 {
            self.count += 1;
            self.last = at;
            if self.count == WARM_UP {
                self.started = at;
            }
        }
    }
}

/// 1040 bytes at 3 Mb/s take 2,773,333⅓ ns: the thirds must not get lost.
#[test]
fn a_million_packets_at_3_mb_per_s_take_2773_333_333_333_ns() {
    let count = WARM_UP + 1_000_000;
    let mut world = DuplexLink::new(link(3_000_000, 5, QueueLimit::Unlimited)).world(
        ns2(Config::ns2()),
        count * 1000,
        Stopwatch::default(),
    );
    assert!(world.run_until(Instant::from_nanos(3_000_000_000_000), BUDGET));
    let (_, stopwatch) = world.into_parts();
    assert_eq!(stopwatch.count, count);
    let taken = (stopwatch.last - stopwatch.started).as_nanos();
    assert!((2_773_333_333_333..=2_773_333_333_334).contains(&taken), "{taken} ns");
}

/// An idle link owes nothing: each packet alone takes 2,773,333 ns and 5 ms.
#[test]
fn a_packet_at_an_idle_link_takes_its_own_time_only() {
    let mut world = DuplexLink::new(link(3_000_000, 5, QueueLimit::Unlimited)).world(
        ns2(Config::ns2().with_max_window(1).with_initial_window(1)),
        1_000_000,
        Stopwatch::default(),
    );
    assert!(world.run_until(Instant::from_nanos(100_000_000_000), BUDGET));
    let (_, stopwatch) = world.into_parts();
    assert_eq!(stopwatch.count, 1000);
    // Data: 2,773,333 ns; ACK of 40 bytes: 106,666 ns; 5 ms each way.
    assert_eq!((stopwatch.last - Instant::ZERO).as_nanos(), {
        let opening = 2 * (106_666 + 5_000_000);
        opening + 1000 * (2_773_333 + 5_000_000) + 999 * (106_666 + 5_000_000)
    });
}
