use super::*;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use proptest::collection::vec;
use proptest::prelude::*;

const ORIGIN: SeqNum = SeqNum(u32::MAX - 40);

/// A scoreboard of segments with these lengths, all sent, behind an acknowledged SYN.
fn scoreboard(lengths: &[u64]) -> Scoreboard {
    let mut scoreboard = Scoreboard::default();
    let mut end = 1;
    scoreboard.push(Instant::ZERO, end, Flags::SYN);
    for (number, length) in (1..).zip(lengths) {
        end += length;
        scoreboard.push(Instant::from_nanos(number), end, Flags::ACK);
    }
    scoreboard.apply(1, ORIGIN, &SackBlocks::default(), true, Instant::ZERO);
    scoreboard
}

fn blocks(ranges: &[(u64, u64)]) -> SackBlocks {
    let mut blocks = SackBlocks::default();
    for (left, right) in ranges {
        blocks.push(SackBlock { left: ORIGIN.at(*left), right: ORIGIN.at(*right) });
    }
    blocks
}

fn sacked(scoreboard: &Scoreboard) -> BTreeSet<u64> {
    scoreboard.sacked().as_slice().iter().cloned().flatten().collect()
}

proptest! {
    /// Whole segments inside a block above the first missing one, whatever the sizes, and nothing else.
    #[test]
    fn marks_what_a_list_of_segments_would_mark(
        lengths in vec(1_u64..6, 1..20),
        acks in vec((0_u64..80, vec((0_u64..90, 0_u64..90), 0..4)), 1..6),
    ) {
        let mut scoreboard = scoreboard(&lengths);
        let ends: Vec<u64> = lengths.iter().scan(1, |end, length| { *end += length; Some(*end) }).collect();
        let last = ends[ends.len() - 1];
        let (mut una, mut marked) = (1, BTreeSet::new());
        for (ack, ranges) in acks {
            let ack = ack.min(last);
            let change = scoreboard.apply(ack, ORIGIN, &blocks(&ranges), true, Instant::from_nanos(99));
            una = una.max(ack);
            let acked = ends.iter().filter(|end| **end <= una).count() as u64;
            for (left, right) in ranges.into_iter().filter(|(left, right)| una < *left && *right <= last) {
                let inside = (1..).zip(ends.iter().zip(&lengths)).filter(|(_, (end, length))| left <= **end - **length && **end <= right);
                marked.extend(inside.map(|(number, _)| number));
            }
            marked.retain(|number| *number > acked);
            prop_assert_eq!(scoreboard.una(), acked + 1);
            prop_assert_eq!(scoreboard.una_position(), una);
            prop_assert_eq!(scoreboard.outstanding(), lengths.len() as u64 - acked);
            prop_assert_eq!(sacked(&scoreboard), marked.clone());
            prop_assert!(change.advanced <= acked);
        }
    }
}

#[test]
fn an_ack_that_covers_a_segment_sent_twice_measures_nothing() {
    let mut scoreboard = scoreboard(&[10, 10, 10]);
    scoreboard.on_retransmission(Instant::from_nanos(50), 2);
    let none = SackBlocks::default();
    assert_eq!(scoreboard.apply(11, ORIGIN, &none, true, Instant::from_nanos(60)).rtt, Some(Duration::from_nanos(59)));
    assert_eq!(scoreboard.apply(31, ORIGIN, &none, true, Instant::from_nanos(70)).rtt, None);
}

#[test]
fn a_segment_reported_behind_later_ones_was_overtaken_unless_it_was_retransmitted() {
    let mut scoreboard = scoreboard(&[10; 10]);
    scoreboard.apply(1, ORIGIN, &blocks(&[(81, 91)]), true, Instant::ZERO);
    assert_eq!(scoreboard.reordering(), 3, "a gap may be a loss");
    scoreboard.on_retransmission(Instant::from_nanos(50), 2);
    scoreboard.apply(1, ORIGIN, &blocks(&[(11, 21), (81, 91)]), true, Instant::ZERO);
    assert_eq!((scoreboard.reordering(), scoreboard.retransmitted()), (3, 0), "the second one may have arrived");
    scoreboard.apply(1, ORIGIN, &blocks(&[(31, 41), (81, 91)]), true, Instant::ZERO);
    assert_eq!(scoreboard.reordering(), 6);
}

#[test]
fn half_a_segment_acknowledged_leaves_the_other_half() {
    let mut scoreboard = scoreboard(&[10, 10]);
    let change = scoreboard.apply(6, ORIGIN, &SackBlocks::default(), true, Instant::ZERO);
    assert_eq!((change.advanced, change.is_duplicate, change.rtt), (0, false, None));
    assert!(change.is_partial_segment());
    let (start, sent) = scoreboard.segment(1).unwrap();
    assert_eq!((start, sent.end), (6, 11));
}

#[test]
fn a_duplicate_repeats_the_number_and_carries_nothing_else() {
    let mut scoreboard = scoreboard(&[10, 10]);
    let none = SackBlocks::default();
    assert!(scoreboard.apply(1, ORIGIN, &none, true, Instant::ZERO).is_duplicate);
    assert!(!scoreboard.apply(1, ORIGIN, &none, false, Instant::ZERO).is_duplicate);
    assert!(!scoreboard.apply(11, ORIGIN, &none, true, Instant::ZERO).is_duplicate);
    assert!(!scoreboard.apply(1, ORIGIN, &none, true, Instant::ZERO).is_duplicate, "an old one");
    scoreboard.apply(21, ORIGIN, &none, true, Instant::ZERO);
    assert!(!scoreboard.apply(21, ORIGIN, &none, true, Instant::ZERO).is_duplicate, "nothing is outstanding");
}

#[test]
fn a_block_grows_although_what_it_reported_was_abandoned() {
    let mut scoreboard = scoreboard(&[10, 10, 10, 10]);
    scoreboard.apply(1, ORIGIN, &blocks(&[(11, 21)]), true, Instant::ZERO);
    scoreboard.remove_front(2);
    assert_eq!((scoreboard.una(), sacked(&scoreboard)), (3, BTreeSet::new()));
    let change = scoreboard.apply(1, ORIGIN, &blocks(&[(11, 31)]), true, Instant::ZERO);
    assert_eq!((sacked(&scoreboard), change.delivered), (BTreeSet::from([3]), 1));
}
