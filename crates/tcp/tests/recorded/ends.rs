//! A writer and a reader at the ends of a path, and the diary of both.

use crate::Diary;
use crate::path::{Arrival, Conditions, NetworkPath, Reading, Writing};
use earlybird_tcp::{Config, Connection, Cx, Event, FastOpenOffer, Identity, RfcState, Trace, TraceEvent};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{FastOpen, Flags, Segment};
use std::fmt::Write;
use std::num::NonZeroU16;

/// Long enough for every transfer over every path; one that a sender cannot end is recorded up to here.
const END: Instant = Instant::from_nanos(120_000_000_000);

/// Writes down what a connection tells of itself.
struct Pen<'a>(&'a mut Diary);

impl Trace for Pen<'_> {
    fn record(&mut self, at: Instant, event: TraceEvent) {
        note(self.0, at, format_args!("{event:?}"));
    }
}

fn note(diary: &mut Diary, at: Instant, what: std::fmt::Arguments<'_>) {
    writeln!(diary, "{} {what}", at.as_nanos()).expect("a string takes everything");
}

struct Ends {
    /// Those of the writer and of the reader.
    connections: [Connection; 2],
    config: Config,
    conditions: Conditions,
    path: NetworkPath,
    now: Instant,
    writes_left: u32,
    next_write: Option<Instant>,
    next_read: Option<Instant>,
    diary: Diary,
}

/// Lets such endpoints talk over the path, and gives the diary.
pub(crate) fn drive(config: &Config, conditions: &Conditions) -> Diary {
    let seeds = SeedTree::new(1);
    let connections =
        [Connection::connect(config, seeds.child("writer")), Connection::listen(config, seeds.child("reader"))];
    let mut ends = Ends {
        connections,
        config: *config,
        conditions: *conditions,
        path: NetworkPath::new(*conditions),
        now: Instant::ZERO,
        writes_left: match conditions.writing {
            Writing::Bulk { .. } => 1,
            Writing::Bursts { count, .. } => count,
        },
        next_write: Some(Instant::ZERO),
        next_read: None,
        diary: Diary::new(),
    };
    if conditions.opens_fast {
        ends.open_fast();
    }
    ends.serve(0);
    while ends.step() {}
    ends.close_diary();
    ends.diary
}

impl Ends {
    /// The SYN carries what is written first (RFC 7413).
    fn open_fast(&mut self) {
        let cookie = FastOpen::cookie(&[1, 2, 3, 4]).expect("four bytes");
        self.connections[0].open_fast(FastOpenOffer::Cookie { cookie, mss: NonZeroU16::new(self.config.segments.mss) });
        self.write();
    }

    /// A server that believes the cookie takes what a SYN carries.
    fn accept_fast(&mut self, syn: &Segment) {
        let seeds = SeedTree::new(1).child("reader");
        let mut pen = Pen(&mut self.diary);
        let cx = &mut Cx { now: self.now, trace: &mut pen };
        let (server, _) = Connection::accept_fast(cx, &self.config, Identity::drawn(seeds), seeds, syn, None);
        self.connections[1] = server;
    }

    /// Goes on to the next thing that happens; says whether there is one.
    fn step(&mut self) -> bool {
        let [writer, reader] = self.connections.each_ref().map(Connection::poll_timeout);
        let times = [self.path.next(), writer, reader, self.next_write, self.next_read];
        let Some(next) = times.into_iter().flatten().min().filter(|next| *next < END) else { return false };
        if self.connections.iter().all(|end| matches!(end.state(), RfcState::Closed | RfcState::TimeWait)) {
            return false;
        }
        self.now = next;
        match times.iter().position(|time| *time == Some(next)) {
            Some(0) => self.deliver(),
            Some(side @ (1 | 2)) => self.expire(side - 1),
            Some(3) => self.write(),
            _ => self.read(),
        }
        true
    }

    fn deliver(&mut self) {
        let Some((to, arrival)) = self.path.arrive() else { return };
        if let (1, Arrival::Segment(syn)) = (to, &arrival)
            && self.conditions.opens_fast
            && syn.flags.contains(Flags::SYN)
            && self.connections[1].state() == RfcState::Listen
        {
            self.accept_fast(syn);
            return self.serve(1);
        }
        let mut pen = Pen(&mut self.diary);
        let cx = &mut Cx { now: self.now, trace: &mut pen };
        match arrival {
            Arrival::Segment(segment) => _ = self.connections[to].on_segment(cx, &segment),
            Arrival::TooBig(seq, mtu) => {
                let is_believed = self.connections[to].on_path_mtu(cx, mtu, seq);
                note(&mut self.diary, self.now, format_args!("{to} believes {mtu}: {is_believed}"));
            }
        }
        self.serve(to);
    }

    fn expire(&mut self, side: usize) {
        let mut pen = Pen(&mut self.diary);
        self.connections[side].on_timeout(&mut Cx { now: self.now, trace: &mut pen });
        self.serve(side);
    }

    /// Writes what is due, and closes behind the last; the pause in the middle is ten times as long.
    fn write(&mut self) {
        self.writes_left -= 1;
        let (bytes, pause) = match self.conditions.writing {
            Writing::Bulk { segments } => (segments * u64::from(self.config.segments.mss), Duration::ZERO),
            Writing::Bursts { bytes, period, count } => {
                (bytes, if self.writes_left == count / 2 { period * 10 } else { period })
            }
        };
        self.put(0, bytes);
        self.next_write = (self.writes_left > 0).then(|| self.now + pause);
        if self.writes_left == 0 {
            self.connections[0].shutdown();
        }
        self.serve(0);
    }

    /// Hands bytes over to a side: as frames of a segment at most where the mode has them.
    fn put(&mut self, side: usize, bytes: u64) {
        if !self.config.real_time.framing {
            let written = self.connections[side].write(bytes);
            return note(&mut self.diary, self.now, format_args!("written {written:?}"));
        }
        let most = u64::from(self.config.segments.mss) * 9 / 10;
        for start in (0..bytes).step_by(most as usize) {
            let mut pen = Pen(&mut self.diary);
            let cx = &mut Cx { now: self.now, trace: &mut pen };
            let written = self.connections[side].write_frame(cx, most.min(bytes - start), u64::from(self.writes_left));
            note(&mut self.diary, self.now, format_args!("frame {written:?}"));
        }
    }

    /// The reader reads, and may answer.
    fn read(&mut self) {
        self.next_read = None;
        self.take(1);
        if self.conditions.answers > 0 {
            self.put(1, self.conditions.answers);
        }
        self.serve(1);
    }

    fn take(&mut self, side: usize) {
        let end = &mut self.connections[side];
        if self.config.real_time.framing {
            let mut pen = Pen(&mut self.diary);
            let cx = &mut Cx { now: self.now, trace: &mut pen };
            let frames = std::iter::from_fn(|| end.read_frame(cx)).collect::<Vec<_>>();
            let skipped = std::iter::from_fn(|| end.poll_skipped()).collect::<Vec<_>>();
            note(&mut self.diary, self.now, format_args!("read {frames:?} without {skipped:?}"));
        } else {
            let most = match self.conditions.reading {
                Reading::Slowly { bytes, .. } if side == 1 => bytes,
                _ => u64::MAX,
            };
            let count = end.read(most);
            note(&mut self.diary, self.now, format_args!("read {count}"));
        }
    }

    /// Does the work of a driver after every call: segments, events.
    fn serve(&mut self, side: usize) {
        loop {
            let mut pen = Pen(&mut self.diary);
            let cx = &mut Cx { now: self.now, trace: &mut pen };
            if let Some(transmit) = self.connections[side].poll_transmit(cx) {
                note(&mut self.diary, self.now, format_args!("{side} sends {transmit:?}"));
                self.note_state(side);
                self.path.carry(self.now, side, transmit.segment);
            } else if let Some(event) = self.connections[side].poll_event() {
                note(&mut self.diary, self.now, format_args!("{side} {event:?}"));
                self.on_event(side, event);
            } else {
                return;
            }
        }
    }

    fn on_event(&mut self, side: usize, event: Event) {
        match event {
            Event::Readable if side == 1 => {
                let pause = match self.conditions.reading {
                    Reading::AtOnce => Duration::ZERO,
                    Reading::Slowly { period, .. } => period,
                };
                self.next_read.get_or_insert(self.now + pause);
            }
            Event::Readable => self.take(side),
            Event::PeerClosed => self.connections[side].shutdown(),
            _ => {}
        }
    }

    /// The writer's window and timer, to the last bit.
    fn note_state(&mut self, side: usize) {
        let end = &self.connections[side];
        let (cwnd, ssthresh, rate) = (end.cwnd(), end.ssthresh(), end.pacing_rate());
        let (timer, gauges, due) = (end.timer(), end.gauges(), end.poll_timeout());
        note(&mut self.diary, self.now, format_args!("{side} {cwnd} {ssthresh} {rate:?} {timer:?} {gauges:?} {due:?}"));
        let segments =
            [end.outstanding(), end.in_flight(), end.sacked(), end.lost(), end.retransmitted(), end.reordering()];
        let (bytes, are) = ([end.acknowledged(), end.effective_mss()], [end.is_reducing(), end.is_recovering()]);
        let (shortest, variation) = (end.min_rtt(), end.rttvar());
        let (delivery, early, limited) = (end.delivery_rate(), end.early_threshold(), end.limited_times(self.now));
        note(
            &mut self.diary,
            self.now,
            format_args!(
                "{segments:?} {bytes:?} {are:?} {shortest:?} {variation:?} {delivery:?} {early:?} {limited:?}"
            ),
        );
    }

    fn close_diary(&mut self) {
        let ends = &self.connections;
        let counts = ends
            .each_ref()
            .map(|end| (*end.statistics(), end.real_time_statistics(), end.drop_counters(), end.received()));
        note(&mut self.diary, self.now, format_args!("{counts:?}"));
    }
}
