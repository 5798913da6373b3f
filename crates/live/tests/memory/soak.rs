//! A day in a few seconds: connections come and go, and one stays.

use crate::line::{Harm, Line};
use crate::transfers::{open, pattern};
use earlybird_live::device::Carriage;
use earlybird_live::{Event, Id};
use earlybird_tcp::{Config, ListenConfig};
use earlybird_units::Duration;

const PORT: u16 = 81;

/// Answers, reads and closes whatever comes at a side, but leaves `stays` open.
fn tend(line: &mut Line, side: usize, stays: Id) {
    let host = &mut line.hosts[side];
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
fn a_day_of_connections_leaves_nothing_behind() {
    for carriage in [Carriage::Ip, Carriage::Udp] {
        let harm = Harm { lost: 0.02, doubled: 0.01, overtaken: 0.02 };
        let mut line = Line::new(carriage, false, Duration::from_millis(10), harm, 4);
        let [stays, stays_too] = open(&mut line, &Config::linux());
        while line.hosts[1].poll_event().is_some() {}
        line.hosts[1].listen(PORT, &Config::linux(), ListenConfig::default()).unwrap();
        let (path, text) = (line.path(0), pattern(3000));
        let mut after_an_hour = 0;
        for minute in 0..24 * 60 {
            for _ in 0..2 {
                let id = line.hosts[0].connect(&Config::linux(), path, PORT).unwrap();
                assert_eq!(line.hosts[0].write(id, &text), Ok(text.len()));
                line.hosts[0].shutdown(id).unwrap();
            }
            assert_eq!(line.hosts[0].write(stays, &text), Ok(text.len()));
            let end = line.now() + Duration::from_secs(60);
            while line.step_until(end) < end {
                tend(&mut line, 0, stays);
                tend(&mut line, 1, stays_too);
            }
            assert!(line.hosts.iter().all(|host| host.connections() < 12), "in minute {minute}");
            line.seen.clear();
            if minute == 60 {
                after_an_hour = resident();
            }
        }
        eprintln!("{carriage:?}: {after_an_hour} MB after an hour, {} MB after a day", resident());
        // Other tests of this process run beside it.
        assert!(resident() < after_an_hour + 100, "{after_an_hour} MB after an hour, {} after a day", resident());
    }
}
