//! A reset ends both sides.

use crate::link::faults;
use crate::pair::{Closing, Pair, Reading, Script};
use crate::settings::configs;
use earlybird_tcp::{Event, RfcState};
use earlybird_units::{Duration, Instant};
use proptest::prelude::*;

proptest! {
    /// Whenever one side gives up, the other learns it at the latest when it next has something to say.
    #[test]
    fn an_abort_at_any_time_ends_both_sides(
        configs in [configs(), configs()],
        bytes in [0_u64..5000, 0_u64..5000],
        faults in faults(),
        aborts_at in 0_u64..3000,
        aborter in 0_usize..2,
    ) {
        let scripts = [0, 1].map(|side| Script {
            // The other side's last word, long after.
            writes: vec![(0, bytes[side]), (200_000, 1)],
            reading: Reading::AtOnce,
            closing: Closing::Never,
        });
        let mut pair = Pair::new(configs, &scripts, faults, 1);
        let time = Instant::ZERO + Duration::from_millis(aborts_at);
        pair.run(100_000, |pair| pair.now >= time);
        pair.with(aborter, |side| side.connection.abort());
        prop_assert_eq!(pair.sides[aborter].connection.state(), RfcState::Closed);
        // ns-2's timer runs on while nothing is outstanding, every 2 ms if it is fine-grained.
        pair.run(400_000, |_| false);
        let other = &pair.sides[1 - aborter];
        // A listener that has not heard of the opener yet goes on waiting.
        let is_untouched = other.connection.state() == RfcState::Listen;
        prop_assert!(other.connection.state() == RfcState::Closed || is_untouched);
        // One that was still opening was refused.
        let is_told = other.events.iter().any(|event| matches!(event, Event::Reset | Event::Refused));
        prop_assert_eq!(is_told, !is_untouched);
    }
}
