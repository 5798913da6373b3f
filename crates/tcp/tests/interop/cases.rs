//! Transfers between earlybird and smoltcp.

use crate::network::{Faults, Seen, converse};
use crate::ours::Ours;
use crate::smol::Smol;
use crate::{Application, Host};
use earlybird_tcp::{Config, Control, CubicConfig, IpVersion, Recovery};
use earlybird_units::{Duration, Instant};
use earlybird_wire::Addresses;
use rstest::rstest;
use std::net::IpAddr;

/// A conversation, ours and smoltcp's parts of it.
struct Case {
    config: Config,
    /// Room of smoltcp's socket in each direction.
    buffer: usize,
    is_v6: bool,
    we_open: bool,
    /// Bytes that we write, and that smoltcp writes.
    writes: [usize; 2],
    /// Seconds before which we do not read, and smoltcp does not.
    reads_from: [u64; 2],
    /// Whether we close only after smoltcp has, and the other way round.
    closes_second: [bool; 2],
    faults: Faults,
    seed: u64,
}

/// A modern sender, MTU 1500 less the headers of IPv6 and TCP with timestamps and three SACK blocks.
fn modern() -> Config {
    let (control, recovery) = (Control::Cubic(CubicConfig::RFC9438), Recovery::Rack);
    Config::rfc()
        .with_mss(1400)
        .with_max_window(100)
        .with_initial_window(10)
        .with_control_only(control)
        .with_recovery_only(recovery)
}

/// Linux's ways over Ethernet: delayed and quick ACKs, Nagle, empty probes. The buffers are as large as the window.
fn linux(is_v6: bool) -> Config {
    let (ip, mss) = if is_v6 { (IpVersion::V6, 1440) } else { (IpVersion::V4, 1460) };
    Config::linux().with_ip(ip).with_mss(mss).with_max_window(100)
}

impl Default for Case {
    fn default() -> Self {
        Self {
            config: modern(),
            buffer: 1 << 16,
            is_v6: false,
            we_open: true,
            writes: [300_000, 300_000],
            reads_from: [0, 0],
            closes_second: [false, true],
            faults: Faults::default(),
            seed: 1,
        }
    }
}

/// A text in which no part looks like another.
fn text(length: usize, seed: u64) -> Vec<u8> {
    (0..length as u64).map(|place| ((place + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

impl Case {
    fn addresses(&self) -> Addresses {
        let [source, destination]: [IpAddr; 2] =
            if self.is_v6 { ["fd00::1", "fd00::2"] } else { ["192.168.7.1", "192.168.7.2"] }
                .map(|address| address.parse().expect("an address"));
        Addresses { source, destination, source_port: 49_152, destination_port: 80 }
    }

    fn application(&self, side: usize) -> Application {
        let reads_from = Instant::ZERO + Duration::from_secs(self.reads_from[side]);
        let text = text(self.writes[side], side as u64 * 1_000_003);
        Application { text, reads_from, closes_second: self.closes_second[side], ..Application::default() }
    }

    /// Has the conversation, and checks that each heard what the other wrote. What was seen of us stands first.
    fn run(&self) -> Seen {
        let opener = self.addresses();
        let addresses = if self.we_open { opener } else { opener.reversed() };
        let ours = Ours::new(&self.config, addresses, self.we_open, self.application(0));
        let smol = Smol::new(self.buffer, addresses.reversed(), !self.we_open, self.application(1));
        let mut ends: [Box<dyn Host>; 2] = [Box::new(ours), Box::new(smol)];
        let seen = converse(&mut ends, self.faults, self.seed);
        let [ours, smol] = ends.each_ref().map(|end| end.application());
        assert!(
            smol.received == ours.text,
            "smoltcp received {} of {} bytes, or others",
            smol.received.len(),
            ours.text.len()
        );
        assert!(
            ours.received == smol.text,
            "we received {} of {} bytes, or others",
            ours.received.len(),
            smol.text.len()
        );
        assert!(seen.largest <= 1500, "a packet of {} bytes", seen.largest);
        seen
    }
}

#[rstest]
fn every_byte_arrives_over_a_clean_network(
    #[values(false, true)] is_v6: bool,
    #[values(false, true)] we_open: bool,
    #[values([false, true], [true, false], [false, false])] closes_second: [bool; 2],
) {
    let seen = Case { is_v6, we_open, closes_second, ..Case::default() }.run();
    assert!(seen.stamps[0] > 100 && seen.stamps[1] > 100, "both use timestamps: {:?}", seen.stamps);
    assert_eq!(seen.sacks, [0, 0], "nothing is missing");
}

#[rstest]
fn every_byte_arrives_in_spite_of_losses_copies_and_reordering(
    #[values(false, true)] is_v6: bool,
    #[values(false, true)] we_open: bool,
    #[values(1, 2, 3, 4, 5)] seed: u64,
) {
    let faults = Faults { lost: 5, doubled: 5, late: 10 };
    let seen = Case { is_v6, we_open, faults, seed, ..Case::default() }.run();
    assert!(seen.sacks[0] > 0 && seen.sacks[1] > 0, "both tell what arrived behind holes: {:?}", seen.sacks);
}

#[rstest]
#[case::reno(Recovery::Rfc6675)]
#[case::newreno(Recovery::NewReno(earlybird_tcp::NewRenoFlags::default()))]
#[case::rack(Recovery::Rack)]
fn each_recovery_repairs(#[case] recovery: Recovery, #[values(1, 2, 3)] seed: u64) {
    let faults = Faults { lost: 10, ..Faults::default() };
    let config = modern().with_recovery_only(recovery).with_control_only(Control::Reno);
    Case { config, faults, seed, writes: [200_000, 0], ..Case::default() }.run();
}

/// With 64 kB in flight at most, twelve megabytes would take nine seconds.
#[rstest]
fn a_window_beyond_64_kilobytes_is_used(#[values(false, true)] is_v6: bool, #[values(false, true)] we_open: bool) {
    let config = modern().with_max_window(700);
    let seen = Case { config, buffer: 1 << 20, is_v6, we_open, writes: [12_000_000, 0], ..Case::default() }.run();
    assert!(seen.scales.iter().all(|scale| scale.is_some_and(|shift| shift > 0)), "{:?}", seen.scales);
    assert!(seen.end < Instant::ZERO + Duration::from_secs(7), "it took {:?}", seen.end);
}

#[rstest]
fn a_closed_window_reopens(#[values(false, true)] is_v6: bool, #[values(0, 10)] lost: u64) {
    // Losses may hit the window's opening: then only probes find it.
    let faults = Faults { lost, ..Faults::default() };
    let seen = Case { is_v6, faults, writes: [200_000, 0], reads_from: [0, 60], ..Case::default() }.run();
    assert!(seen.zero_windows[1] > 0, "smoltcp did not close its window");
    let seen = Case { is_v6, faults, writes: [0, 200_000], reads_from: [60, 0], ..Case::default() }.run();
    assert!(seen.zero_windows[0] > 0, "we did not close our window");
}

#[test]
fn a_peer_with_hardly_any_room_gets_everything() {
    Case { buffer: 600, writes: [20_000, 20_000], ..Case::default() }.run();
}

#[test]
fn nothing_but_an_opening_and_a_close() {
    for we_open in [false, true] {
        Case { we_open, writes: [0, 0], ..Case::default() }.run();
    }
}

#[rstest]
fn every_byte_arrives_with_the_linux_profile(
    #[values(false, true)] is_v6: bool,
    #[values(false, true)] we_open: bool,
    #[values(Faults::default(), Faults { lost: 5, doubled: 5, late: 10 })] faults: Faults,
    #[values(1, 2, 3)] seed: u64,
) {
    Case { config: linux(is_v6), is_v6, we_open, faults, seed, ..Case::default() }.run();
}

#[rstest]
fn with_the_linux_profile_a_closed_window_reopens(#[values(0, 10)] lost: u64) {
    let faults = Faults { lost, ..Faults::default() };
    let case = || Case { config: linux(false), faults, ..Case::default() };
    let seen = Case { writes: [200_000, 0], reads_from: [0, 60], ..case() }.run();
    assert!(seen.zero_windows[1] > 0, "smoltcp did not close its window");
    let seen = Case { writes: [0, 200_000], reads_from: [60, 0], ..case() }.run();
    assert!(seen.zero_windows[0] > 0, "we did not close our window");
}

#[test]
fn with_the_linux_profile_a_peer_with_hardly_any_room_gets_everything() {
    Case { config: linux(false), buffer: 600, writes: [20_000, 20_000], ..Case::default() }.run();
}
