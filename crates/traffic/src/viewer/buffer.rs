use crate::{Part, Playout, ReceiverIo, Reception, Timetable};
use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// A unit of which something was read.
#[derive(Clone, Copy, Debug)]
struct Stock {
    unit: u64,
    missing: u32,
}

/// Units read and not yet played, and the outcomes of the others.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    timetable: Timetable,
    /// The start of the source.
    pub(super) start: Instant,
    /// The unit to be played next.
    pub(super) next: u64,
    /// In order of their numbers, from `next` on.
    stock: VecDeque<Stock>,
    pub(super) parts_read: u64,
    pub(super) reception: Reception,
}

impl Buffer {
    pub(super) fn new(timetable: Timetable) -> Self {
        Self {
            timetable,
            start: Instant::ZERO,
            next: 0,
            stock: VecDeque::new(),
            parts_read: 0,
            reception: Reception::default(),
        }
    }

    /// Returns when a unit is written; `None` behind the last one.
    pub(super) fn written(&self, unit: u64) -> Option<Instant> {
        self.timetable.written(self.start, unit)
    }

    /// Returns the time from the last unit to the next one.
    pub(super) fn gap(&self) -> Option<Duration> {
        let next = self.written(self.next)?;
        Some(next - self.written(self.next.checked_sub(1)?)?)
    }

    pub(super) fn is_over(&self) -> bool {
        self.timetable.bytes(self.next).is_none()
    }

    /// Returns how many units are still to be played; more than any buffer holds if there is no end.
    pub(super) fn left(&self) -> u64 {
        self.timetable.count().map_or(u64::MAX, |count| count.saturating_sub(self.next))
    }

    /// Takes a part that was read, and returns the unit that it completes in time.
    pub(super) fn take(&mut self, io: &mut dyn ReceiverIo, part: Part) -> Option<u64> {
        self.parts_read += 1;
        self.reception.highest = self.reception.highest.max(Some(part.unit));
        // The unit was played or skipped already; its last part shows that it would have become complete.
        if part.unit < self.next {
            if part.is_last() {
                io.report(Playout::Late(part.unit));
            }
            return None;
        }
        let stock = self.place_of(part);
        let was_missing = stock.missing > 0;
        stock.missing = stock.missing.saturating_sub(1);
        (was_missing && stock.missing == 0).then_some(part.unit)
    }

    fn place_of(&mut self, part: Part) -> &mut Stock {
        let index = match self.stock.binary_search_by_key(&part.unit, |stock| stock.unit) {
            Ok(index) => index,
            Err(index) => {
                self.stock.insert(index, Stock { unit: part.unit, missing: part.parts });
                index
            }
        };
        &mut self.stock[index]
    }

    /// Returns whether the next unit is whole.
    pub(super) fn is_ready(&self) -> bool {
        self.stock.front().is_some_and(|stock| stock.unit == self.next && stock.missing == 0)
    }

    /// Returns whether anything of a later unit than the next one was read: the missing parts of that one will not arrive.
    pub(super) fn is_beyond(&self) -> bool {
        self.stock.back().is_some_and(|stock| stock.unit > self.next)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stock.is_empty()
    }

    /// Returns how many units are whole.
    pub(super) fn whole_units(&self) -> u64 {
        self.stock.iter().filter(|stock| stock.missing == 0).count() as u64
    }

    /// Returns the playing time from the next unit to the last one of which anything was read.
    pub(super) fn playing_time(&self) -> Duration {
        let last = self.stock.back().and_then(|stock| self.written(stock.unit));
        last.zip(self.written(self.next)).map_or(Duration::ZERO, |(last, next)| last - next)
    }

    /// Reads, with skipping allowed, until the next unit is complete or lost. Returns whether it is one of both.
    pub(super) fn fetch(&mut self, io: &mut dyn ReceiverIo) -> bool {
        while !self.is_ready() && !self.is_beyond() {
            match io.read() {
                Some(part) => _ = self.take(io, part),
                None => return false,
            }
        }
        true
    }

    /// Plays the next unit if it is whole; else it is lost.
    pub(super) fn play(&mut self, io: &mut dyn ReceiverIo) {
        if self.is_ready() {
            io.report(Playout::Played(self.next));
        } else {
            self.reception.lost += 1;
            io.report(Playout::Lost(self.next));
        }
        self.stock.pop_front_if(|stock| stock.unit == self.next);
        self.next += 1;
    }
}
