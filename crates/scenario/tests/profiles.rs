//! The configuration of a connection under each profile.

use earlybird_scenario::{Profile, Scenario, resolve};
use earlybird_tcp::{
    Bbr1Parameters, BbrParameters, Config, Control, CubicConfig, NewRenoFlags, Recovery, Segmentation, SlowStartRule,
    Undo, VegasParameters, WindowReduction,
};
use earlybird_units::Duration;
use rstest::rstest;

const ONE: &str = r#"
duration = "1s"
[[network.links]]
from = "a"
to = "b"
rate = "1Mb/s"
delay = "1ms"
[[flows]]
name = "one"
from = "a"
to = "b"
application = { cbr = { rate = "100kb/s", packet = 500 } }
"#;

fn scenario(changes: &[(&str, &str)]) -> Scenario {
    let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    resolve(ONE, &changes).expect("a scenario")
}

fn config(changes: &[(&str, &str)]) -> Config {
    scenario(changes).endpoint.config(Duration::ZERO)
}

const LINUX: (&str, &str) = ("endpoint.profile", "linux");

#[test]
fn a_linux_endpoint_is_what_the_transport_calls_linux_in_packets_of_1500_bytes() {
    let linux = Config::linux()
        .with_segmentation(Segmentation::Simulated)
        .with_mss(1448)
        .with_max_window(4344)
        .with_nagle(false);
    assert_eq!(config(&[LINUX, ("endpoint.transport", "cubic")]), linux);
    assert_eq!(config(&[LINUX, ("endpoint.timestamps", "false")]).segments.mss, 1460);
    assert!(config(&[LINUX, ("endpoint.nagle", "true")]).segments.nagle);
}

#[test]
fn a_window_of_64_segments_of_1000_bytes_held_todays_senders_back() {
    let sizes = |changes: &[(&str, &str)]| {
        let config = config(changes);
        (config.segments.mss, config.window.max)
    };
    assert_eq!(sizes(&[("endpoint.profile", "ns2")]), (1000, 64));
    assert_eq!(sizes(&[]), (1448, 4344), "6 MiB");
    assert_eq!(sizes(&[("endpoint.timestamps", "false")]), (1460, 4309));
    assert_eq!(sizes(&[("endpoint.mss", "1000")]), (1000, 6291));
    assert_eq!(sizes(&[("endpoint.receive-buffer", "14480000")]), (1448, 10_000), "no less than the receiver holds");
    assert_eq!(sizes(&[("endpoint.receive-buffer", "60000")]), (1448, 4344), "the receiver tells");
    assert_eq!(sizes(&[("endpoint.window", "9")]), (1448, 9));
    assert_eq!(sizes(&[("endpoint.transport", "earlybird-rt"), ("endpoint.profile", "ns2")]), (1000, 64));
    assert_eq!(sizes(&[("endpoint.transport", "earlybird-rt")]), (1448, 4344));
}

#[test]
fn linux_without_a_transport_has_renos_window_though_linux_has_not() {
    assert_eq!(scenario(&[LINUX]).endpoint.transport.to_string(), "cubic");
    assert_eq!(scenario(&[LINUX, ("endpoint.transport", "sack")]).endpoint.transport.to_string(), "sack");
    let own = scenario(&[("flows.one.endpoint.profile", "linux")]);
    let endpoint = own.endpoint_of(&own.flows[0]).expect("an endpoint");
    assert_eq!((endpoint.profile, endpoint.transport.to_string().as_str()), (Profile::Linux, "cubic"));
    let both = scenario(&[("flows.one.endpoint.profile", "linux"), ("endpoint.transport", "pert")]);
    assert_eq!(both.endpoint_of(&both.flows[0]).expect("an endpoint").transport.to_string(), "pert");
}

#[rstest]
#[case("sack", Control::Reno, Recovery::Rack)]
#[case("sack-er", Control::Reno, Recovery::Rfc6675)]
#[case("reno", Control::Reno, Recovery::Reno { second_fast_retransmit: false })]
#[case("newreno-er", Control::Reno, Recovery::NewReno(NewRenoFlags::default()))]
#[case("tahoe", Control::Tahoe, Recovery::Tahoe)]
#[case("cubic-er", Control::Cubic(CubicConfig::LINUX), Recovery::Rfc6675)]
#[case("vegas", Control::Vegas(VegasParameters::LINUX), Recovery::Rack)]
#[case("bbr1", Control::Bbr1(Bbr1Parameters::LINUX), Recovery::Rack)]
#[case("bbr", Control::Bbr1(Bbr1Parameters::LINUX), Recovery::Rack)]
#[case("bbr3", Control::Bbr(BbrParameters::DEFAULT), Recovery::Rack)]
#[case("mtcp", Control::Reno, Recovery::Rack)]
fn a_name_means_the_same_window_on_linux(
    #[case] transport: &str,
    #[case] control: Control,
    #[case] recovery: Recovery,
) {
    let config = config(&[LINUX, ("endpoint.transport", transport)]);
    assert_eq!((config.control, config.recovery.scheme, config.check()), (control, recovery, Ok(())));
}

#[rstest]
#[case("cubic", WindowReduction::Proportional, Undo::Either, true)]
#[case("bbr", WindowReduction::Immediate, Undo::Either, true)]
#[case("bbr1", WindowReduction::Immediate, Undo::Either, true)]
#[case("newreno", WindowReduction::Immediate, Undo::Either, true)]
#[case("tahoe", WindowReduction::Immediate, Undo::None, false)]
fn the_recovery_of_the_linux_profile_is_replaced_where_it_does_not_fit(
    #[case] transport: &str,
    #[case] reduction: WindowReduction,
    #[case] undo: Undo,
    #[case] forward_rto: bool,
) {
    let config = config(&[LINUX, ("endpoint.transport", transport)]);
    let chosen =
        (config.recovery.window_reduction, config.recovery.spurious.undo, config.recovery.spurious.forward_rto);
    assert_eq!(chosen, (reduction, undo, forward_rto));
}

#[test]
fn a_setting_of_cubics_does_not_take_linuxs_slow_start_away() {
    let slow_start = |changes: &[(&str, &str)]| {
        let all = [&[LINUX, ("endpoint.transport", "cubic")], changes].concat();
        match config(&all).control {
            Control::Cubic(cubic) => cubic.slow_start,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(slow_start(&[("endpoint.cubic.fast-convergence", "false")]), SlowStartRule::HystartLinux);
    assert_eq!(slow_start(&[("endpoint.cubic.version", "rfc9438")]), SlowStartRule::Standard);
    assert_eq!(slow_start(&[("endpoint.cubic.slow-start", "hystart")]), SlowStartRule::Hystart);
}
