//! Transports by name.

use earlybird_transport::{
    Datagram, Detection, Endpoint, Kind, Preset, Profile, QuicCarriage, Repair, Transport, Transports,
};
use rstest::rstest;
use serde_json::json;

#[rstest]
#[case("sack", Kind::Repair(Repair::Sack), Detection::Duplicates, false)]
#[case("sack-er", Kind::Repair(Repair::Sack), Detection::EarlyRetransmission, false)]
#[case("pert", Kind::control("pert").unwrap(), Detection::Duplicates, false)]
#[case("pert-er", Kind::control("pert").unwrap(), Detection::EarlyRetransmission, false)]
#[case("bbr", Kind::control("bbr").unwrap(), Detection::Duplicates, false)]
#[case("bbr3-er", Kind::control("bbr3").unwrap(), Detection::EarlyRetransmission, false)]
#[case("bbr1", Kind::control("bbr1").unwrap(), Detection::Duplicates, false)]
#[case("bbr1-rack", Kind::control("bbr1").unwrap(), Detection::Rack, false)]
#[case("copa", Kind::control("copa").unwrap(), Detection::Duplicates, false)]
#[case("copa-rack", Kind::control("copa").unwrap(), Detection::Rack, false)]
#[case("hollywood-rack", Kind::RealTime(Preset::Hollywood), Detection::Rack, false)]
#[case("prague", Kind::control("prague").unwrap(), Detection::Duplicates, false)]
#[case("prague-rack-fg", Kind::control("prague").unwrap(), Detection::Rack, true)]
#[case("tahoe", Kind::Repair(Repair::Tahoe), Detection::Duplicates, false)]
#[case("reno-er", Kind::Repair(Repair::Reno), Detection::EarlyRetransmission, false)]
#[case("vegas", Kind::control("vegas").unwrap(), Detection::Duplicates, false)]
#[case("newreno", Kind::Repair(Repair::NewReno), Detection::Duplicates, false)]
#[case("cubic", Kind::control("cubic").unwrap(), Detection::Duplicates, false)]
#[case("cubic-er", Kind::control("cubic").unwrap(), Detection::EarlyRetransmission, false)]
#[case("sack-fg", Kind::Repair(Repair::Sack), Detection::Duplicates, true)]
#[case("udp", Kind::Datagram(Datagram::Udp), Detection::Duplicates, false)]
#[case("tfrc", Kind::Datagram(Datagram::Tfrc), Detection::Duplicates, false)]
#[case("srt", Kind::Datagram(Datagram::Srt), Detection::Duplicates, false)]
#[case("quic", Kind::Quic(QuicCarriage::Stream), Detection::Duplicates, false)]
#[case("quic-streams", Kind::Quic(QuicCarriage::Streams), Detection::Duplicates, false)]
#[case("quic-datagrams", Kind::Quic(QuicCarriage::Datagrams), Detection::Duplicates, false)]
#[case("pert-er-fg", Kind::control("pert").unwrap(), Detection::EarlyRetransmission, true)]
#[case("mtcp-rack", Kind::RealTime(Preset::Mtcp), Detection::Rack, false)]
#[case("pert-rack", Kind::control("pert").unwrap(), Detection::Rack, false)]
fn names(#[case] name: &str, #[case] kind: Kind, #[case] detection: Detection, #[case] fine: bool) {
    let transport: Transport = name.parse().unwrap();
    assert_eq!(transport, Transport { kind, detection, fine_grained: fine });
}

#[test]
fn every_name_is_read_back() {
    let names = Transports::built_in().names();
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

#[rstest]
#[case(Profile::Linux, "bbr1")]
#[case(Profile::Rfc, "bbr3")]
fn bbr_was_version_3_under_the_profile_of_kernels_that_have_version_1(#[case] profile: Profile, #[case] means: &str) {
    let endpoint: Endpoint = serde_json::from_value(
        json!({ "transport": "bbr", "bbr1": { "min-rtt-window": "7s" }, "bbr3": { "beta": 0.9 } }),
    )
    .expect("tables");
    let control = |name| endpoint.controls.control(name, profile).expect("a control");
    assert_eq!(control("bbr"), control(means));
    assert_ne!(control("bbr1"), control("bbr3"));
}
