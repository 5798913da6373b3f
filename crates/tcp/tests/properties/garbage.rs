//! Segments that no TCP would send.

use crate::sanity;
use crate::settings::{configs, modes, readers};
use earlybird_tcp::{Config, Connection, Cx, KeepAlive, Lifetimes, RealTime, Transmit};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Ecn, Flags, Options, SackBlock, SackBlocks, Segment, SeqNum, SkipNotice, Timestamps};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A number, wherever it may lie.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// So far from what would be right.
    Near(i32),
    Anywhere(u32),
}

impl Number {
    fn from(self, right: SeqNum) -> SeqNum {
        match self {
            Self::Near(distance) => SeqNum(right.0.wrapping_add_signed(distance)),
            Self::Anywhere(number) => SeqNum(number),
        }
    }
}

/// A segment relative to what the connection expects.
#[derive(Clone, Debug)]
struct Garbage {
    seq: Number,
    ack: Number,
    flags: u16,
    window: u16,
    len: u16,
    blocks: Vec<(Number, Number)>,
    stamps: Option<(u32, u32)>,
    notice: Option<Notice>,
    opening: (Option<u16>, Option<u8>, bool),
}

#[derive(Clone, Copy, Debug)]
enum Notice {
    Offer,
    Skipped(Number, u32, u16),
}

/// The events that the connection is exposed to.
#[derive(Clone, Debug)]
enum Blow {
    Segment(Garbage),
    /// A plausible ACK that moves so many bytes.
    Ack(u16),
    Pause(u64),
    Write(u64),
    /// A frame of so many bytes, and its unit.
    Frame(u64, u64),
    Read(u64),
    ReadFrame,
    Wait,
    StopWaiting,
    Shutdown,
    Close,
    Abort,
    /// The time that what was written may wait.
    UserTimeout(Option<u64>),
    /// Silence before a probe, and between probes.
    KeepAlive(u64, u64),
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        3 => Just(Number::Near(0)),
        4 => (-5000_i32..5000).prop_map(Number::Near),
        2 => (-100_000_i32..100_000).prop_map(Number::Near),
        1 => any::<u32>().prop_map(Number::Anywhere),
    ]
}

fn garbage() -> impl Strategy<Value = Garbage> {
    let flags = prop_oneof![4 => Just(16_u16), 1 => any::<u16>()];
    let lengths = prop_oneof![Just(0_u16), 0_u16..1500, any::<u16>()];
    let blocks = vec((numbers(), numbers()), 0..=4);
    let opening = (option::of(any::<u16>()), option::of(any::<u8>()), any::<bool>());
    let options = (option::of(any::<(u32, u32)>()), option::of(notices()), opening);
    (numbers(), numbers(), flags, any::<u16>(), lengths, blocks, options).prop_map(
        |(seq, ack, flags, window, len, blocks, (stamps, notice, opening))| Garbage {
            seq,
            ack,
            flags,
            window,
            len,
            blocks,
            stamps,
            notice,
            opening,
        },
    )
}

fn notices() -> impl Strategy<Value = Notice> {
    let totals = prop_oneof![0_u32..10, any::<u32>()];
    let skipped =
        (numbers(), totals, any::<u16>()).prop_map(|(first, total, count)| Notice::Skipped(first, total, count));
    prop_oneof![1 => Just(Notice::Offer), 3 => skipped]
}

fn blows() -> impl Strategy<Value = Vec<Blow>> {
    let blow = prop_oneof![
        20 => garbage().prop_map(Blow::Segment),
        10 => (0_u16..5000).prop_map(Blow::Ack),
        5 => (0_u64..70_000).prop_map(Blow::Pause),
        5 => (0_u64..20_000).prop_map(Blow::Write),
        10 => (0_u64..1500, 0_u64..5).prop_map(|(bytes, unit)| Blow::Frame(bytes, unit)),
        3 => (0_u64..20_000).prop_map(Blow::Read),
        3 => Just(Blow::ReadFrame),
        1 => Just(Blow::Wait),
        1 => Just(Blow::StopWaiting),
        1 => Just(Blow::Shutdown),
        1 => Just(Blow::Close),
        1 => Just(Blow::Abort),
        1 => option::of(0_u64..10_000).prop_map(Blow::UserTimeout),
        1 => (0_u64..10_000, 0_u64..1000).prop_map(|(idle, interval)| Blow::KeepAlive(idle, interval)),
    ];
    vec(blow, 1..80)
}

/// The state of the connection before the first event.
#[derive(Clone, Copy, Debug)]
enum VictimState {
    Listening,
    Opening,
    HalfOpen,
    Open,
}

/// A connection under attack, and the last numbers it let slip.
struct Victim {
    connection: Connection,
    config: Config,
    now: Instant,
    last: Segment,
}

impl Victim {
    fn new(config: Config, state: VictimState) -> Self {
        let seeds = SeedTree::new(1);
        let connection = match state {
            VictimState::Opening => Connection::connect(&config, seeds),
            VictimState::Listening | VictimState::HalfOpen | VictimState::Open => Connection::listen(&config, seeds),
        };
        let mut victim = Self { connection, config, now: Instant::ZERO, last: Segment::default() };
        victim.serve();
        let options = Options { window_scale: None, ..sanity::every_offer() };
        if matches!(state, VictimState::HalfOpen | VictimState::Open) {
            victim.take(&Segment { flags: Flags::SYN, options, window: 60_000, ..Segment::default() });
        }
        if matches!(state, VictimState::Open) {
            let ack = victim.last.seq.at(1);
            victim.take(&Segment { seq: SeqNum(1), ack, flags: Flags::ACK, window: 60_000, ..Segment::default() });
            // A connection with frames refuses this write; the frames that are written later suffice.
            let _ = victim.connection.write(30_000);
            victim.serve();
        }
        victim
    }

    fn suffer(&mut self, blow: &Blow) {
        match blow {
            Blow::Segment(garbage) => self.take(&self.forge(garbage)),
            Blow::Ack(bytes) => {
                let ack = self.last.seq.at(u64::from(*bytes));
                self.take(&Segment {
                    seq: self.last.ack,
                    ack,
                    flags: Flags::ACK,
                    window: 60_000,
                    ..Segment::default()
                });
            }
            Blow::Pause(millis) => self.wait(Duration::from_millis(*millis)),
            Blow::Write(bytes) => drop(self.connection.write(*bytes)),
            Blow::Frame(bytes, unit) => {
                let _ = self.connection.write_frame(&mut Cx { now: self.now, trace: &mut () }, *bytes, *unit);
            }
            Blow::Read(bytes) => {
                self.connection.read(*bytes);
            }
            Blow::ReadFrame => {
                self.connection.read_frame(&mut Cx { now: self.now, trace: &mut () });
            }
            Blow::Wait => self.connection.wait(&mut Cx { now: self.now, trace: &mut () }),
            Blow::StopWaiting => self.connection.stop_waiting(),
            Blow::Shutdown => self.connection.shutdown(),
            Blow::Close => self.connection.close(&mut Cx { now: self.now, trace: &mut () }),
            Blow::Abort => self.connection.abort(),
            Blow::UserTimeout(millis) => {
                let limit = millis.map(Duration::from_millis);
                self.connection.set_user_timeout(&mut Cx { now: self.now, trace: &mut () }, limit);
            }
            Blow::KeepAlive(idle, interval) => {
                let [idle, interval] = [idle, interval].map(|millis| Duration::from_millis(*millis));
                let keep_alive = Some(KeepAlive { idle, interval, probes: 3 });
                self.connection.set_keep_alive(&mut Cx { now: self.now, trace: &mut () }, keep_alive);
            }
        }
        self.serve();
    }

    fn forge(&self, garbage: &Garbage) -> Segment {
        let mut sack = SackBlocks::default();
        for (left, right) in &garbage.blocks {
            sack.push(SackBlock { left: left.from(self.last.seq), right: right.from(self.last.seq) });
        }
        let (mss, window_scale, sack_permitted) = garbage.opening;
        Segment {
            seq: garbage.seq.from(self.last.ack),
            ack: garbage.ack.from(self.last.seq.at(self.last.sequence_len())),
            window: garbage.window,
            len: garbage.len,
            flags: Flags::from_bits_truncate(garbage.flags),
            ecn: Ecn::NotCapable,
            options: Options {
                mss: mss.and_then(core::num::NonZeroU16::new),
                window_scale,
                sack_permitted,
                timestamps: garbage.stamps.map(|(value, echo)| Timestamps { value, echo }),
                sack,
                skip_notice: garbage.notice.map(|notice| self.forge_notice(notice)),
            },
        }
    }

    fn forge_notice(&self, notice: Notice) -> SkipNotice {
        match notice {
            Notice::Offer => SkipNotice::Offer,
            Notice::Skipped(first, total, segments) => {
                SkipNotice::Skipped { total, first: first.from(self.last.seq), segments }
            }
        }
    }

    fn take(&mut self, segment: &Segment) {
        self.connection.on_segment(&mut Cx { now: self.now, trace: &mut () }, segment);
        self.serve();
    }

    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        // Fine-grained timers may run out very often.
        for _ in 0..100 {
            let Some(deadline) = self.connection.poll_timeout().filter(|deadline| *deadline <= end) else {
                break;
            };
            self.now = self.now.max(deadline);
            self.connection.on_timeout(&mut Cx { now: self.now, trace: &mut () });
            self.serve();
        }
        let deadline = self.connection.poll_timeout().unwrap_or(Instant::NEVER);
        self.now = self.now.max(Instant::from_nanos(end.as_nanos().min(deadline.as_nanos() - 1)));
    }

    fn serve(&mut self) {
        for count in 0.. {
            let Some(Transmit { segment, .. }) =
                self.connection.poll_transmit(&mut Cx { now: self.now, trace: &mut () })
            else {
                break;
            };
            assert!(count < 200, "the connection sends without end");
            if !segment.flags.contains(Flags::RST) {
                self.last = segment;
            }
        }
        sanity::drain(&mut self.connection);
        sanity::check(&self.connection, &self.config, self.now);
        // The debug form walks through everything.
        assert!(!format!("{:?}", self.connection).is_empty());
    }
}

proptest! {
    #[test]
    fn no_segment_makes_a_connection_panic_or_lose_measure(
        config in configs(),
        real_time in prop_oneof![Just(RealTime::default()), readers(), modes()],
        lifetimes in proptest::sample::select(vec![Lifetimes::UNLIMITED, Lifetimes::RFC, Lifetimes::LINUX]),
        state in proptest::sample::select(vec![
            VictimState::Listening, VictimState::Opening, VictimState::HalfOpen, VictimState::Open,
        ]),
        blows in blows(),
    ) {
        let mut victim = Victim::new(config.with_real_time(real_time).with_lifetimes(lifetimes), state);
        for blow in &blows {
            victim.suffer(blow);
        }
    }
}
