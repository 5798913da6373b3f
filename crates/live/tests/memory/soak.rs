//! A simulated day: connections come and go, and one stays.

use crate::path::{Impairments, TestPath};
use crate::transfers::{open, pattern};
use earlybird_live::device::Encapsulation;
use earlybird_live::{Event, Id};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::Duration;

const PORT: u16 = 81;

/// Serves all connections of a side, but leaves `stays` open.
fn serve(net: &mut TestPath, side: usize, stays: Id) {
    let host = &mut net.hosts[side];
    let mut buffer = [0; 4000];
    while let Some((id, event)) = host.poll_event() {
        match event {
            Event::Incoming(port) => assert_eq!(host.accept(port), Some(id)),
            Event::Readable => while host.read(id, &mut buffer).unwrap() > 0 {},
            Event::PeerClosed => host.shutdown(id).unwrap(),
            Event::Closed(_) if id != stays => host.close(id).unwrap(),
            _ => {}
        }
    }
}

/// Returns the memory of this process that is in use, in MB.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096 / 1_000_000
}

#[test]
fn a_day_of_connections_leaks_nothing() {
    for encapsulation in [Encapsulation::Ip, Encapsulation::Udp] {
        let impairments = Impairments { lost: 0.02, duplicated: 0.01, reordered: 0.02 };
        let mut net = TestPath::new(encapsulation, false, Duration::from_millis(10), impairments, 4);
        let [stays, stays_too] = open(&mut net, &Config::linux());
        while net.hosts[1].poll_event().is_some() {}
        net.hosts[1].listen(PORT, &Config::linux(), ListenConfig::default()).unwrap();
        let (path, text) = (net.path(0), pattern(3000));
        let mut after_an_hour = 0;
        for minute in 0..24 * 60 {
            for _ in 0..2 {
                let id = net.hosts[0].connect(&Config::linux(), path, PORT).unwrap();
                assert_eq!(net.hosts[0].write(id, &text), Ok(text.len()));
                net.hosts[0].shutdown(id).unwrap();
            }
            assert_eq!(net.hosts[0].write(stays, &text), Ok(text.len()));
            let end = net.now() + Duration::from_secs(60);
            while net.step_until(end) < end {
                serve(&mut net, 0, stays);
                serve(&mut net, 1, stays_too);
            }
            assert!(net.hosts.iter().all(|host| host.connections() < 12), "in minute {minute}");
            net.seen.clear();
            if minute == 60 {
                after_an_hour = resident();
            }
        }
        eprintln!("{encapsulation:?}: {after_an_hour} MB after an hour, {} MB after a day", resident());
        // Other tests of this process run beside it.
        assert!(resident() < after_an_hour + 100, "{after_an_hour} MB after an hour, {} after a day", resident());
    }
}
