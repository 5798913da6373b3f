//! An encoder that streams live over one connection, as OBS Studio does over RTMP (`plugins/obs-outputs/rtmp-stream.c`).

mod bitrate;
mod film;
mod queue;

pub use film::{Content, Film, Packet, Picture};
pub use queue::DropThresholds;

use crate::{ConnectionId, PathId, SenderApp, SenderIo};
use bitrate::Bitrate;
use earlybird_units::{Duration, Instant};
use queue::{Queue, Waiting};

/// An event of an encoder or of its streaming program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A picture was coded.
    Coded(Picture),
    /// It was dropped, before anything of it was sent.
    Dropped(Picture),
    /// The new rate of the encoder in bits per second.
    Bitrate(u64),
    /// From this time of the film on, it was coded at this rate in bit/s.
    BitrateFrom(Instant, u64),
}

/// The reaction when the connection is slower than the encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relief {
    /// Pictures are dropped.
    Drop(DropThresholds),
    /// The encoder's rate follows; in kilobits per second, of pictures and of sound.
    Bitrate {
        /// Of pictures, at first and at most.
        pictures: u64,
        /// Of sound.
        sound: u64,
    },
}

#[derive(Clone, Debug)]
enum Rule {
    Drop(DropThresholds),
    Bitrate(Bitrate),
}

/// Writes what an encoder gives, one packet after the other: each blocks until the socket has taken it whole, and what comes
/// meanwhile waits in a queue that has rules.
#[derive(Clone, Debug)]
pub struct Ingest {
    path: PathId,
    film: Film,
    lead: Duration,
    rule: Rule,
    connection: Option<ConnectionId>,
    start: Instant,
    next: u64,
    queue: Queue,
    /// The write that blocks: since when, and its bytes.
    writing: Option<(Instant, u64)>,
}

/// Bytes of a chunk of RTMP in OBS Studio (`m_outChunkSize` in `try_connect`).
const CHUNK: u64 = 4096;
/// The header of a message, RTMP 1.0 §5.3.1: basic header and a message header without stream …
const FIRST_HEADER: u64 = 8;
/// … and before each further chunk of it.
const NEXT_HEADER: u64 = 1;
/// The headers of a picture and of sound in a message: `VIDEODATA` with `AVCVIDEOPACKET`, `AUDIODATA` with `AACAUDIODATA` (Adobe Flash
/// Video File Format 10.1, E.4.2, E.4.3).
const PICTURE_HEADER: u64 = 5;
const SOUND_HEADER: u64 = 2;

impl Waiting {
    /// Returns its size in RTMP.
    fn message(&self) -> u64 {
        let tag = if self.content == Content::Sound { SOUND_HEADER } else { PICTURE_HEADER };
        let message = self.bytes + tag;
        // RTMP cuts messages into chunks with a header each (§5.3).
        message + FIRST_HEADER + (message.div_ceil(CHUNK) - 1) * NEXT_HEADER
    }
}

impl Ingest {
    /// Makes one that opens its connection with its first wake-up, and begins to encode `lead` later.
    pub const fn new(path: PathId, film: Film, lead: Duration, relief: Relief) -> Self {
        let rule = match relief {
            Relief::Drop(thresholds) => Rule::Drop(thresholds),
            Relief::Bitrate { pictures, sound } => Rule::Bitrate(Bitrate::new(pictures, sound)),
        };
        Self {
            path,
            film,
            lead,
            rule,
            connection: None,
            start: Instant::ZERO,
            next: 0,
            queue: Queue::new(),
            writing: None,
        }
    }

    /// Takes the present packet of the encoder; the rules apply to the queue before it.
    fn encode(&mut self, io: &mut dyn SenderIo, packet: Packet) {
        let mut bytes = packet.bytes;
        if let Content::Picture(kind) = packet.content {
            io.report(Encoding::Coded(kind));
            if let Rule::Bitrate(bitrate) = &self.rule {
                bytes = bitrate.scale(bytes);
            }
            // OBS checks on each video packet, before it is queued.
            self.relieve(io);
        }
        let waiting = Waiting { made: self.start + packet.at, bytes, content: packet.content };
        match packet.content {
            Content::Picture(kind) if !self.queue.take(waiting) => io.report(Encoding::Dropped(kind)),
            Content::Picture(_) => {}
            Content::Sound => _ = self.queue.take(waiting),
        }
    }

    fn relieve(&mut self, io: &mut dyn SenderIo) {
        match &mut self.rule {
            Rule::Drop(thresholds) => self.queue.thin(*thresholds, |kind| io.report(Encoding::Dropped(kind))),
            Rule::Bitrate(bitrate) => {
                let waiting = self.queue.playing_time().unwrap_or_default();
                let before = bitrate.current();
                bitrate.raise(io.now());
                bitrate.lower(io.now(), waiting);
                // A rise that is taken back at once has no picture.
                if bitrate.current() != before {
                    io.report(Encoding::Bitrate(bitrate.current() * 1000));
                }
            }
        }
    }

    /// Writes until a write blocks.
    fn send(&mut self, io: &mut dyn SenderIo, connection: ConnectionId) {
        while self.writing.is_none()
            && let Some(packet) = self.queue.pop()
        {
            io.write_unit_created(connection, packet.message(), packet.made);
            self.writing = Some((io.now(), packet.bytes));
            // The socket took all: the write would have returned at once.
            if !io.is_blocked(connection) {
                self.on_taken(io.now());
            }
        }
    }

    /// Called when the socket has taken the last write completely.
    fn on_taken(&mut self, now: Instant) {
        if let (Some((begun, bytes)), Rule::Bitrate(bitrate)) = (self.writing.take(), &mut self.rule) {
            bitrate.on_sent(begun, now, bytes);
        }
    }
}

impl SenderApp for Ingest {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        let connection = *self.connection.get_or_insert_with(|| {
            self.start = io.now() + self.lead;
            io.open(self.path)
        });
        while let Some(packet) = self.film.packet(self.next) {
            let due = self.start + packet.at;
            if due > io.now() {
                return io.wake_at(due);
            }
            self.encode(io, packet);
            self.send(io, connection);
            self.next += 1;
        }
    }

    fn on_writable(&mut self, io: &mut dyn SenderIo, connection: ConnectionId) {
        self.on_taken(io.now());
        self.send(io, connection);
    }
}
