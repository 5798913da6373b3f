//! Growth of the window: by what is acknowledged (RFC 3465), and only as far as it is used (RFC 7661's idea, Linux's rule).

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{Config, Control, CubicConfig, InitialSsthresh, PertFlags, SlowStartRule, TolerantParameters};

/// Everything that grows a window with ACKs.
fn controls() -> Vec<Control> {
    let rules = [SlowStartRule::Standard, SlowStartRule::Hystart, SlowStartRule::HystartPlusPlus];
    let cubic = [CubicConfig::RFC9438, CubicConfig::V21, CubicConfig::V23, CubicConfig::LINUX];
    let with = |slow_start| move |version: CubicConfig| Control::Cubic(CubicConfig { slow_start, ..version });
    let mut controls = vec![
        Control::Reno,
        Control::Pert(PertFlags::DEFAULT),
        Control::Pert(PertFlags::PI),
        Control::Prague(earlybird_tcp::PragueParameters::DEFAULT),
        Control::Vegas(earlybird_tcp::VegasParameters::LINUX),
        Control::Tolerant(TolerantParameters::DEFAULT),
    ];
    controls.extend(rules.into_iter().flat_map(|rule| cubic.map(with(rule))));
    controls
}

/// Writes so many segments at once and acknowledges each, 100 ms later; so many times.
fn rounds(host: &mut Host, start: u64, count: u64, segments: u64) {
    for round in 0..count {
        let time = start + 100 * round;
        host.at(time).write(1000 * segments).at(time + 99);
        let sent = host.connection.highest_acknowledged().unwrap_or(0) + host.connection.outstanding();
        for number in sent - host.connection.outstanding()..sent {
            host.ack(number + 2, &[]);
        }
    }
}

fn ten() -> Config {
    plain().with_initial_window(10).with_max_window(1000)
}

/// The symptom: 300 kb/s over a window of 1000 without loss, and cwnd 384 after 10 s and 1884 after 50 s.
#[test]
fn a_source_of_300_kb_per_second_leaves_the_window_where_it_was() {
    for control in controls() {
        let mut host = Host::connected(&ten().with_control_only(control));
        rounds(&mut host, 200, 500, 4);
        host.has_window(10.0, host.connection.ssthresh());
        assert_eq!(host.connection.statistics().retransmissions, 0, "{control:?}");
    }
    follows(Area::Control, "sack", "RFC 7661, RFC 9438 §5.8; Linux tcp_is_cwnd_limited");
}

/// The same in congestion avoidance, behind a loss.
#[test]
fn in_congestion_avoidance_a_window_of_10_of_which_9_are_used_stays() {
    for control in controls() {
        let mut host = Host::connected(&ten().with_control_only(control).with_initial_window(20));
        host.write(20_000).forget_sent();
        host.at(200).ack(1, &[2..3]).ack(1, &[2..4]).ack(1, &[2..5]).at(300).ack(21, &[]).at(20_000);
        let cwnd = host.connection.cwnd();
        if cwnd < host.connection.ssthresh() || matches!(control, Control::Tolerant(_)) {
            // Not in avoidance; and a tolerant window has its own headroom, for repairs.
            continue;
        }
        rounds(&mut host, 20_100, 200, cwnd as u64 - 1);
        let grown = host.connection.cwnd();
        assert!(grown <= cwnd, "{control:?}: {cwnd} became {grown}");
    }
}

/// Linux's packetdrill scripts ask for the same: five packets of ten do not double the window, six do once.
#[test]
fn in_slow_start_a_window_grows_to_less_than_twice_what_is_used() {
    for (used, cwnd) in [(4, 10.0), (5, 10.0), (6, 12.0), (8, 16.0), (9, 18.0)] {
        let mut host = Host::connected(&ten());
        rounds(&mut host, 200, 5, used);
        host.has_window(cwnd, f64::INFINITY);
    }
    follows(Area::Control, "sack", "RFC 7661, RFC 9438 §5.8; Linux tcp_is_cwnd_limited");
}

/// Every ACK of a window that was full counts, the last ones too, when less and less is in flight.
#[test]
fn a_window_that_was_full_doubles_though_the_writer_has_ended() {
    let mut host = Host::connected(&ten());
    host.write(10_000).forget_sent().at(200);
    (2..=11).for_each(|next| _ = host.ack(next, &[]));
    host.has_window(20.0, f64::INFINITY);
}

/// The sender is limited by the receiver, or by its own largest window: neither is evidence about the path.
#[test]
fn behind_a_window_of_the_receiver_of_8_segments_the_congestion_window_stays_below_16() {
    let mut host = Host::connected(&ten());
    host.receives(". 1:1(0) ack 1 win 8000").write(1_000_000).forget_sent();
    for next in 1..=200 {
        host.at(200 + next).receives(&format!(". 1:1(0) ack {} win 8000", 1 + 1000 * next)).forget_sent();
    }
    host.has_window(16.0, f64::INFINITY);
    let mut host = Host::connected(&plain().with_max_window(8).with_initial_window(4));
    host.write(1_000_000).forget_sent();
    (2..=200).for_each(|next| _ = host.at(200 + next).ack(next, &[]).forget_sent());
    host.has_window(16.0, f64::INFINITY);
}

/// A source that begins to send more finds its window where it left it, and it opens as ever.
#[test]
fn a_window_that_is_refilled_resumes_its_growth() {
    let mut host = Host::connected(&ten());
    rounds(&mut host, 200, 50, 3);
    host.has_window(10.0, f64::INFINITY);
    rounds(&mut host, 6000, 1, 10);
    host.has_window(20.0, f64::INFINITY);
}

#[test]
fn ns2_and_a_connection_asked_to_grow_unused_windows_alike() {
    for config in
        [Config::ns2(), Config::rfc().with_cwnd_validation(false).with_initial_ssthresh(InitialSsthresh::MaxWindow)]
    {
        let mut host = Host::connected(&config.with_initial_window(2).with_max_window(64).with_timestamps(false));
        rounds(&mut host, 200, 50, 1);
        host.has_window(52.0, 64.0);
    }
}

/// Kernels that join segments before they read them (GRO) acknowledge many at once.
#[test]
fn one_ack_of_ten_segments_opens_a_window_as_ten_acks_do() {
    for control in controls() {
        let is_limited =
            matches!(control, Control::Cubic(CubicConfig { slow_start: SlowStartRule::HystartPlusPlus, .. }));
        if is_limited || matches!(control, Control::Prague(_)) {
            // RFC 9406 §4.3 has a limit of its own, 8 segments; and Prague, who is paced, judges each ACK alone.
            continue;
        }
        let config = ten().with_control_only(control);
        let [mut one, mut ten] = [Host::connected(&config), Host::connected(&config)];
        one.write(100_000).at(200).ack(11, &[]);
        ten.write(100_000).at(200);
        (2..=11).for_each(|next| _ = ten.ack(next, &[]));
        assert!((one.connection.cwnd() - ten.connection.cwnd()).abs() < 1e-9, "{control:?}");
    }
    follows(Area::Control, "sack", "RFC 5681, RFC 3465");
}

/// Linux's `tcp_slow_start`: of six segments acknowledged at a window of 6 below a threshold of 10, four are
/// slow start's, and two of a window of 10 avoidance's.
#[test]
fn an_ack_of_six_segments_does_not_carry_slow_start_beyond_its_threshold() {
    for control in [Control::Reno, Control::Cubic(CubicConfig::RFC9438)] {
        let config = plain()
            .with_control_only(control)
            .with_initial_window(6)
            .with_max_window(10)
            .with_initial_ssthresh(InitialSsthresh::MaxWindow);
        let mut host = Host::connected(&config);
        host.write(6000).at(200).ack(7, &[]);
        let cwnd = host.connection.cwnd();
        assert!(cwnd > 10.0 && cwnd < 10.2 + 1e-9, "{control:?}: {cwnd}");
    }
}

/// RFC 5681 §3.1: SMSS·SMSS/cwnd for each segment acknowledged: so a round trip adds one, however it is acknowledged.
#[test]
fn in_congestion_avoidance_one_ack_of_five_segments_of_five_adds_one() {
    let mut host = Host::connected(&ten());
    host.write(100_000).at(200).ack(1, &[2..5]).at(300).ack(11, &[]).has_window(5.0, 5.0).forget_sent();
    host.at(400).ack(16, &[]).has_window(6.0, 5.0);
}

/// RFC 3465 §2.3: what waited behind the hole has not just left the network.
#[test]
fn the_ack_of_what_waited_behind_a_repeated_segment_counts_as_one() {
    let mut host = Host::connected(&ten().with_sack_blocks(0));
    host.write(100_000).at(1100).has_window(1.0, 5.0).forget_sent();
    host.at(1200).ack(11, &[]).has_window(2.0, 5.0);
}

/// Reordering: the segment that was late was one, the others had told that they arrived.
#[test]
fn the_ack_of_a_late_segment_does_not_count_what_was_sacked_before() {
    let mut host = Host::connected(&ten().with_initial_window(10));
    host.write(10_000).at(200).ack(1, &[2..3]).ack(1, &[2..4]).ack(4, &[]).has_window(11.0, f64::INFINITY);
}
