//! The window after an idle period: RFC 5681 §4.1, with Linux's decay.

use crate::follows;
use crate::host::Host;
use crate::plain;
use earlybird_conformance::Area;
use earlybird_tcp::{Bbr1Parameters, BbrParameters, Config, Control, CubicConfig, Recovery};
use earlybird_units::Duration;

/// A window of 40 that was full, all acknowledged at 300 ms; the timeout is 1 s.
fn forty(config: &Config) -> Host {
    let mut host = Host::connected(&config.with_initial_window(10));
    host.write(30_000).at(200).ack(11, &[]).at(300).ack(31, &[]).write(1).at(400).receives(". 1:1(0) ack 30002");
    host.forget_sent();
    host
}

/// RFC 5681 §4.1; Linux `tcp_cwnd_restart`: half for each timeout, and the initial window at least.
#[test]
fn a_window_of_40_is_20_after_a_pause_of_more_than_a_second_and_10_after_two() {
    for (pause, cwnd) in [(1000, 40.0), (1001, 20.0), (2000, 20.0), (2001, 10.0), (60_000, 10.0)] {
        let mut host = forty(&plain());
        let cwnd_before = host.connection.cwnd();
        assert!((cwnd_before - 40.0).abs() < 1e-9, "{cwnd_before}");
        // Nothing was sent since 300 ms.
        host.at(300 + pause).write(100_000);
        assert!((host.connection.cwnd() - cwnd).abs() < 1e-9, "{pause} ms: {}", host.connection.cwnd());
        assert_eq!(host.take_numbers().len(), cwnd as usize);
    }
    follows(Area::Control, "sack", "RFC 5681 §4.1");
}

/// Acknowledges whatever is outstanding, segment by segment and a round trip of 100 ms at a time, until nothing is.
fn drain(host: &mut Host, mut time: u64) -> u64 {
    while host.connection.outstanding() > 0 {
        time += 100;
        host.at(time);
        let first = host.connection.highest_acknowledged().unwrap_or(0) + 2;
        (first..first + host.connection.outstanding()).for_each(|next| _ = host.ack(next, &[]));
    }
    time
}

/// RFC 2861 §3: what the window was, the threshold remembers, so slow start brings most of it back.
#[test]
fn the_threshold_remembers_three_quarters_of_the_window() {
    for control in [Control::Reno, Control::Cubic(CubicConfig::RFC9438), Control::Cubic(CubicConfig::V23)] {
        let mut host = Host::connected(&plain().with_control_only(control).with_initial_window(2));
        let mut time = drain(host.write(30_000), 100) + 10;
        host.at(time).write(30_000).ack(31, &[32..35]).at(time + 100).ack(61, &[]);
        time += 200;
        for _ in 0..30 {
            let full = 1000 * (host.connection.cwnd() as u64 + 1);
            host.at(time).write(full);
            time = drain(&mut host, time) + 10;
        }
        let (cwnd, ssthresh) = (host.connection.cwnd(), host.connection.ssthresh());
        assert!(0.75 * cwnd > ssthresh, "{control:?}: {cwnd} {ssthresh}");
        host.at(time + 60_000).write(100_000);
        let remembered = host.connection.ssthresh();
        assert!((host.connection.cwnd() - 2.0).abs() < 1e-9 && (remembered - 0.75 * cwnd).abs() < 1.0, "{control:?}");
    }
}

/// The pause is measured from the last segment that was sent, not from its acknowledgement, and once.
#[test]
fn a_pause_counts_once() {
    let mut host = forty(&plain());
    host.at(1800).write(1000).has_window(20.0, f64::INFINITY);
    host.at(1900).receives(". 1:1(0) ack 31002").at(2500).write(100_000).has_window(20.0, f64::INFINITY);
}

/// A window that was smaller than the initial one stays what it was.
#[test]
fn a_pause_opens_no_window() {
    let mut host = Host::connected(&plain().with_initial_window(10));
    host.write(10_000).at(1100).ack(11, &[]).has_window(2.0, 5.0);
    host.at(60_000).write(100_000).has_window(2.0, 5.0);
}

/// Linux's packetdrill script slow-start-after-win-update: a receiver that keeps its window closed is a pause as well.
#[test]
fn a_window_that_was_closed_for_long_opens_to_a_decayed_congestion_window() {
    let probe = earlybird_tcp::WindowProbe::Empty;
    let mut host = Host::connected(&plain().with_initial_window(10).with_window_probe(probe));
    host.write(26_000).at(200).ack(11, &[]).at(300).receives(". 1:1(0) ack 26001 win 0");
    host.has_window(36.0, f64::INFINITY).write(20_000).forget_sent();
    host.at(8000).has_window(36.0, f64::INFINITY).forget_sent();
    host.receives(". 1:1(0) ack 26001 win 64000").has_window(10.0, f64::INFINITY);
    host.sends_numbers(&(27..=36).collect::<Vec<_>>());
}

/// ns-2 closes windows by its own timer, a real-time stream pauses all the time, and BBR has its own idea of idle times.
#[test]
fn other_controls_keep_an_idle_window() {
    let bbr = plain().with_control_only(Control::Bbr(BbrParameters::DEFAULT));
    let bbr1 = plain().with_control_only(Control::Bbr1(Bbr1Parameters::LINUX));
    let off = plain().with_slow_start_after_idle(false);
    let own = Config::earlybird_rt(Duration::from_millis(200)).with_real_time(plain().real_time);
    for config in [off, bbr, bbr1, own.with_timestamps(false).with_recovery_only(Recovery::Rack)] {
        let mut host = Host::connected(&config.with_initial_window(10));
        host.write(10_000).at(5000).ack(11, &[]).at(6000);
        let cwnd = host.connection.cwnd();
        host.at(100_000).write(1000);
        assert!(host.connection.cwnd() >= cwnd, "{:?}", config.control);
    }
}
