//! TCP Hollywood: messages in any order, and a newer one instead of one that is too late to repeat.

use crate::host::Host;
use crate::{follows, plain};
use earlybird_conformance::Area;
use earlybird_tcp::Event::{Established, Readable};
use earlybird_tcp::{Config, RackConfig, RealTime, Recovery};
use earlybird_units::Duration;

const SOURCE: &str = "McQuistin, Perkins and Fayed, IFIP Networking 2016, abstract";
const PATCH: &str = "its authors' patch of Linux, check_message_liveness and process_tx";

/// Messages that live for 300 ms; two may be on their way at first.
fn hollywood() -> Config {
    let real_time = RealTime::hollywood(Duration::from_millis(300));
    // Without probes the retransmission timer is the only one.
    plain()
        .with_real_time(real_time)
        .with_initial_window(2)
        .with_rack(RackConfig { probes_tail: false, ..RackConfig::RFC })
}

/// The same without time lines.
fn consistent() -> Config {
    let usual = hollywood();
    usual.with_real_time(RealTime { replaces_after: None, ..usual.real_time })
}

#[test]
fn what_comes_behind_a_hole_is_read_at_once_and_the_hole_stays() {
    let mut host = Host::accepted(&hollywood());
    host.has_events(&[Established]);
    host.receives(". 1:1001(1000) ack 1").has_events(&[Readable]).forget_sent();
    assert_eq!((host.read_frame(), host.read_frame()), (Some((0, 1000)), None));
    host.receives(". 2001:3001(1000) ack 1")
        .has_events(&[Readable])
        .sends(&[". 1:1(0) ack 1001 win 64000 <sack 2001:3001>"]);
    assert_eq!(host.connection.readable(), 1000);
    assert_eq!((host.read_frame(), host.read_frame()), (Some((2000, 1000)), None));
    assert_eq!((host.connection.readable(), host.connection.read_below()), (0, 1000));
    host.sends_nothing()
        .receives(". 1001:2001(1000) ack 1")
        .has_events(&[Readable])
        .sends(&[". 1:1(0) ack 3001 win 63000"]);
    assert_eq!((host.connection.readable(), host.read_frame(), host.read_frame()), (1000, Some((1000, 1000)), None));
    let statistics = host.connection.real_time_statistics();
    assert_eq!(
        (statistics.frames_delivered, statistics.segments_skipped),
        (3, 0),
        "each once, and nothing is given up"
    );
    assert_eq!((host.connection.readable(), host.connection.read_below()), (0, 3000));
    follows(Area::RealTime, "hollywood", SOURCE);
}

/// All that it holds counts against the window once it is in order, and no byte of it twice.
#[test]
fn frames_that_were_read_early_take_no_room_when_the_hole_is_filled() {
    let mut host = Host::accepted(&hollywood());
    for start in [1001, 2001, 3001] {
        host.receives(&format!(". {start}:{}(1000) ack 1", start + 1000));
    }
    assert_eq!((host.read_frame(), host.forget_sent().connection.readable()), (Some((1000, 1000)), 2000));
    host.receives(". 1:1001(1000) ack 1").sends(&[". 1:1(0) ack 4001 win 61000"]);
    assert_eq!([0; 4].map(|_| host.read_frame()), [Some((0, 1000)), Some((2000, 1000)), Some((3000, 1000)), None]);
}

#[test]
fn an_expired_message_is_replaced_by_the_oldest_unexpired_one() {
    for recovery in [Recovery::Sack1, Recovery::Rfc6675, Recovery::Rack] {
        let mut host = Host::connected(&hollywood().with_recovery_only(recovery));
        host.frames(4).sends_frames(&[0, 1]);
        host.at(900).frames(2).at(1000).frames(1).sends_nothing();
        // The first two were lost. Messages 2 and 3 have waited for too long, too.
        host.at(1100).sends(&[". 1:1001(1000) ack 1 win 64000"]).discards(&[0]);
        host.at(1150).receives(". 1:1(0) ack 1001").discards(&[1]);
        assert_eq!(host.take_frames()[0], 5, "{recovery:?}: message 4 has left with the first segment");
    }
    follows(Area::RealTime, "hollywood", PATCH);
}

/// Half the smoothed round trip of 100 ms before its deadline a message can still be in time: at 1100 ms one of 850 ms with 300 ms
/// to live can, and one of 100 ms with 1050 ms.
#[test]
fn a_message_lives_until_half_a_round_trip_before_its_deadline() {
    for (lifetime, written, carried) in [(300, 850, 1), (300, 849, 0), (1050, 1000, 0), (1049, 1000, 1)] {
        let usual = hollywood();
        let real_time = RealTime::hollywood(Duration::from_millis(lifetime));
        let mut host = Host::connected(&usual.with_real_time(real_time).with_initial_window(1));
        host.frames(1).sends_frames(&[0]);
        host.at(written).frames(1).at(1100).sends_frames(&[carried]);
    }
    follows(Area::RealTime, "hollywood", PATCH);
}

/// As in the first version of the patch (`process_rtx`): the peer's TCP must get the bytes that it misses, no more and no fewer.
#[test]
fn a_message_of_another_length_replaces_none() {
    let mut host = Host::connected(&hollywood().with_initial_window(1));
    host.frames(1).at(1000);
    assert_eq!([999, 1000].map(|bytes| host.write_frame(bytes, bytes)), [Ok(1), Ok(2)]);
    host.forget_sent().at(1100).sends(&[". 1:1001(1000) ack 1 win 64000"]).discards(&[0]);
    assert_eq!(host.connection.notsent(), 999);
    let mut host = Host::connected(&hollywood().with_initial_window(1));
    host.frames(1).at(1000);
    assert_eq!(host.write_frame(999, 1), Ok(1));
    host.at(1100).discards(&[]);
    assert_eq!(host.connection.notsent(), 999);
}

/// Numbers, lengths and times are those of a sender that repeats what it sent: a peer, or a box in between, sees plain TCP.
#[test]
fn on_the_wire_it_is_plain_tcp() {
    let texts = |config: &Config| {
        let mut host = Host::connected(config);
        host.frames(4).at(900).frames(2).at(1100).at(1150);
        host.receives(". 1:1(0) ack 1001").at(1200).receives(". 1:1(0) ack 3001 <sack 4001:5001>").at(6000);
        host.take_texts()
    };
    let expected = texts(&consistent());
    assert!(expected.len() > 6);
    assert_eq!(texts(&hollywood())[..6], expected[..6]);
    let syn = |config: &Config| Host::connect(config).take_texts();
    assert_eq!(syn(&hollywood()), syn(&plain()), "it asks its peer for nothing");
    follows(Area::RealTime, "hollywood", SOURCE);
}
