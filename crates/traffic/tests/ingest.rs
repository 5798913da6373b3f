//! Live streams to a server: when frames are dropped and rates changed, worked out by hand from OBS Studio's rules.

use earlybird_traffic::{
    Application, ConnectionId, Content, DropThresholds, Encoding, Film, Ingest, Io, Packet, PathId, Picture, Relief,
};
use earlybird_units::{Duration, Instant};

/// A picture, at 30 per second.
const PERIOD: Duration = Duration::from_nanos(33_333_333);
const BYTES: u64 = 25_000;

/// A socket without buffer that takes so many bits per second, or nothing.
struct Socket {
    now: Instant,
    wake: Option<Instant>,
    rate: u64,
    /// When it has taken the last write.
    taken: Option<Instant>,
    told: Vec<(u64, Encoding)>,
    made: Vec<Instant>,
}

impl Io for Socket {
    fn now(&self) -> Instant {
        self.now
    }

    fn open(&mut self, _path: PathId) -> ConnectionId {
        ConnectionId(0)
    }

    fn write(&mut self, _connection: ConnectionId, _bytes: u64) {
        unreachable!("units only");
    }

    fn write_unit_made(&mut self, _connection: ConnectionId, bytes: u64, made: Instant) {
        assert!(self.taken.is_none(), "a write while the one before blocks");
        self.made.push(made);
        let nanos = (bytes * 8_000_000_000).checked_div(self.rate);
        self.taken = Some(nanos.map_or(Instant::NEVER, |nanos| self.now + Duration::from_nanos(nanos)));
    }

    fn is_blocked(&self, _connection: ConnectionId) -> bool {
        true
    }

    fn tell(&mut self, event: Encoding) {
        if !matches!(event, Encoding::Coded(_)) {
            self.told.push((self.now.as_nanos() / PERIOD.as_nanos(), event));
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
fn stream(rate: u64, pictures: u64, has_b: bool, relief: Relief) -> Socket {
    let kind = |number| match number {
        0 => Picture::Key,
        number if (number - 1) % 3 == 0 || !has_b => Picture::Earlier,
        _ => Picture::Both,
    };
    let packets =
        (0..60).map(|number| Packet { at: PERIOD * number, bytes: BYTES, content: Content::Picture(kind(number)) });
    let film = Film::new(packets.collect(), PERIOD * 60);
    let mut source = Ingest::new(PathId(0), film, Duration::ZERO, relief);
    let mut socket =
        Socket { now: Instant::ZERO, wake: Some(Instant::ZERO), rate, taken: None, told: Vec::new(), made: Vec::new() };
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
    let thresholds = DropThresholds { both: Duration::from_millis(700), earlier: Duration::from_millis(900) };
    let socket = stream(0, 60, true, Relief::Drop(thresholds));
    let dropped_at =
        |number, kind| socket.told.iter().filter(|told| **told == (number, Encoding::Dropped(kind))).count();
    let first = socket.told.first().map(|(number, _)| *number);
    // Up to 23 there are 15 B pictures, and 24 is one too.
    assert_eq!((first, dropped_at(24, Picture::Both)), (Some(24), 16));
    // From then on each B picture finds more than 700 ms, and goes; those of the other kind stay, up to 31.
    assert_eq!((25..32).map(|number| dropped_at(number, Picture::Both)).collect::<Vec<_>>(), [0, 1, 1, 0, 1, 1, 0]);
    assert!((0..32).all(|number| dropped_at(number, Picture::Earlier) == 0));
    // 1, 4, … 31.
    assert_eq!(dropped_at(32, Picture::Earlier), 11);
    // Nothing else is let in until the next key frame.
    let dropped = socket.told.len();
    assert_eq!(dropped, 59, "all but the key frame that blocks");
}

#[test]
fn after_a_drop_the_next_key_frame_is_let_in() {
    let thresholds = DropThresholds { both: Duration::from_millis(700), earlier: Duration::from_millis(900) };
    let socket = stream(0, 62, true, Relief::Drop(thresholds));
    assert_eq!(socket.told.iter().filter(|(number, _)| *number >= 60).count(), 0);
}

#[test]
fn a_socket_that_takes_all_makes_nothing_drop_and_keeps_the_time_of_coding() {
    let thresholds = DropThresholds { both: Duration::from_millis(700), earlier: Duration::from_millis(900) };
    let socket = stream(7_000_000, 60, true, Relief::Drop(thresholds));
    assert_eq!((socket.told.len(), socket.made.len()), (0, 60));
    assert!((0..60).zip(&socket.made).all(|(number, made)| *made == Instant::ZERO + PERIOD * number));
}

/// 6 Mb/s into 3: 15 writes of 25,000 bytes, with the headers of RTMP, take 1000.76 ms, which count as 1000: 3000 kb/s.
#[test]
fn the_encoders_rate_falls_to_what_the_connection_took_in_a_second() {
    let socket = stream(3_000_000, 150, false, Relief::Bitrate { pictures: 6_000, sound: 0 });
    assert_eq!(socket.told.first(), Some(&(31, Encoding::Bitrate(3_000_000))), "the first picture after that second");
}
