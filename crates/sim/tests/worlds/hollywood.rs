//! TCP Hollywood from writer to viewer: sound of 100 bytes each 20 ms, and 100 ms there and back.

use crate::dumbbell::{DuplexLink, ns2, rfc};
use crate::viewers::{FRAMES, Show, audio, channel, deadline, show, watch};
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{FlowEnd, FlowId, LossRule, Observer};
use earlybird_tcp::{Config, Control, CubicConfig, Delivery, RealTime, Recovery};
use earlybird_units::{Duration, Instant};
use std::collections::BTreeSet;

const SOURCE: &str = "McQuistin, Perkins and Fayed, IFIP Networking 2016, abstract";

fn config(real_time: RealTime) -> Config {
    let control = Control::Cubic(CubicConfig::RFC9438);
    Config::rfc().with_control_only(control).with_recovery_only(Recovery::Rack).with_mss(100).with_real_time(real_time)
}

fn hollywood() -> RealTime {
    RealTime::hollywood(Duration::from_millis(250))
}

/// Returns how many units came later than the way takes. Half of ns-2's window is room enough for what is written.
fn delayed(real_time: RealTime) -> usize {
    let sender = ns2(Config::ns2().with_max_window(20).with_mss(100).with_real_time(real_time));
    let show = show(sender, channel(Some(LossRule::List(vec![400])), 1), deadline(), audio());
    assert_eq!((show.delivered.len() as u64, show.lost.len()), (FRAMES, 0));
    let late = |(unit, at): &&(u32, Instant)| *at - show.written[*unit as usize] > Duration::from_millis(52);
    // The first ones wait for the handshake.
    show.delivered.iter().filter(|(unit, _)| *unit > 50).filter(late).count()
}

/// At the sender the repair takes the turn of one message.
#[test]
fn a_missing_message_delays_no_other_at_the_receiver() {
    let tcp = RealTime { delivery: Delivery::InOrder, replaces_after: None, ..hollywood() };
    let (unordered, in_order) = (delayed(hollywood()), delayed(tcp));
    assert!(unordered == 2 && in_order > 7, "{unordered}, {in_order}");
    let what = "messages delayed by one that gets lost, 100 ms there and back";
    conforms(Area::RealTime, "hollywood", SOURCE, what, &format!("{unordered}; {in_order} in order"));
}

/// The messages that were delivered, and those that the sender abandoned.
#[derive(Debug, Default)]
struct Count {
    delivered: Vec<u32>,
    discarded: u64,
    units_late: u64,
}

impl Observer for Count {
    fn on_unit_delivered(&mut self, _at: Instant, _flow: FlowId, unit: u32) {
        self.delivered.push(unit);
    }

    fn on_playout(&mut self, _at: Instant, _flow: FlowId, event: earlybird_traffic::Playout) {
        self.units_late += u64::from(matches!(event, earlybird_traffic::Playout::Late(_)));
    }

    fn on_end(&mut self, _flow: FlowId, end: &FlowEnd) {
        self.discarded = end.real_time[0].frames_abandoned;
    }
}

fn count(real_time: RealTime, seed: u64) -> Count {
    let duplex = DuplexLink::new(channel(Some(LossRule::Bernoulli(0.05)), seed));
    watch(rfc(config(real_time)), duplex, Some(deadline()), audio())
}

/// Each message is delivered, once, or another took its place.
#[test]
fn a_message_that_was_replaced_is_lost_and_never_comes_late() {
    let (mut replaced, mut late, mut late_without) = (0, 0, 0);
    for seed in 0..20 {
        let ours = count(hollywood(), seed);
        assert_eq!(ours.delivered.len() as u64 + ours.discarded, FRAMES, "{seed}");
        assert_eq!(ours.delivered.iter().collect::<BTreeSet<_>>().len(), ours.delivered.len(), "{seed}: each once");
        replaced += ours.discarded;
        late += ours.units_late;
        late_without += count(RealTime { replaces_after: None, ..hollywood() }, seed).units_late;
    }
    assert!(replaced > 20 && late < late_without, "{replaced}, {late}, {late_without}");
}

fn lost(real_time: RealTime) -> usize {
    let loses = |seed| {
        let show: Show =
            show(rfc(config(real_time)), channel(Some(LossRule::Bernoulli(0.03)), seed), deadline(), audio());
        show.lost.len()
    };
    (0..20).map(loses).sum()
}

/// "It increases the utility of the network in lossy conditions where total one-way delay is constrained" (abstract).
#[test]
fn with_250_ms_and_3_percent_lost_it_plays_more_than_tcp_and_than_without_replacements() {
    let [ours, consistent, tcp] =
        [lost(hollywood()), lost(RealTime { replaces_after: None, ..hollywood() }), lost(RealTime::default())];
    assert!(ours < consistent && consistent < tcp, "{ours}, {consistent}, {tcp}");
    let percent = |lost: usize| 100.0 * lost as f64 / (20 * FRAMES) as f64;
    conforms(
        Area::RealTime,
        "hollywood",
        SOURCE,
        "messages that are not there after 250 ms, 100 ms there and back with 3 % lost, mean of 20 seeds",
        &format!(
            "{:.1} %; {:.1} % without inconsistent retransmissions, {:.1} % with TCP",
            percent(ours),
            percent(consistent),
            percent(tcp)
        ),
    );
}
