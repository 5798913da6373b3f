//! Transfers end, with every byte, over any link.

use crate::link::{Faults, faults};
use crate::pair::{Closing, Pair, Reading, Script};
use crate::settings::{configs, patient, readers, usual_configs};
use earlybird_tcp::{Config, Event, RealTime, RfcState};
use proptest::collection::vec;
use proptest::prelude::*;

/// More steps than any of these transfers needs.
pub(crate) const STEPS: u64 = 200_000;

/// Sizes in thousandths of a segment, so that cases mean the same for every segment size.
type Writes = Vec<(u64, u64)>;

fn writes() -> impl Strategy<Value = Writes> {
    vec((0_u64..500, 1_u64..30_000), 0..5)
}

fn readings() -> impl Strategy<Value = Option<(u64, u64)>> {
    prop_oneof![2 => Just(None), 1 => (500_u64..20_000, 1_u64..700).prop_map(Some)]
}

/// At least one side closes without waiting for the other.
fn closings() -> impl Strategy<Value = [Closing; 2]> {
    use Closing::{First, Second};
    proptest::sample::select(vec![[First, First], [First, Second], [Second, First]])
}

fn scaled(thousandths: u64, mss: u16) -> u64 {
    (thousandths * u64::from(mss) / 1000).max(1)
}

/// The actions of both applications.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    writes: [Writes; 2],
    readings: [Option<(u64, u64)>; 2],
    closings: [Closing; 2],
}

pub(crate) fn transfers() -> impl Strategy<Value = Transfer> {
    ([writes(), writes()], [readings(), readings()], closings()).prop_map(|(writes, readings, closings)| Transfer {
        writes,
        readings,
        closings,
    })
}

impl Transfer {
    /// Makes scripts for a connection between these two.
    pub(crate) fn scripts(&self, configs: &[Config; 2]) -> [Script; 2] {
        let mss = configs[0].segments.mss.min(configs[1].segments.mss);
        let reading = |(size, period)| Reading::Slowly { bytes: scaled(size, mss), period };
        [0, 1].map(|side| Script {
            writes: self.writes[side].iter().map(|(pause, size)| (*pause, scaled(*size, mss))).collect(),
            reading: self.readings[side].map_or(Reading::AtOnce, reading),
            closing: self.closings[side],
        })
    }
}

/// One side writes, and then both close.
pub(crate) fn one_direction(bytes: u64) -> [Script; 2] {
    let sender = Script { writes: vec![(0, bytes)], reading: Reading::AtOnce, closing: Closing::First };
    let receiver = Script { writes: vec![], reading: Reading::AtOnce, closing: Closing::Second };
    [sender, receiver]
}

fn events_of(pair: &Pair, side: usize, event: Event) -> usize {
    pair.sides[side].events.iter().filter(|reported| **reported == event).count()
}

/// Every byte arrived, and both sides closed in order. One of them may have had to learn from a reset that the other has
/// left TIME-WAIT: where the last ACKs get lost for more than a minute, that is the protocol.
pub(crate) fn assert_complete(pair: &Pair) {
    for (side, peer) in [(0, 1), (1, 0)] {
        let (ours, theirs) = (&pair.sides[side].connection, &pair.sides[peer]);
        assert_eq!(ours.received(), theirs.written, "side {side} received what the other wrote");
        let counts = [Event::Established, Event::PeerClosed].map(|event| events_of(pair, side, event));
        assert_eq!(counts, [1, 1], "events of side {side}");
    }
    let ends = [Event::Closed, Event::Reset].map(|event| [0, 1].map(|side| events_of(pair, side, event)));
    assert!([[[1, 1], [0, 0]], [[1, 0], [0, 1]], [[0, 1], [1, 0]]].contains(&ends), "{ends:?}");
}

proptest! {
    #[test]
    fn every_byte_arrives_and_both_sides_close(
        configs in [configs(), configs()],
        transfer in transfers(),
        faults in faults(),
        seed: u64,
    ) {
        let mut pair = Pair::new(configs, &transfer.scripts(&configs), faults, seed);
        pair.run(STEPS, Pair::is_over);
        assert_complete(&pair);
        // TIME-WAIT ends too, and then nothing is left to do.
        pair.run(STEPS, |_| false);
        prop_assert!(pair.sides.iter().all(|side| side.connection.state() == RfcState::Closed));
    }

    /// Notices are not agreed on: the real-time side waits for everything, on whichever side it is.
    #[test]
    fn a_real_time_endpoint_loses_nothing_with_an_ordinary_one(
        configs in [configs(), configs()],
        reader in readers(),
        is_opener: bool,
        transfer in transfers(),
        faults in faults(),
    ) {
        let mut configs = configs;
        let side = usize::from(!is_opener);
        configs[side].real_time = RealTime { skip_notice: true, ..reader };
        let mut scripts = transfer.scripts(&configs);
        scripts[side].reading = Reading::AtOnce;
        if reader.framing {
            scripts[side].writes.clear();
        }
        let mut pair = Pair::new(configs, &scripts, faults, 1);
        pair.run(STEPS, Pair::is_over);
        assert_complete(&pair);
        prop_assert_eq!(pair.sides[side].connection.real_time_statistics().segments_skipped, 0);
        prop_assert_eq!(pair.sides[side].connection.received(), pair.sides[side].bytes_read());
    }

    /// The usual profiles and windows, one way, for longer.
    #[test]
    fn a_long_transfer_of_the_usual_kind_ends(config in usual_configs(), faults in faults(), segments in 1_u64..300) {
        let mut pair = Pair::new([config, config], &one_direction(segments * 1000), faults, 1);
        pair.run(STEPS, Pair::is_over);
        assert_complete(&pair);
        prop_assert_eq!(pair.sides[1].connection.received(), segments * 1000);
    }

    #[test]
    fn on_a_clean_link_nothing_is_sent_twice(
        configs in [configs(), configs()],
        writes in [writes(), writes()],
        closings in closings(),
        delay in 1_u64..=400,
    ) {
        let configs = configs.map(patient);
        let transfer = Transfer { writes, readings: [None, None], closings };
        let mut pair = Pair::new(configs, &transfer.scripts(&configs), Faults { delay, fates: [vec![], vec![]] }, 1);
        pair.run(STEPS, Pair::is_over);
        assert_complete(&pair);
        let again = pair.sides.each_ref().map(|side| side.connection.statistics().retransmissions);
        prop_assert_eq!(again, [0, 0]);
    }
}
