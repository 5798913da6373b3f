//! Nothing is allocated per packet once the buffers have grown.

use crate::dumbbell::{BUDGET, Dumbbell, FORWARD, link, ns2, rfc, seconds};
use crate::event_driven::{dual_pi2, fq_codel, pie};
use crate::observers::Census;
use earlybird_sim::{Discipline, EndpointSettings, LinkSettings, QueueLimit};
use earlybird_tcp::{Acking, AgeReference, BbrParameters, Config, Control, Dupthresh, PertFlags};
use earlybird_units::Duration;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

/// Counts the allocations of each thread, so that tests can run side by side.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // Threads also allocate while they end.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[allow(unsafe_code, reason = "an allocator cannot be written without; it passes everything on to the system's")]
// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(place, layout, size) }
    }
}

fn allocations_of(act: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    act();
    ALLOCATIONS.get() - before
}

/// Runs twenty endless transfers over 10 Mb/s for 200 s, and then for 100 s more; gives the allocations of these.
fn allocations_of_a_crowd(bottleneck: LinkSettings, endpoints: EndpointSettings) -> u64 {
    let is_lossless = bottleneck.limit == QueueLimit::Unlimited && bottleneck.discipline == Discipline::DropTail;
    let mut world = Dumbbell::new(bottleneck).with_pairs(20).world(endpoints, Census::default());
    assert!(world.run_until(seconds(200), BUDGET));
    let allocations = allocations_of(|| assert!(world.run_until(seconds(300), BUDGET)));
    let (network, census) = world.into_parts();
    assert!(network.links().all(|link| link.total.packets_in > 1000));
    // 300 s of packets of 1040 bytes, or a few more, and those that wait.
    let carried = network.link(FORWARD).total.packets_accepted();
    assert!((330_000..363_000).contains(&carried), "{carried} packets");
    assert_eq!(census.dropped.first().is_none_or(|dropped| *dropped < 5000), is_lossless);
    allocations
}

/// Every window is full, so every buffer is as large as it will get: 120,000 packets allocate nothing.
fn assert_no_allocations(endpoints: EndpointSettings) {
    assert_eq!(allocations_of_a_crowd(link(10_000_000, 15, QueueLimit::Unlimited), endpoints), 0);
}

/// Windows of a few packets, and losses all the time. Now and then a flow gets further ahead, or has more holes, than ever
/// before, and one of its buffers doubles; with a window of 64 that ends after a few times.
fn assert_a_handful_of_allocations(endpoints: EndpointSettings) {
    let allocations = allocations_of_a_crowd(link(10_000_000, 15, QueueLimit::Packets(40)), endpoints);
    assert!(allocations <= 20, "{allocations} allocations");
}

fn sack() -> EndpointSettings {
    ns2(Config::ns2())
}

fn rfc_with_delayed_acks() -> EndpointSettings {
    rfc(Config::rfc().with_acking(Acking::Delayed(Duration::from_millis(100))))
}

fn pert_with_early_retransmission() -> EndpointSettings {
    let trigger = Dupthresh::EarlyRetransmission(AgeReference::Missing);
    let base = Config::ns2();
    ns2(base
        .with_control_only(Control::Pert(PertFlags::DEFAULT))
        .with_dupthresh(trigger)
        .with_rto(base.timers.rto.fine_grained()))
}

fn bbr() -> EndpointSettings {
    rfc(Config::rfc().with_control_only(Control::Bbr(BbrParameters::DEFAULT)))
}

#[test]
fn the_count_sees_an_allocation() {
    assert_eq!(allocations_of(|| drop(black_box(Box::new(1)))), 1);
}

#[test]
fn full_windows_of_sack_allocate_nothing_in_120000_packets() {
    assert_no_allocations(sack());
}

#[test]
fn full_windows_with_timestamps_and_delayed_acks_allocate_nothing_in_120000_packets() {
    assert_no_allocations(rfc_with_delayed_acks());
}

#[test]
fn losses_of_sack_allocate_a_handful_of_times_in_120000_packets() {
    assert_a_handful_of_allocations(sack());
}

#[test]
fn losses_with_timestamps_and_delayed_acks_allocate_a_handful_of_times_in_120000_packets() {
    assert_a_handful_of_allocations(rfc_with_delayed_acks());
}

#[test]
fn losses_of_pert_with_early_retransmission_allocate_a_handful_of_times_in_120000_packets() {
    assert_a_handful_of_allocations(pert_with_early_retransmission());
}

#[test]
fn losses_of_bbr_allocate_a_handful_of_times_in_120000_packets() {
    assert_a_handful_of_allocations(bbr());
}

/// Each of 20 queues grows now and then, as the buffers of the endpoints do.
#[test]
fn queues_that_are_served_allocate_a_handful_of_times_in_120000_packets() {
    for discipline in [fq_codel(), pie(), dual_pi2()] {
        let bottleneck = LinkSettings { discipline, ..link(10_000_000, 15, QueueLimit::Packets(400)) };
        let allocations = allocations_of_a_crowd(bottleneck, sack());
        assert!(allocations <= 40, "{discipline:?}: {allocations} allocations");
    }
}
