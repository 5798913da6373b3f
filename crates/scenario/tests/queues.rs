//! Queue disciplines: their defaults, and parameters that make no sense.

use earlybird_scenario::{Cake, Codel, DualPi2, Network, Pie, Queue, Red, resolve};
use rstest::rstest;

const DUMBBELL: &str = include_str!("../../../scenarios/dumbbell.toml");

fn queue(value: &str) -> Result<Queue, String> {
    let changes = [("network.dumbbell.bottleneck.queue".to_owned(), value.to_owned())];
    match resolve(DUMBBELL, &changes).map_err(|error| error.to_string())?.network {
        Network::Dumbbell(dumbbell) => Ok(dumbbell.bottleneck.queue),
        Network::Links(_) => Err("a dumbbell has no links".to_owned()),
    }
}

#[test]
fn left_out_parameters_have_the_values_of_their_sources() {
    assert_eq!(queue("{ codel = {} }"), Ok(Queue::Codel(Codel::default())));
    assert_eq!(queue(r#"{ codel = { target = "5ms", interval = "100ms" } }"#), Ok(Queue::Codel(Codel::default())));
    assert_eq!(
        queue(r#"{ pie = { target = "15ms", update = "15ms", burst = "150ms" } }"#),
        Ok(Queue::Pie(Pie::default()))
    );
    assert_eq!(queue(r#"{ cake = { rtt = "100ms" } }"#), Ok(Queue::Cake(Cake::default())));
    assert_eq!(queue("{ dualpi2 = { coupling = 2 } }"), Ok(Queue::DualPi2(DualPi2::default())));
    assert_eq!(queue("{ red = { gentle = false } }"), Ok(Queue::Red(Red { gentle: false, ..Red::default() })));
    assert_eq!(queue("{ head-drop = 80 }"), Ok(Queue::HeadDrop(80)));
}

#[rstest]
#[case(r#"{ pie = { update = "0s" } }"#, "pie.update: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(r#"{ pie = { update = "1ns" } }"#, "pie.update: `1ns` is too short; allowed: a duration from 15us on.")]
#[case(r#"{ dualpi2 = { update = "0s" } }"#, "dualpi2.update: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(r#"{ cake = { rtt = "0s" } }"#, "cake.rtt: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(r#"{ codel = { interval = "0s" } }"#, "codel.interval: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(
    "{ red = { min-threshold = 15, max-threshold = 15 } }",
    "red.max-threshold: `15` is not above `min-threshold`; allowed: a number above 15."
)]
#[case(
    "{ red = { max-threshold = 15 } }",
    "red.max-threshold: `15` stands without `min-threshold`; allowed: both thresholds, or the lower one, or none."
)]
#[case(
    "{ red = { weight = 1.5 } }",
    "red.weight: `1.5` is not a share; allowed: a number from 0 to 1, or in percent, such as 0.01 or 1%. hint: did you \
     mean `1.5%`?"
)]
fn parameters_that_make_no_sense_are_refused(#[case] value: &str, #[case] expected: &str) {
    assert_eq!(queue(value), Err(format!("network.dumbbell.bottleneck.queue.{expected}")));
}
