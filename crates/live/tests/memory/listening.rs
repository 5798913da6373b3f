//! Listening: port conflicts, limits and resets.

use crate::path::{Impairments, TestPath, addresses};
use crate::transfers::open;
use earlybird_live::device::{Encapsulation, Memory, Path};
use earlybird_live::{Error, Event, Limits, ManualClock, Settings, Stack};
use earlybird_tcp::{Config, Ending, IpVersion, ListenConfig, RfcState};
use earlybird_units::Duration;

fn path() -> TestPath {
    TestPath::new(Encapsulation::Ip, false, Duration::from_millis(10), Impairments::default(), 9)
}

#[test]
fn a_port_has_one_listener_at_a_time() {
    let mut net = path();
    let host = &mut net.hosts[1];
    assert_eq!(host.listen(80, &Config::linux(), ListenConfig::default()), Ok(()));
    let second = host.listen(80, &Config::linux(), ListenConfig::default());
    assert_eq!(second, Err(Error::PortInUse(80)));
    assert_eq!(second.unwrap_err().to_string(), "port 80 is in use");
    assert_eq!((host.unlisten(80), host.unlisten(80)), (Ok(()), Err(Error::NotListening(80))));
    assert_eq!(host.listen(80, &Config::linux(), ListenConfig::default()), Ok(()));
}

#[test]
fn connect_needs_a_local_address_of_the_ip_version() {
    let mut net = path();
    let there = Path::to(addresses(true)[1]);
    assert_eq!(net.hosts[0].connect(&Config::linux(), there, 80), Err(Error::NoAddress(IpVersion::V6)));
}

#[test]
fn the_mtu_has_a_minimum_per_ip_version() {
    let stack = |mtu, is_v6: bool| {
        Stack::new(Memory::pair(mtu).0, ManualClock::default(), Settings::deterministic(1, &addresses(is_v6)[..1]))
    };
    assert_eq!(stack(500, false).err(), Some(Error::PacketsTooSmall { mtu: 500, min: 576 }));
    let mut small = stack(1000, true).unwrap();
    let there = Path::to(addresses(true)[1]);
    assert_eq!(small.connect(&Config::linux(), there, 80), Err(Error::PacketsTooSmall { mtu: 1000, min: 1280 }));
}

#[test]
fn connect_to_a_closed_port_is_refused() {
    let mut net = path();
    let path = net.path(0);
    let id = net.hosts[0].connect(&Config::linux(), path, 80).unwrap();
    net.step();
    net.step();
    assert_eq!(net.hosts[0].poll_event(), Some((id, Event::Closed(Ending::Refused))));
    assert_eq!((net.hosts[1].counters().unmatched, net.hosts[1].counters().resets), (1, 1));
    assert_eq!(net.hosts[0].close(id), Ok(()));
    while net.step().is_some() {}
    assert_eq!(net.hosts[0].connections(), 0);
    assert_eq!(net.hosts[0].write(id, b"x"), Err(Error::UnknownConnection));
}

#[test]
fn unlisten_resets_connections_that_were_not_accepted() {
    let mut net = path();
    net.hosts[1].listen(80, &Config::linux(), ListenConfig::default()).unwrap();
    let path = net.path(0);
    let id = net.hosts[0].connect(&Config::linux(), path, 80).unwrap();
    for _ in 0..4 {
        net.step();
    }
    assert_eq!(net.hosts[1].connections(), 1);
    net.hosts[1].unlisten(80).unwrap();
    while net.step().is_some() {}
    let events: Vec<Event> = std::iter::from_fn(|| net.hosts[0].poll_event()).map(|(_, event)| event).collect();
    assert_eq!(events.last(), Some(&Event::Closed(Ending::Reset)));
    assert_eq!(net.hosts[0].connection(id).unwrap().ending(), Some(Ending::Reset));
    assert_eq!(net.hosts[1].connections(), 0);
}

/// The peer restarts: the new stack has no state of the connection.
#[test]
fn a_restarted_peer_resets_old_connections() {
    let mut net = path();
    let [id, _] = open(&mut net, &Config::linux());
    let mut fresh = TestPath::new(Encapsulation::Ip, false, Duration::from_millis(10), Impairments::default(), 9);
    std::mem::swap(&mut net.hosts[1], &mut fresh.hosts[1]);
    net.swap_end(1, &mut fresh);
    while net.hosts[0].poll_event().is_some() {}
    net.hosts[0].write(id, b"are you there?").unwrap();
    while net.hosts[0].poll_event().is_none_or(|(_, event)| event != Event::Closed(Ending::Reset)) {
        net.step().expect("an answer comes");
    }
}

/// A silent peer: the connection times out.
#[test]
fn a_silent_peer_times_out() {
    let mut net = path();
    let [id, _] = open(&mut net, &Config::linux());
    net.largest = 0;
    net.hosts[0].write(id, b"are you there?").unwrap();
    while net.hosts[0].poll_event().is_none_or(|(_, event)| event != Event::Closed(Ending::TimedOut)) {
        net.step().expect("a timer runs");
    }
    assert!(net.now().as_secs_f64() > 900.0, "R2 of Linux: 924.6 s");
}

/// Over UDP, keep-alives refresh NAT mappings; an unresponsive peer is detected even by a connection that only reads.
#[test]
fn udp_keep_alives_detect_a_silent_peer() {
    let mut net = TestPath::new(Encapsulation::Udp, false, Duration::from_millis(10), Impairments::default(), 9);
    let [id, _] = open(&mut net, &Config::linux());
    while net.now().as_secs_f64() < 600.0 {
        net.step().expect("a timer runs");
    }
    let gaps = net.seen.windows(2).map(|pair| pair[1].at - pair[0].at);
    assert!(gaps.max() <= Some(Duration::from_secs(30)));
    assert_eq!(net.hosts[0].connection(id).unwrap().state(), RfcState::Established);
    net.largest = 0;
    while net.hosts[0].poll_event().is_none_or(|(_, event)| event != Event::Closed(Ending::TimedOut)) {
        net.step().expect("a timer runs");
    }
    assert!(net.now().as_secs_f64() < 900.0);
}

#[test]
fn the_number_of_connections_is_limited() {
    let limits = Limits { connections: 3, ..Limits::default() };
    let (one, other) = Memory::pair(1500);
    let clock = ManualClock::default();
    let host = |device, side: usize, limits| {
        Stack::new(
            device,
            clock.clone(),
            Settings { limits, ..Settings::deterministic(1, &addresses(false)[side..=side]) },
        )
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
    assert_eq!((server.connections(), server.counters().over_limit > 0), (3, true));
    let refused = server.connect(&Config::linux(), Path::to(addresses(false)[0]), 80);
    assert_eq!(refused, Err(Error::TooManyConnections(3)));
}
