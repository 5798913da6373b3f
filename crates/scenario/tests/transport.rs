//! Transports by name.

use earlybird_scenario::{Control, Detection, Transport, transport_names};
use rstest::rstest;

#[rstest]
#[case("sack", Control::Sack, Detection::Duplicates, false)]
#[case("sack-er", Control::Sack, Detection::EarlyRetransmission, false)]
#[case("pert", Control::Pert, Detection::Duplicates, false)]
#[case("pert-er", Control::Pert, Detection::EarlyRetransmission, false)]
#[case("bbr", Control::Bbr, Detection::Duplicates, false)]
#[case("prague", Control::Prague, Detection::Duplicates, false)]
#[case("prague-rack-fg", Control::Prague, Detection::Rack, true)]
#[case("tahoe", Control::Tahoe, Detection::Duplicates, false)]
#[case("reno-er", Control::Reno, Detection::EarlyRetransmission, false)]
#[case("vegas", Control::Vegas, Detection::Duplicates, false)]
#[case("newreno", Control::NewReno, Detection::Duplicates, false)]
#[case("cubic", Control::Cubic, Detection::Duplicates, false)]
#[case("cubic-er", Control::Cubic, Detection::EarlyRetransmission, false)]
#[case("sack-fg", Control::Sack, Detection::Duplicates, true)]
#[case("udp", Control::Udp, Detection::Duplicates, false)]
#[case("tfrc", Control::Tfrc, Detection::Duplicates, false)]
#[case("srt", Control::Srt, Detection::Duplicates, false)]
#[case("pert-er-fg", Control::Pert, Detection::EarlyRetransmission, true)]
#[case("pert-rack", Control::Pert, Detection::Rack, false)]
fn names(#[case] name: &str, #[case] control: Control, #[case] detection: Detection, #[case] fine: bool) {
    let transport: Transport = name.parse().unwrap();
    assert_eq!(transport, Transport { control, detection, fine_grained: fine });
}

#[test]
fn every_name_is_read_back() {
    let names = transport_names();
    assert!(names.len() >= 8);
    for name in names {
        assert_eq!(name.parse::<Transport>().unwrap().to_string(), name);
    }
}

#[rstest]
#[case("sak", "did you mean `sack`?")]
#[case("SACK", "did you mean `sack`?")]
#[case("pert_er", "did you mean `pert-er`?")]
#[case("sack-fgg", "did you mean `sack-fg`?")]
#[case("udp-fg", "did you mean `mtp-fg`?")]
#[case("udp-er", "did you mean `mtp-er`?")]
#[case("", "")]
#[case("carrier-pigeon", "")]
fn unknown_names(#[case] name: &str, #[case] hint: &str) {
    let error = name.parse::<Transport>().unwrap_err();
    assert_eq!(error.hint, hint);
    assert!(
        error.allowed.starts_with("tahoe, reno, reno-er, newreno")
            && error.allowed.contains(", each also with -fg; udp")
    );
}
