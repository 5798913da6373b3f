//! Live streams to a server: when frames are dropped and rates changed, worked out by hand from OBS Studio's rules.

use earlybird_conformance::{Area, conforms};
use earlybird_traffic::{
    ConnectionId, Content, DropThresholds, Encoding, Film, Ingest, Packet, PathId, Picture, Relief, SenderApp, SenderIo,
};
use earlybird_units::{Duration, Instant};

/// A picture, at 30 per second.
const PERIOD: Duration = Duration::from_nanos(33_333_333);
const BYTES: u64 = 25_000;

/// `rtmp_stream_defaults`.
const THRESHOLDS: DropThresholds =
    DropThresholds { both: Duration::from_millis(700), earlier: Duration::from_millis(900) };

/// The rates at which a socket takes data, in bits per second, if limited: at first, and from some time on.
#[derive(Clone, Copy)]
struct Line {
    before: u64,
    step: Instant,
    after: u64,
}

impl Line {
    const fn steady(rate: u64) -> Self {
        Self { before: rate, step: Instant::NEVER, after: rate }
    }

    /// Returns the time at which so many bits, starting now, are taken.
    fn taken(self, now: Instant, bits: u64) -> Instant {
        let end = |from: Instant, bits: u64, rate: u64| {
            let nanos = (bits * 1_000_000_000).checked_div(rate);
            nanos.map_or(Instant::NEVER, |nanos| from + Duration::from_nanos(nanos))
        };
        if now >= self.step {
            return end(now, bits, self.after);
        }
        let at_once = end(now, bits, self.before);
        if at_once <= self.step {
            return at_once;
        }
        let passed = (self.step - now).as_nanos() * self.before / 1_000_000_000;
        end(self.step, bits - passed, self.after)
    }
}

/// A socket without buffer.
struct Socket {
    now: Instant,
    wake: Option<Instant>,
    line: Line,
    /// The time at which it has taken the last write.
    taken: Option<Instant>,
    reported: Vec<(u64, Encoding)>,
    made: Vec<Instant>,
}

impl SenderIo for Socket {
    fn now(&self) -> Instant {
        self.now
    }

    fn open(&mut self, _path: PathId) -> ConnectionId {
        ConnectionId(0)
    }

    fn write(&mut self, _connection: ConnectionId, _bytes: u64) {
        unreachable!("units only");
    }

    fn write_unit_created(&mut self, _connection: ConnectionId, bytes: u64, made: Instant) {
        assert!(self.taken.is_none(), "a write while the one before blocks");
        self.made.push(made);
        self.taken = Some(self.line.taken(self.now, 8 * bytes));
    }

    fn is_blocked(&self, _connection: ConnectionId) -> bool {
        true
    }

    fn report(&mut self, event: Encoding) {
        if !matches!(event, Encoding::Coded(_)) {
            self.reported.push((self.now.as_nanos() / PERIOD.as_nanos(), event));
        }
    }

    fn close(&mut self, _connection: ConnectionId) {}

    fn wake_at(&mut self, at: Instant) {
        self.wake = Some(at);
    }

    fn mss(&self) -> u64 {
        1448
    }
}

/// Streams so many pictures with a key frame every 60 and two B pictures between others, if there are any; gives what was
/// told, each with the number of the picture that was just coded, and what was written.
fn stream(line: Line, bytes: u64, pictures: u64, has_b: bool, relief: Relief) -> Socket {
    let kind = |number| match number {
        0 => Picture::Key,
        number if (number - 1) % 3 == 0 || !has_b => Picture::Earlier,
        _ => Picture::Both,
    };
    let packets = (0..60).map(|number| Packet { at: PERIOD * number, bytes, content: Content::Picture(kind(number)) });
    let film = Film::new(packets.collect(), PERIOD * 60);
    let mut source = Ingest::new(PathId(0), film, Duration::ZERO, relief);
    let mut socket = Socket {
        now: Instant::ZERO,
        wake: Some(Instant::ZERO),
        line,
        taken: None,
        reported: Vec::new(),
        made: Vec::new(),
    };
    let end = Instant::ZERO + PERIOD * pictures;
    loop {
        let (wake, taken) = (socket.wake.unwrap_or(Instant::NEVER), socket.taken.unwrap_or(Instant::NEVER));
        socket.now = wake.min(taken);
        if socket.now >= end {
            return socket;
        }
        if taken <= wake {
            socket.taken = None;
            source.on_writable(&mut socket, ConnectionId(0));
        } else {
            socket.wake = None;
            source.on_wake(&mut socket);
        }
    }
}

/// The first write blocks for ever. Picture 1 is the first in the queue, and picture n finds n - 2 periods in it:
/// more than 700 ms from 24 on, more than 900 ms, of pictures up to 31, from 32 on.
#[test]
fn b_pictures_go_beyond_700_ms_and_all_but_key_frames_beyond_900_ms() {
    let socket = stream(Line::steady(0), BYTES, 60, true, Relief::Drop(THRESHOLDS));
    let dropped_at = |number, kind| {
        socket.reported.iter().filter(|reported| **reported == (number, Encoding::Dropped(kind))).count()
    };
    let first = socket.reported.first().map(|(number, _)| *number);
    // Up to 23 there are 15 B pictures, and 24 is one too.
    assert_eq!((first, dropped_at(24, Picture::Both)), (Some(24), 16));
    // From then on each B picture finds more than 700 ms, and goes; those of the other kind stay, up to 31.
    assert_eq!((25..32).map(|number| dropped_at(number, Picture::Both)).collect::<Vec<_>>(), [0, 1, 1, 0, 1, 1, 0]);
    assert!((0..32).all(|number| dropped_at(number, Picture::Earlier) == 0));
    // 1, 4, … 31.
    assert_eq!(dropped_at(32, Picture::Earlier), 11);
    // Nothing else is let in until the next key frame.
    let dropped = socket.reported.len();
    assert_eq!(dropped, 59, "all but the key frame that blocks");
}

#[test]
fn after_a_drop_the_next_key_frame_is_let_in() {
    let socket = stream(Line::steady(0), BYTES, 62, true, Relief::Drop(THRESHOLDS));
    assert_eq!(socket.reported.iter().filter(|(number, _)| *number >= 60).count(), 0);
}

#[test]
fn a_socket_that_takes_all_makes_nothing_drop_and_keeps_the_time_of_coding() {
    let socket = stream(Line::steady(7_000_000), BYTES, 60, true, Relief::Drop(THRESHOLDS));
    assert_eq!((socket.reported.len(), socket.made.len()), (0, 60));
    assert!((0..60).zip(&socket.made).all(|(number, made)| *made == Instant::ZERO + PERIOD * number));
}

/// 6 Mb/s into 3: 15 writes of 25,000 bytes, with the headers of RTMP, take 1000.76 ms, which count as 1000: 3000 kb/s.
#[test]
fn the_encoders_rate_falls_to_what_the_connection_took_in_a_second() {
    let socket = stream(Line::steady(3_000_000), BYTES, 150, false, Relief::Bitrate { pictures: 6_000, sound: 0 });
    assert_eq!(
        socket.reported.first(),
        Some(&(31, Encoding::Bitrate(3_000_000))),
        "the first picture after that second"
    );
}

/// 5.88 Mb/s of pictures, for which the socket has 6 Mb/s and from 10 s on 3 Mb/s.
const HALVED: Line = Line { before: 6_000_000, step: Instant::from_nanos(10_000_000_000), after: 3_000_000 };
const SMALLER: u64 = 24_500;
const SOURCE: &str = "OBS Studio, plugins/obs-outputs/rtmp-stream.c at f86e9c1 (2026-08-21)";

/// Counts what was dropped when each picture was coded; gives the numbers of these pictures and the counts.
fn dropped(socket: &Socket, kind: Picture) -> Vec<(u64, usize)> {
    let mut counts: Vec<(u64, usize)> = Vec::new();
    for (number, event) in &socket.reported {
        assert_eq!(*event, Encoding::Dropped(kind), "picture {number}");
        match counts.last_mut().filter(|(last, _)| last == number) {
            Some((_, count)) => *count += 1,
            None => counts.push((*number, 1)),
        }
    }
    counts
}

/// The expected values of these three were taken from OBS Studio's own `add_video_packet`, `check_to_drop_frames`, `drop_frames`,
/// `dbr_add_frame`, `dbr_bitrate_lowered` and `dbr_inc_bitrate`, given the same pictures, socket and clock.
#[test]
fn half_a_line_dropped_other_b_pictures_than_obs() {
    let socket = stream(HALVED, SMALLER, 900, true, Relief::Drop(THRESHOLDS));
    let expected = [
        [(347, 16), (348, 1), (382, 15), (384, 2), (417, 16), (449, 16), (450, 1), (484, 15)],
        [(515, 16), (516, 1), (549, 15), (580, 16), (613, 15), (643, 16), (676, 15), (706, 16)],
    ];
    let last = [(739, 15), (770, 16), (771, 1), (804, 16), (837, 16), (870, 16)];
    assert_eq!(dropped(&socket, Picture::Both), [&expected[0][..], &expected[1], &last].concat());
    assert_eq!((socket.reported.len(), socket.made.len()), (272, 606));
    let compared =
        "which B pictures of 900 are dropped where a line of 6 Mb/s halves after 10 s, with OBS Studio's own functions";
    conforms(Area::Traffic, "Live streams: dropped pictures", SOURCE, compared, "272 of 272, at the same pictures");
}

#[test]
fn half_a_line_dropped_other_p_pictures_than_obs() {
    let socket = stream(HALVED, SMALLER, 900, false, Relief::Drop(THRESHOLDS));
    let expected =
        [(360, 29), (419, 30), (480, 29), (539, 30), (600, 29), (659, 30), (720, 29), (779, 30), (840, 29), (899, 30)];
    assert_eq!(dropped(&socket, Picture::Earlier), expected);
    assert_eq!((socket.reported.len(), socket.made.len()), (295, 605));
    let compared = "which P pictures of 900 are dropped there, where the encoder makes no B pictures";
    conforms(Area::Traffic, "Live streams: dropped pictures", SOURCE, compared, "295 of 295, at the same pictures");
}

#[test]
fn half_a_line_changed_the_bitrate_otherwise_than_obs() {
    let socket = stream(HALVED, SMALLER, 1200, false, Relief::Bitrate { pictures: 6_000, sound: 0 });
    // At 466, 587, 708 and 829 OBS Studio raises to 3500 and, for the same picture, goes back to 2900.
    let expected = [(315, 5200), (345, 2900), (950, 3500), (971, 2900), (1092, 3500), (1135, 2900)];
    assert_eq!(socket.reported, expected.map(|(number, rate)| (number, Encoding::Bitrate(rate * 1000))));
    assert_eq!(socket.made.len(), 1195);
    let compared =
        "the encoder's rate over 40 s where a line of 6 Mb/s halves after 10 s, with OBS Studio's own functions";
    conforms(
        Area::Traffic,
        "Live streams: dynamic bitrate",
        SOURCE,
        compared,
        "six of six changes, at the same pictures",
    );
}
