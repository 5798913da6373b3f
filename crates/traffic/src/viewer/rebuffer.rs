use super::buffer::Buffer;
use crate::{Playout, ReceiverIo, Timetable};
use earlybird_units::{Duration, Instant};

/// The rule for the start of playback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartRule {
    /// So long after the source began, or with the first unit behind that.
    After(Duration),
    /// As soon as a number of units is buffered.
    Units(u64),
}

/// Plays one unit after the other, and stalls when the next one has not arrived (the player of streaming studies).
///
/// Over a transport that skips, a stalled player reads the next data to arrive; skipped data is lost. Over datagrams a
/// unit is lost if a later one has arrived at its playout time.
#[derive(Clone, Debug)]
pub struct Rebuffer {
    pub(super) buffer: Buffer,
    resume_units: u64,
    capacity: Option<Duration>,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Waits for a number of units, before the first unit or in a stall.
    Waiting { units: u64, kind: Wait },
    /// The next unit is due then.
    Playing { due: Instant },
}

#[derive(Clone, Copy, Debug)]
enum Wait {
    /// Does not begin before so long after the source began.
    Startup(Duration),
    /// Since then.
    Stall(Instant),
}

impl Rebuffer {
    /// Makes a player of the units of `timetable`. After a stall it resumes when `resume_units` are buffered.
    pub fn new(timetable: Timetable, start: StartRule, resume_units: u64) -> Self {
        let (units, kind) = match start {
            StartRule::After(delay) => (1, Wait::Startup(delay)),
            StartRule::Units(units) => (units.max(1), Wait::Startup(Duration::ZERO)),
        };
        Self {
            buffer: Buffer::new(timetable),
            resume_units: resume_units.max(1),
            capacity: None,
            state: State::Waiting { units, kind },
        }
    }

    /// The same player with a limited buffer in playing time; while it is full nothing is read.
    #[must_use]
    pub fn with_capacity(self, capacity: Duration) -> Self {
        Self { capacity: Some(capacity.max(Duration::from_nanos(1))), ..self }
    }

    /// Returns when to look next, except when something arrives; nothing is due that is behind.
    pub(super) fn next_time(&self) -> Option<Instant> {
        match self.state {
            State::Playing { due } => Some(due),
            State::Waiting { kind: Wait::Startup(delay), .. } => Some(self.buffer.start + delay),
            State::Waiting { .. } => None,
        }
    }

    /// Returns whether playback has started.
    pub(super) fn has_started(&self) -> bool {
        !matches!(self.state, State::Waiting { kind: Wait::Startup(_), .. })
    }

    /// Returns the buffered playing time: of whole units, and the rest of the present one. All are equally long.
    pub(super) fn waiting(&self, now: Instant) -> Duration {
        let left = match self.state {
            // The rest of the unit on screen counts as buffer.
            State::Playing { due } => due - now,
            State::Waiting { .. } => Duration::ZERO,
        };
        let next = self.buffer.written(self.buffer.next).zip(self.buffer.written(self.buffer.next + 1));
        left + next.map_or(Duration::ZERO, |(this, next)| (next - this) * self.buffer.whole_units())
    }

    pub(super) fn advance(&mut self, io: &mut dyn ReceiverIo) {
        self.read(io);
        while !self.buffer.is_over() && self.step(io) {
            self.read(io);
        }
    }

    /// Reads while there is room: in order while the buffer has units, else any unit that arrives.
    fn read(&mut self, io: &mut dyn ReceiverIo) {
        let takes_all = match self.state {
            State::Playing { .. } => false,
            State::Waiting { kind: Wait::Startup(delay), .. } => self.buffer.start + delay <= io.now(),
            State::Waiting { kind: Wait::Stall(_), .. } => true,
        };
        while self.has_room() {
            // While playing, a hole may still be repaired: do not make the transport skip it.
            let part = if takes_all { io.read() } else { io.read_in_order() };
            let Some(part) = part else { return };
            self.buffer.take(io, part);
        }
    }

    fn has_room(&self) -> bool {
        self.capacity.is_none_or(|capacity| self.buffer.playing_time() < capacity)
    }

    /// Executes what is due. Returns whether anything was due.
    fn step(&mut self, io: &mut dyn ReceiverIo) -> bool {
        match self.state {
            State::Waiting { units, kind } => self.go_on(io, units, kind),
            State::Playing { due } => due <= io.now() && self.play(io, due),
        }
    }

    fn go_on(&mut self, io: &mut dyn ReceiverIo, units: u64, kind: Wait) -> bool {
        let now = io.now();
        let event = match kind {
            Wait::Startup(delay) if now < self.buffer.start + delay => return false,
            Wait::Startup(_) => Playout::Started(now - self.buffer.start),
            Wait::Stall(since) => Playout::Resumed(now - since),
        };
        // A buffer that is full holds no more, and a stream near its end has no more.
        if self.has_room() && self.buffer.whole_units() < units.min(self.buffer.left()) {
            return false;
        }
        // Units that were skipped are played as lost, or playback could never continue.
        while !self.buffer.is_ready() && self.buffer.is_beyond() {
            self.buffer.play(io);
        }
        io.report(event);
        self.state = State::Playing { due: now };
        true
    }

    fn play(&mut self, io: &mut dyn ReceiverIo, due: Instant) -> bool {
        if self.buffer.fetch(io) {
            self.buffer.play(io);
            self.state = State::Playing { due: due + self.buffer.gap().unwrap_or_default() };
        } else {
            io.report(Playout::Stalled);
            self.state = State::Waiting { units: self.resume_units, kind: Wait::Stall(io.now()) };
        }
        true
    }
}
