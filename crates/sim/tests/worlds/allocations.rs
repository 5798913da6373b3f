//! Nothing is allocated per packet once the buffers have grown.

use crate::dumbbell::{BUDGET, Dumbbell, link, ns2, rfc, seconds};
use crate::observers::Census;
use earlybird_sim::{EndpointSettings, Observer, QueueLimit, World};
use earlybird_tcp::{Acking, AgeReference, Config, Control, PertFlags, Trigger};
use earlybird_units::Duration;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

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

/// Twenty endless transfers over 10 Mb/s and a queue of 40 packets, where they lose packets all the time.
fn crowd<O: Observer>(endpoints: EndpointSettings, observer: O) -> World<O> {
    Dumbbell::new(link(10_000_000, 15, QueueLimit::Packets(40))).with_pairs(20).world(endpoints, observer)
}

/// After 200 s every buffer has grown; in the next 100 s about 120,000 packets pass the bottleneck.
fn assert_no_allocations(endpoints: EndpointSettings) {
    let mut world = crowd(endpoints, Census::default());
    assert!(world.run_until(seconds(200), BUDGET));
    let allocations = allocations_of(|| assert!(world.run_until(seconds(300), BUDGET)));
    let (network, census) = world.into_parts();
    assert!(network.links().all(|link| link.total.packets_in > 1000));
    assert!(census.dropped[0] > 5000, "the queue must overflow: {} drops", census.dropped[0]);
    assert_eq!(allocations, 0, "after {} packets", census.entered[0]);
}

#[test]
fn the_count_sees_an_allocation() {
    assert_eq!(allocations_of(|| drop(Box::new(1))), 1);
}

#[test]
fn twenty_sack_flows_allocate_nothing_in_100_s() {
    assert_no_allocations(ns2(Config::ns2()));
}

#[test]
fn twenty_rfc_flows_with_timestamps_and_delayed_acks_allocate_nothing_in_100_s() {
    let acking = Acking::Delayed(Duration::from_millis(100));
    assert_no_allocations(rfc(Config { acking, ..Config::rfc() }));
}

#[test]
fn twenty_pert_flows_with_early_retransmission_allocate_nothing_in_100_s() {
    let trigger = Trigger::EarlyRetransmission(AgeReference::Missing);
    let base = Config::ns2();
    let config = Config { control: Control::Pert(PertFlags::DEFAULT), trigger, rto: base.rto.fine_grained(), ..base };
    assert_no_allocations(ns2(config));
}
