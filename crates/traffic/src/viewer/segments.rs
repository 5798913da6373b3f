use super::rebuffer::{Rebuffer, StartRule};
use super::requests::{Answers, Requests};
use crate::segments::{Download, Meter, View, bits_per_second};
use crate::{Frame, Ladder, Outlook, Playout, RateRule, ReceiverIo, Request, Timetable};
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
    /// Of a player that abandons segments.
    requests: Requests,
    download: Option<Download>,
    /// The time from the start of the flow to that of the film.
    lead: Duration,
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
            requests: Requests::default(),
            download: None,
            lead: Duration::ZERO,
        }
    }

    /// The same of a film that begins so long after the flow.
    #[must_use]
    pub fn with_lead(self, lead: Duration) -> Self {
        Self { lead, ..self }
    }

    pub(super) fn next_time(&self, now: Instant) -> Option<Instant> {
        let RateRule::Player(player) = &self.rule else { return self.player.next_time() };
        let check = match &self.download {
            Some(download) => player.next_check(now, download),
            None => Some(self.next_request(now)),
        };
        self.player.next_time().into_iter().chain(check).filter(|at| *at > now).min()
    }

    /// Returns when the next segment is there and fits.
    fn next_request(&self, now: Instant) -> Instant {
        let full = (self.player.waiting(now) + self.ladder.segment()).saturating_sub(self.capacity);
        (now + full).max(self.exists(self.asked))
    }

    /// Returns when a segment can be requested: a player of a live film knows it from the playlist.
    fn exists(&self, segment: u64) -> Instant {
        let start = self.player.buffer.start;
        if self.ladder.is_live { start + self.lead + self.ladder.segment() * (segment + 1) } else { start }
    }

    pub(super) fn advance(&mut self, io: &mut dyn ReceiverIo) {
        let throughputs = &mut self.throughputs;
        self.meter.update(io.now(), io.received(), |rate| throughputs.push(rate));
        let old = throughputs.len().saturating_sub(MOST_THROUGHPUTS);
        // No rule looks further back.
        throughputs.drain(..old);
        self.player.advance(&mut Answers { io, requests: &mut self.requests });
        if matches!(self.rule, RateRule::Player(_)) {
            return self.adapt(io);
        }
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
        let request = Request { segment: self.asked, rung: self.rung, replaces: false };
        self.asked += 1;
        self.send(io, request);
    }

    fn send(&self, io: &mut dyn ReceiverIo, request: Request) {
        io.request(self.request_bytes, request);
        io.report(Playout::Requested(request));
    }

    /// Lets a player look at the segment that is on its way, or request the next one.
    fn adapt(&mut self, io: &mut dyn ReceiverIo) {
        let RateRule::Player(player) = &mut self.rule else { return };
        let now = io.now();
        let view = View {
            now,
            rates: &self.rates,
            buffer: self.player.waiting(now).as_secs_f64(),
            segment: self.ladder.segment().as_secs_f64(),
            is_playing: self.player.has_started(),
        };
        let has_all = self.player.buffer.reception.highest.map_or(0, |unit| unit + 1) == self.asked;
        let Some(mut download) = self.download.take() else { return self.request_next(io) };
        download.see(now, if has_all { download.total } else { self.requests.loaded(io.received()) });
        if has_all {
            player.on_loaded(view, &download);
            return self.request_next(io);
        }
        match player.check(view, &download) {
            Some(rung) => self.request(io, Request { segment: download.segment, rung, replaces: true }),
            None => self.download = Some(download),
        }
    }

    /// Requests the next segment if it is there and fits.
    fn request_next(&mut self, io: &mut dyn ReceiverIo) {
        let now = io.now();
        if self.next_request(now) > now {
            return;
        }
        let buffer = self.player.waiting(now).as_secs_f64();
        let segment = self.ladder.segment().as_secs_f64();
        let is_playing = self.player.has_started();
        let RateRule::Player(player) = &mut self.rule else { return };
        let rung = player.choose(View { now, rates: &self.rates, buffer, segment, is_playing });
        self.asked += 1;
        self.request(io, Request { segment: self.asked - 1, rung, replaces: false });
    }

    fn request(&mut self, io: &mut dyn ReceiverIo, request: Request) {
        if request.replaces {
            self.requests.replace();
        } else {
            self.requests.ask(io.position());
        }
        let total = self.ladder.bytes(request.rung);
        self.download = Some(Download::new(request.segment, request.rung, io.now(), total));
        self.send(io, request);
    }
}
