//! Addresses that no segment of one host to another bears.

use crate::arbitrary::{V4, V6};
use earlybird_wire::{Addresses, Martian};
use rstest::rstest;

#[rstest]
#[case("10.0.0.1", None)]
#[case("223.255.255.255", None)]
#[case("0.0.0.0", Some(Martian::Unspecified))]
#[case("0.1.2.3", Some(Martian::Unspecified))]
#[case("127.0.0.1", Some(Martian::Loopback))]
#[case("127.255.255.254", Some(Martian::Loopback))]
#[case("224.0.0.1", Some(Martian::Multicast))]
#[case("239.255.255.250", Some(Martian::Multicast))]
#[case("240.0.0.1", Some(Martian::Broadcast))]
#[case("255.255.255.255", Some(Martian::Broadcast))]
#[case("2001:db8::1", None)]
#[case("fe80::1", None)]
#[case("::", Some(Martian::Unspecified))]
#[case("::1", Some(Martian::Loopback))]
#[case("ff02::1", Some(Martian::Multicast))]
#[case("::ffff:10.0.0.1", Some(Martian::Unspecified))]
fn an_address(#[case] address: &str, #[case] expected: Option<Martian>) {
    let address: std::net::IpAddr = address.parse().unwrap();
    let others = if address.is_ipv4() { V4 } else { V6 };
    assert_eq!(Addresses { source: address, ..others }.martian(), expected);
    assert_eq!(Addresses { destination: address, ..others }.martian(), expected);
}

/// A driver of a loopback device lets loopback pass, and nothing that hides behind it.
#[test]
fn loopback_does_not_hide_what_is_worse() {
    let source = [127, 0, 0, 1].into();
    let worse = Addresses { source, destination: [224, 0, 0, 1].into(), ..V4 };
    assert_eq!(worse.martian(), Some(Martian::Multicast));
    assert_eq!(worse.reversed().martian(), Some(Martian::Multicast));
    assert_eq!(Addresses { source, destination: source, ..V4 }.martian(), Some(Martian::Loopback));
}

#[test]
fn an_answer_goes_back() {
    assert_eq!(V6.reversed().source, V6.destination);
    assert_eq!(V6.reversed().destination_port, V6.source_port);
    assert_eq!(V6.reversed().reversed(), V6);
}
