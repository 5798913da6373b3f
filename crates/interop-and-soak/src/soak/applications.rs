//! Who opens connections, and who takes them.

use super::{PORT, Soak};
use earlybird_live::device::{Device, Path};
use earlybird_live::{Application, Clock, Error, Event, Id, Stack};
use earlybird_tcp::{Config, Ending};
use earlybird_units::{Duration, Instant, Random, SeedTree};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that several threads see.
#[derive(Debug, Default)]
pub struct Tally(AtomicU64);

impl Tally {
    fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns it.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was done so far.
#[derive(Debug, Default)]
pub struct Progress {
    /// Connections that began.
    pub opened: Tally,
    /// Connections whose bytes all came, of which the other side told.
    pub whole: Tally,
    /// Connections that were given up on purpose.
    pub aborted: Tally,
    /// Connections that ended in another way.
    pub broken: Tally,
    /// Bytes that were read.
    pub bytes: Tally,
}

/// The byte at a place of a stream.
const fn byte_at(place: u64) -> u8 {
    (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// A connection that is being written.
#[derive(Clone, Copy, Debug)]
struct Letter {
    written: u64,
    length: u64,
    /// It is given up when so much was written.
    gives_up_at: Option<u64>,
    is_answered: bool,
}

/// Opens connections, and one that stays.
pub(super) struct Caller {
    path: Path,
    pause: Duration,
    largest: u64,
    end: Instant,
    next: Instant,
    random: Random,
    open: HashMap<Id, Letter>,
    stays: Option<Id>,
    progress: Arc<Progress>,
}

/// One connection of twenty is given up in mid-stream.
const GIVEN_UP: u64 = 20;
/// What the connection that stays gets each time.
const MORE: u64 = 1_000;
/// When no connection begins any more, it is looked so often whether the last one is over.
const LAST_LOOKS: Duration = Duration::from_secs(1);

impl Caller {
    pub(super) fn new(soak: &Soak, path: Path, progress: &Arc<Progress>) -> Self {
        Self {
            path,
            pause: soak.pause,
            largest: soak.largest,
            end: soak.end,
            next: Instant::ZERO,
            random: SeedTree::new(1).random(),
            open: HashMap::new(),
            stays: None,
            progress: Arc::clone(progress),
        }
    }

    fn open<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) -> Result<(), Error> {
        let length = 1 + self.random.below(self.largest);
        let gives_up_at = (self.random.below(GIVEN_UP) == 0).then(|| self.random.below(length));
        let id = stack.connect(&Config::linux(), self.path, PORT)?;
        self.progress.opened.add(1);
        let letter = Letter { written: 0, length, gives_up_at, is_answered: false };
        // The first one stays: its letter is never at its end.
        let stays = *self.stays.get_or_insert(id);
        let letter = if stays == id { Letter { length: MORE, gives_up_at: None, ..letter } } else { letter };
        self.open.insert(id, letter);
        if let Some(letter) = self.open.get_mut(&stays).filter(|_| stays != id) {
            letter.length += MORE;
            self.write(stack, stays)?;
        }
        Ok(())
    }

    fn write<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) -> Result<(), Error> {
        let Some(letter) = self.open.get_mut(&id) else { return Ok(()) };
        while letter.written < letter.length {
            let most = (letter.length - letter.written).min(1 << 14);
            let bytes: Vec<u8> = (letter.written..letter.written + most).map(byte_at).collect();
            let count = stack.write(id, &bytes)?;
            letter.written += count as u64;
            if letter.gives_up_at.is_some_and(|at| letter.written > at) {
                self.open.remove(&id);
                self.progress.aborted.add(1);
                return stack.abort(id);
            }
            if count < bytes.len() {
                return Ok(());
            }
        }
        if self.stays == Some(id) { Ok(()) } else { stack.shutdown(id) }
    }

    /// Reads how many bytes the other side had.
    fn read<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) -> Result<(), Error> {
        let (mut buffer, mut count) = ([0; 8], 0);
        while let more @ 1.. = stack.read(id, &mut buffer[count..])? {
            count += more;
        }
        if let Some(letter) = self.open.get_mut(&id) {
            // One segment: it comes whole.
            letter.is_answered = count == 8 && u64::from_be_bytes(buffer) == letter.length;
        }
        Ok(())
    }

    fn close<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id, ending: Ending) -> Result<(), Error> {
        let letter = self.open.remove(&id);
        let is_whole = ending == Ending::InOrder && letter.is_some_and(|letter| letter.is_answered);
        let tally = if is_whole { &self.progress.whole } else { &self.progress.broken };
        tally.add(1);
        stack.close(id)
    }

    fn end_the_one_that_stays<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) -> Result<(), Error> {
        self.stays.take().map_or(Ok(()), |id| stack.shutdown(id))
    }
}

impl<D: Device, C: Clock> Application<D, C> for Caller {
    fn on_event(&mut self, stack: &mut Stack<D, C>, id: Id, event: Event) {
        let done = match event {
            Event::Established | Event::Writable => self.write(stack, id),
            Event::Readable => self.read(stack, id),
            Event::Closed(ending) => self.close(stack, id, ending),
            _ => Ok(()),
        };
        done.expect("the connection is there");
    }

    fn on_turn(&mut self, stack: &mut Stack<D, C>) -> ControlFlow<(), Option<Instant>> {
        while self.next <= stack.now().min(self.end) {
            self.next += Duration::from_secs_f64(self.random.exponential(self.pause.as_secs_f64()));
            self.open(stack).expect("there is room");
        }
        if self.next <= self.end {
            return ControlFlow::Continue(Some(self.next));
        }
        self.end_the_one_that_stays(stack).expect("it is there");
        // What came last is acknowledged again if that was lost: TIME-WAIT is over when no connection is left.
        let is_over = self.open.is_empty() && stack.connections() == 0;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(Some(stack.now() + LAST_LOOKS)) }
    }
}

/// Takes connections, and says at the end of each how many bytes came.
pub(super) struct Taker {
    read: HashMap<Id, u64>,
    progress: Arc<Progress>,
    buffer: Vec<u8>,
}

impl Taker {
    pub(super) fn new(progress: &Arc<Progress>) -> Self {
        Self { read: HashMap::new(), progress: Arc::clone(progress), buffer: vec![0; 1 << 16] }
    }

    fn read<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) -> Result<(), Error> {
        let read = self.read.entry(id).or_default();
        while let count @ 1.. = stack.read(id, &mut self.buffer)? {
            let is_sound = self.buffer[..count].iter().zip(*read..).all(|(byte, place)| *byte == byte_at(place));
            assert!(is_sound, "other bytes come than were sent, behind byte {read}");
            *read += count as u64;
            self.progress.bytes.add(count as u64);
        }
        Ok(())
    }

    fn answer<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) -> Result<(), Error> {
        self.read(stack, id)?;
        let read = self.read.get(&id).copied().unwrap_or_default();
        stack.write(id, &read.to_be_bytes())?;
        stack.shutdown(id)
    }
}

impl<D: Device, C: Clock> Application<D, C> for Taker {
    fn on_event(&mut self, stack: &mut Stack<D, C>, id: Id, event: Event) {
        let done = match event {
            Event::Incoming(port) => {
                stack.accept(port);
                Ok(())
            }
            Event::Readable => self.read(stack, id),
            Event::PeerClosed => self.answer(stack, id),
            Event::Closed(_) => {
                self.read.remove(&id);
                stack.close(id)
            }
            _ => Ok(()),
        };
        done.expect("the connection is there");
    }
}
