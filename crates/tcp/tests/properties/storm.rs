//! A storm of segments without data.

use earlybird_tcp::{Config, Connection, Cx, RfcState};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Flags, Options, Segment, SeqNum, Timestamps};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Flags but FIN, numbers by their distance from what is expected, timestamps.
type Gust = (u16, i64, i64, Option<(u32, u32)>);

fn gusts() -> impl Strategy<Value = Vec<Gust>> {
    let distances = || prop_oneof![2 => Just(0_i64), 2 => -70_000_i64..70_000, 1 => any::<u32>().prop_map(i64::from)];
    vec((any::<u16>().prop_map(|flags| flags & !1), distances(), distances(), option::of(any::<(u32, u32)>())), 1..400)
}

/// Returns an open connection at time zero, and what it sent last.
fn open(config: &Config) -> (Connection, Segment) {
    let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
    let mut connection = Connection::listen(config, SeedTree::new(1));
    let options = Options { timestamps: Some(Timestamps::default()), ..Options::default() };
    connection.on_segment(cx, &Segment { flags: Flags::SYN, options, window: 60_000, ..Segment::default() });
    let answer = connection.poll_transmit(cx).expect("an answer").segment;
    let ack = Segment { seq: SeqNum(1), ack: answer.seq.at(1), flags: Flags::ACK, options, window: 60_000, ..answer };
    connection.on_segment(cx, &ack);
    (connection, ack)
}

proptest! {
    /// RFC 5961 §7: whatever comes, and be it a segment each millisecond, one answer leaves in half a second.
    #[test]
    fn a_storm_without_data_gets_one_answer_in_half_a_second(
        config in proptest::sample::select(vec![Config::rfc(), Config::linux()]),
        gusts in gusts(),
    ) {
        let (mut connection, expected) = open(&config);
        let mut answers = 0;
        for (millis, (flags, seq, ack, stamps)) in (0..).zip(&gusts) {
            let cx = &mut Cx { now: Instant::ZERO + Duration::from_millis(5 * millis), trace: &mut () };
            let number = |from: SeqNum, distance: i64| from.at(distance.cast_unsigned());
            let options = Options {
                timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                ..Options::default()
            };
            let segment = Segment {
                seq: number(expected.seq, *seq),
                ack: number(expected.ack, *ack),
                flags: Flags::from_bits_truncate(*flags),
                len: 0,
                options,
                ..expected
            };
            connection.on_segment(cx, &segment);
            answers += core::iter::from_fn(|| connection.poll_transmit(cx)).count() as u64;
            if connection.state() == RfcState::Closed {
                prop_assert!(segment.flags.contains(Flags::RST) && segment.seq == expected.seq, "{segment:?}");
                break;
            }
            prop_assert!(answers <= 1 + 5 * millis / 500, "{answers} after {} ms", 5 * millis);
        }
        let drop_counters = connection.drop_counters();
        prop_assert_eq!(drop_counters.challenges, answers);
    }
}
