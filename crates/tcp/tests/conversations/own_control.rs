//! A congestion control that is not of this crate, given to a connection.

use crate::host::Host;
use earlybird_tcp::{
    Bbr1Parameters, BbrParameters, Config, CongestionControl, Control, ControlFactory, ControlSetup, CopaParameters,
    CubicConfig, Cx, Flight, PertFlags, PragueParameters, Progress, VegasParameters, Window,
};
use earlybird_units::{Duration, Instant, SeedTree};

/// Two segments more for each that arrives, and a third left after a loss.
#[derive(Debug)]
struct Bold;

impl ControlFactory for Bold {
    fn name(&self) -> &'static str {
        "bold"
    }

    fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
        Box::new(BoldWindow { cwnd: 1.0, ssthresh: setup.ssthresh })
    }
}

#[derive(Debug)]
struct BoldWindow {
    cwnd: f64,
    ssthresh: f64,
}

impl CongestionControl for BoldWindow {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn on_established(&mut self, _cx: &mut Cx<'_>, initial_window: f64) {
        self.cwnd = initial_window;
    }

    fn on_progress(&mut self, _cx: &mut Cx<'_>, progress: &Progress) {
        self.cwnd += 2.0 * progress.acked as f64;
    }

    fn on_loss(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.cwnd /= 3.0;
        self.ssthresh = self.cwnd;
    }

    fn on_timeout(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.cwnd = 1.0;
    }

    fn on_idle(&mut self, _window: &Window) {}
}

const OWN: Control = Control::custom(&Bold);

#[test]
fn a_control_from_outside_grows_and_shrinks_the_window_by_its_own_rules() {
    let mut host = Host::connected(&crate::plain().with_control_only(OWN));
    host.has_window(4.0, f64::INFINITY).write(100_000).sends_numbers(&[1, 2, 3, 4]);
    host.at(200).ack(2, &[]).has_window(6.0, f64::INFINITY).forget_sent();
    host.ack(2, &[3..5]).ack(2, &[3..6]).ack(2, &[3..7]).has_window(2.0, 2.0);
}

#[test]
fn equal_configurations_have_the_same_control() {
    let own = Config::rfc().with_control_only(OWN);
    let same = own;
    assert_eq!(own, same);
    assert_ne!(own, Config::rfc());
    assert_eq!(own.control.factory().name(), "bold");
}

/// Values without fields may stand in one place in memory.
#[test]
fn different_controls_without_parameters_are_not_equal() {
    #[derive(Debug)]
    struct Other;
    impl ControlFactory for Other {
        fn name(&self) -> &'static str {
            "other"
        }

        fn build(&self, setup: &ControlSetup) -> Box<dyn CongestionControl> {
            Bold.build(setup)
        }
    }
    assert_ne!(OWN, Control::custom(&Other));
}

#[test]
fn every_control_has_a_name() {
    let controls = [
        (Control::Reno, "reno"),
        (Control::Tahoe, "tahoe"),
        (Control::Pert(PertFlags::DEFAULT), "pert"),
        (Control::Cubic(CubicConfig::RFC9438), "cubic"),
        (Control::Vegas(VegasParameters::NS2), "vegas"),
        (Control::Bbr(BbrParameters::DEFAULT), "bbr"),
        (Control::Bbr1(Bbr1Parameters::LINUX), "bbr1"),
        (Control::Copa(CopaParameters::DEFAULT), "copa"),
        (Control::Prague(PragueParameters::DEFAULT), "prague"),
        (Config::earlybird_rt(Duration::from_millis(250)).control, "tolerant"),
        (Control::custom(&Bold), "bold"),
    ];
    for (control, name) in controls {
        assert_eq!(control.factory().name(), name);
    }
}

/// RFC 4015 §3.1, step 9; and what recovery finds too many is given back.
#[test]
fn controls_take_a_reduction_back_and_give_segments_back() {
    let tolerant = Config::earlybird_rt(Duration::from_millis(250)).control;
    let controls = [
        Control::Reno,
        Control::Pert(PertFlags::DEFAULT),
        Control::Cubic(CubicConfig::RFC9438),
        Control::Cubic(CubicConfig::LINUX),
        Control::Vegas(VegasParameters::LINUX),
        Control::Prague(PragueParameters::DEFAULT),
        tolerant,
    ];
    for control in controls {
        let mut window = control.factory().build(&Config::rfc().control_setup(SeedTree::new(1)));
        window.undo(&Window::new(40.0, 30.0));
        assert!((window.cwnd() - 40.0).abs() < 1e-9, "{control:?}");
        window.deflate(&mut Cx { now: Instant::ZERO, trace: &mut () }, 5.0);
        // The tolerant one leaves counting to recovery.
        let left = if control == tolerant { 40.0 } else { 35.0 };
        assert!((window.cwnd() - left).abs() < 1e-9, "{control:?}");
    }
}
