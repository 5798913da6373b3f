//! Ports: who may listen, who is let in, and what is left when it ends.

use crate::line::{Harm, Line, addresses};
use crate::transfers::open;
use earlybird_live::device::{Carriage, Memory, Path};
use earlybird_live::{Error, Event, Limits, Scripted, Settings, Stack};
use earlybird_tcp::{Config, Ending, IpVersion, ListenConfig, RfcState};
use earlybird_units::Duration;

fn line() -> Line {
    Line::new(Carriage::Ip, false, Duration::from_millis(10), Harm::default(), 9)
}

#[test]
fn a_port_has_one_listener_at_a_time() {
    let mut line = line();
    let host = &mut line.hosts[1];
    assert_eq!(host.listen(80, &Config::linux(), ListenConfig::default()), Ok(()));
    let again = host.listen(80, &Config::linux(), ListenConfig::default());
    assert_eq!(again, Err(Error::PortInUse(80)));
    assert_eq!(again.unwrap_err().to_string(), "port 80 is in use");
    assert_eq!((host.unlisten(80), host.unlisten(80)), (Ok(()), Err(Error::NotListening(80))));
    assert_eq!(host.listen(80, &Config::linux(), ListenConfig::default()), Ok(()));
}

#[test]
fn a_stack_without_an_address_of_that_version_opens_nothing() {
    let mut line = line();
    let there = Path::to(addresses(true)[1]);
    assert_eq!(line.hosts[0].connect(&Config::linux(), there, 80), Err(Error::NoAddress(IpVersion::V6)));
}

#[test]
fn a_device_of_small_packets_is_refused_and_one_of_less_than_1280_speaks_no_ipv6() {
    let stack = |mtu, is_v6: bool| {
        Stack::new(Memory::pair(mtu).0, Scripted::default(), Settings::scripted(1, &addresses(is_v6)[..1]))
    };
    assert_eq!(stack(500, false).err(), Some(Error::PacketsTooSmall { mtu: 500, least: 576 }));
    let mut small = stack(1000, true).unwrap();
    let there = Path::to(addresses(true)[1]);
    assert_eq!(small.connect(&Config::linux(), there, 80), Err(Error::PacketsTooSmall { mtu: 1000, least: 1280 }));
}

#[test]
fn nobody_listens_and_the_peer_is_refused() {
    let mut line = line();
    let path = line.path(0);
    let id = line.hosts[0].connect(&Config::linux(), path, 80).unwrap();
    line.step();
    line.step();
    assert_eq!(line.hosts[0].poll_event(), Some((id, Event::Closed(Ending::Refused))));
    assert_eq!((line.hosts[1].counters().strangers, line.hosts[1].counters().resets), (1, 1));
    assert_eq!(line.hosts[0].close(id), Ok(()));
    while line.step().is_some() {}
    assert_eq!(line.hosts[0].connections(), 0);
    assert_eq!(line.hosts[0].write(id, b"x"), Err(Error::UnknownConnection));
}

#[test]
fn connections_that_nobody_accepted_are_reset_when_the_port_closes() {
    let mut line = line();
    line.hosts[1].listen(80, &Config::linux(), ListenConfig::default()).unwrap();
    let path = line.path(0);
    let id = line.hosts[0].connect(&Config::linux(), path, 80).unwrap();
    for _ in 0..4 {
        line.step();
    }
    assert_eq!(line.hosts[1].connections(), 1);
    line.hosts[1].unlisten(80).unwrap();
    while line.step().is_some() {}
    let events: Vec<Event> = std::iter::from_fn(|| line.hosts[0].poll_event()).map(|(_, event)| event).collect();
    assert_eq!(events.last(), Some(&Event::Closed(Ending::Reset)));
    assert_eq!(line.hosts[0].connection(id).unwrap().ending(), Some(Ending::Reset));
    assert_eq!(line.hosts[1].connections(), 0);
}

/// The peer is killed: its stack is gone, and what comes for it is answered by one that knows nothing.
#[test]
fn a_peer_that_was_killed_and_came_back_resets_what_it_does_not_know() {
    let mut line = line();
    let [id, _] = open(&mut line, &Config::linux());
    let mut fresh = Line::new(Carriage::Ip, false, Duration::from_millis(10), Harm::default(), 9);
    std::mem::swap(&mut line.hosts[1], &mut fresh.hosts[1]);
    line.swap_end(1, &mut fresh);
    while line.hosts[0].poll_event().is_some() {}
    line.hosts[0].write(id, b"are you there?").unwrap();
    while line.hosts[0].poll_event().is_none_or(|(_, event)| event != Event::Closed(Ending::Reset)) {
        line.step().expect("an answer comes");
    }
}

/// A peer that is gone without a word ends the connection when its time is over.
#[test]
fn a_peer_that_is_gone_is_given_up() {
    let mut line = line();
    let [id, _] = open(&mut line, &Config::linux());
    line.largest = 0;
    line.hosts[0].write(id, b"are you there?").unwrap();
    while line.hosts[0].poll_event().is_none_or(|(_, event)| event != Event::Closed(Ending::TimedOut)) {
        line.step().expect("a timer runs");
    }
    assert!(line.now().as_secs_f64() > 900.0, "R2 of Linux: 924.6 s");
}

/// Over UDP something passes every half minute, for NATs forget who is silent; so a peer that is gone is noticed by one that only
/// reads.
#[test]
fn a_silent_connection_over_udp_stays_awake_and_ends_when_nobody_answers() {
    let mut line = Line::new(Carriage::Udp, false, Duration::from_millis(10), Harm::default(), 9);
    let [id, _] = open(&mut line, &Config::linux());
    while line.now().as_secs_f64() < 600.0 {
        line.step().expect("a timer runs");
    }
    let gaps = line.seen.windows(2).map(|pair| pair[1].at - pair[0].at);
    assert!(gaps.max() <= Some(Duration::from_secs(30)));
    assert_eq!(line.hosts[0].connection(id).unwrap().state(), RfcState::Established);
    line.largest = 0;
    while line.hosts[0].poll_event().is_none_or(|(_, event)| event != Event::Closed(Ending::TimedOut)) {
        line.step().expect("a timer runs");
    }
    assert!(line.now().as_secs_f64() < 900.0);
}

#[test]
fn there_are_no_more_connections_than_may_be() {
    let limits = Limits { connections: 3, ..Limits::default() };
    let (one, other) = Memory::pair(1500);
    let clock = Scripted::default();
    let host = |device, side: usize, limits| {
        Stack::new(device, clock.clone(), Settings { limits, ..Settings::scripted(1, &addresses(false)[side..=side]) })
            .unwrap()
    };
    let (mut client, mut server) = (host(one, 0, Limits::default()), host(other, 1, limits));
    server.listen(80, &Config::linux(), ListenConfig::default()).unwrap();
    for _ in 0..10 {
        client.connect(&Config::linux(), Path::to(addresses(false)[1]), 80).unwrap();
    }
    for _ in 0..10 {
        client.turn().unwrap();
        server.turn().unwrap();
    }
    assert_eq!((server.connections(), server.counters().refused > 0), (3, true));
    let refused = server.connect(&Config::linux(), Path::to(addresses(false)[0]), 80);
    assert_eq!(refused, Err(Error::TooManyConnections(3)));
}
