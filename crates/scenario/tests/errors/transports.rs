//! Recoveries under a name that says another.

use crate::{CHAIN, message};
use rstest::rstest;

#[rstest]
#[case("tahoe", "sack", "needs a window that begins again at one segment after every loss")]
#[case("newreno", "sack", "does without SACK")]
#[case("sack1", "reno", "is not the recovery that this transport is named after")]
#[case("reno", "newreno-er", "is not the recovery that this transport is named after")]
fn recoveries_that_do_not_go_with_a_transport(#[case] recovery: &str, #[case] transport: &str, #[case] reason: &str) {
    let text = CHAIN.replace("[[flows]]", &format!("[endpoint]\ntransport = \"{transport}\"\n[[flows]]"));
    let hint = "name the transport after the recovery, or leave the recovery out.";
    let allowed = format!("what is compatible with transport `{transport}`");
    let expected = format!("endpoint.recovery: `{recovery}` {reason}; allowed: {allowed}. hint: {hint}");
    assert_eq!(message(&text, &format!("endpoint.recovery={recovery}")), expected);
}
