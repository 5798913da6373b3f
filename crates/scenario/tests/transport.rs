//! Transports by name.

use earlybird_scenario::{Control, Transport, transport_names};
use rstest::rstest;

#[rstest]
#[case("sack", Control::Sack, false, false)]
#[case("sack-er", Control::Sack, true, false)]
#[case("pert", Control::Pert, false, false)]
#[case("pert-er", Control::Pert, true, false)]
#[case("sack-fg", Control::Sack, false, true)]
#[case("pert-er-fg", Control::Pert, true, true)]
fn names(#[case] name: &str, #[case] control: Control, #[case] early: bool, #[case] fine: bool) {
    let transport: Transport = name.parse().unwrap();
    assert_eq!(transport, Transport { control, early_retransmission: early, fine_grained: fine });
}

#[test]
fn every_name_is_read_back() {
    let names = transport_names();
    assert_eq!(names.len(), 8);
    for name in names {
        assert_eq!(name.parse::<Transport>().unwrap().to_string(), name);
    }
}

#[rstest]
#[case("sak", "did you mean `sack`?")]
#[case("SACK", "did you mean `sack`?")]
#[case("pert_er", "did you mean `pert-er`?")]
#[case("sack-fgg", "did you mean `sack-fg`?")]
#[case("", "")]
#[case("cubic", "")]
fn unknown_names(#[case] name: &str, #[case] hint: &str) {
    let error = name.parse::<Transport>().unwrap_err();
    assert_eq!(error.hint, hint);
    assert_eq!(error.allowed, "sack, sack-er, pert, pert-er, each also with -fg");
}
