use super::rebuffer::{Rebuffer, StartRule};
use crate::segments::{Meter, bits_per_second};
use crate::{Frame, Ladder, Outlook, RateRule, ReceiverIo, Request, Timetable};
use alloc::vec::Vec;
use earlybird_units::{Duration, Instant};

/// Requests a film segment by segment, each when the previous one has arrived, and chooses the rate of each by a rule. Its units
/// are played as by [`Rebuffer`].
#[derive(Clone, Debug)]
pub struct SegmentClient {
    pub(super) player: Rebuffer,
    ladder: Ladder,
    rates: Vec<f64>,
    rule: RateRule,
    request_bytes: u64,
    /// The most playing time that it holds.
    capacity: Duration,
    meter: Meter,
    /// The rates at which the latest segments arrived.
    throughputs: Vec<f64>,
    /// Requested segments, and the rate of the last one.
    asked: u64,
    rung: usize,
}

/// Throughputs that a rule may look at (`MAX_MEASUREMENTS_TO_KEEP` of dash.js).
const MOST_THROUGHPUTS: usize = 20;
/// Buffered playing time at which playback resumes after a stall.
const REFILL: Duration = Duration::from_millis(500);

impl SegmentClient {
    /// Creates a client that starts with a buffered playing time, and buffers no more than `capacity`.
    pub fn new(ladder: Ladder, rule: RateRule, start: Duration, capacity: Duration, request_bytes: u64) -> Self {
        let units = |time: Duration| time.as_nanos().div_ceil(ladder.unit.as_nanos().max(1));
        // Sizes are not known to the player, only times: one unit per frame time.
        let timetable = Timetable::clip([Frame { at: Duration::ZERO, bytes: 1 }].into(), ladder.unit);
        let player = Rebuffer::new(timetable, StartRule::Units(units(start)), units(REFILL));
        Self {
            player,
            rates: bits_per_second(&ladder.rates),
            ladder,
            rule,
            request_bytes,
            capacity,
            meter: Meter::default(),
            throughputs: Vec::new(),
            asked: 0,
            rung: 0,
        }
    }

    pub(super) fn next_time(&self) -> Option<Instant> {
        self.player.next_time()
    }

    pub(super) fn advance(&mut self, io: &mut dyn ReceiverIo) {
        let throughputs = &mut self.throughputs;
        self.meter.update(io.now(), io.received(), |rate| throughputs.push(rate));
        let old = throughputs.len().saturating_sub(MOST_THROUGHPUTS);
        // No rule looks further back.
        throughputs.drain(..old);
        self.player.advance(io);
        let waiting = self.player.waiting(io.now());
        // One request at a time, as players do by default; the next one waits until its segment fits.
        if self.has_all() && waiting + self.ladder.segment() <= self.capacity {
            self.ask(io, waiting);
        }
    }

    /// Returns whether all requested segments have arrived.
    fn has_all(&self) -> bool {
        self.player.buffer.reception.highest.map_or(0, |unit| unit + 1) == self.asked * self.ladder.parts
    }

    fn ask(&mut self, io: &mut dyn ReceiverIo, waiting: Duration) {
        self.rung = self.rule.choose(Outlook {
            rates: &self.rates,
            last: self.rung,
            throughputs: &self.throughputs,
            buffer: waiting.as_secs_f64(),
        });
        self.meter.expect(self.ladder.parts, self.ladder.bytes(self.rung));
        io.request(self.request_bytes, Request { segment: self.asked, rung: self.rung });
        self.asked += 1;
    }
}
