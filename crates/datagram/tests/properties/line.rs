//! Two endpoints and a line between them, event by event.

use earlybird_datagram::{Config, Control, Endpoint, Event};
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Datagram, DatagramHeader};

/// Delay of the line in each direction.
pub(crate) const ONE_WAY: Duration = Duration::from_millis(50);
/// Time between two units.
pub(crate) const PERIOD: Duration = Duration::from_millis(20);

/// The fate of a datagram: the extra delay of each copy; none if it is lost.
pub(crate) type Fate = Vec<Duration>;

/// A datagram as it is sent, and how many of its kind were sent before it.
pub(crate) struct Sending<'a> {
    pub(crate) at: Instant,
    pub(crate) datagram: &'a Datagram,
    pub(crate) nth: usize,
}

impl Sending<'_> {
    /// Returns the number of a packet with payload, and whether it is a repair.
    pub(crate) fn data(&self) -> Option<(u32, bool)> {
        match self.datagram.header {
            DatagramHeader::SrtData(header) => Some((header.sequence, header.is_retransmission)),
            _ => None,
        }
    }

    pub(crate) fn is_nak(&self) -> bool {
        matches!(self.datagram.header, DatagramHeader::SrtNak(_))
    }
}

/// The log of a transfer.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Units that the receiver released, and when.
    pub(crate) released: Vec<(u32, Instant)>,
    /// Packets with payload: number, whether a repair, when sent.
    pub(crate) sent: Vec<(u32, bool, Instant)>,
    /// Packets with payload that arrived, each the first time: number and time.
    pub(crate) arrived: Vec<(u32, Instant)>,
    /// Repairs that arrived: number and time.
    pub(crate) repairs: Vec<(u32, Instant)>,
    pub(crate) naks: Vec<Instant>,
    /// Most packets that the sender and the receiver kept.
    pub(crate) most_kept: [usize; 2],
}

impl Log {
    /// Returns when a unit was released.
    pub(crate) fn release_of(&self, unit: u32) -> Option<Instant> {
        self.released.iter().find(|(released, _)| *released == unit).map(|(_, at)| *at)
    }

    fn note_arrival(&mut self, sequence: u32, is_retransmission: bool, now: Instant) {
        if self.arrival_of(sequence).is_none() {
            self.arrived.push((sequence, now));
        }
        if is_retransmission {
            self.repairs.push((sequence, now));
        }
    }

    /// Returns when a packet arrived first.
    pub(crate) fn arrival_of(&self, sequence: u32) -> Option<Instant> {
        self.arrived.iter().find(|(arrived, _)| *arrived == sequence).map(|(_, at)| *at)
    }

    /// Returns when a packet was sent once more.
    pub(crate) fn repairs_sent(&self, sequence: u32) -> Vec<Instant> {
        self.sent
            .iter()
            .filter(|(number, is_retransmission, _)| *number == sequence && *is_retransmission)
            .map(|(.., at)| *at)
            .collect()
    }
}

/// Returns the time at which a unit is written.
pub(crate) fn written(unit: u32) -> Instant {
    Instant::ZERO + PERIOD * (u64::from(unit) + 1)
}

/// Sends units of these sizes, one every 20 ms, and lets everything come to its end.
pub(crate) fn talk(control: Control, units: &[u64], fate: &mut dyn FnMut(&Sending<'_>) -> Fate) -> Log {
    let ends = Endpoint::pair(Config { control, mss: 1000, ecn: false });
    let mut line = Line { ends, in_flight: Vec::new(), counts: [0; 4], log: Log::default(), fate };
    let mut unwritten = (0..).zip(units).peekable();
    let end = written(units.len() as u32) + Duration::from_secs(5);
    loop {
        let next_write = unwritten.peek().map(|(unit, _)| written(*unit));
        let now = [next_write, line.next_event()].into_iter().flatten().min().filter(|at| *at < end);
        let Some(now) = now else { return line.log };
        line.advance(now);
        if let Some((_, bytes)) = unwritten.next_if(|(unit, _)| written(*unit) == now) {
            line.ends[0].write_unit(*bytes);
            line.serve(0, now);
        }
    }
}

struct Line<'a> {
    ends: [Endpoint; 2],
    /// Arrival, in order of sending for equal times; the end it goes to.
    in_flight: Vec<(Instant, usize, Datagram)>,
    counts: [usize; 4],
    log: Log,
    fate: &'a mut dyn FnMut(&Sending<'_>) -> Fate,
}

impl Line<'_> {
    fn next_event(&self) -> Option<Instant> {
        let timers = self.ends.iter().filter_map(Endpoint::poll_timeout);
        self.in_flight.iter().map(|(at, ..)| *at).chain(timers).min()
    }

    fn advance(&mut self, now: Instant) {
        while let Some(index) = self.in_flight.iter().position(|(at, ..)| *at <= now) {
            let (_, to, datagram) = self.in_flight.remove(index);
            if let DatagramHeader::SrtData(header) = datagram.header {
                self.log.note_arrival(header.sequence, header.is_retransmission, now);
            }
            self.ends[to].on_datagram(now, &datagram);
            self.serve(to, now);
        }
        for end in [0, 1] {
            if self.ends[end].poll_timeout().is_some_and(|at| at <= now) {
                self.ends[end].on_timeout(now);
                self.serve(end, now);
            }
        }
    }

    fn serve(&mut self, end: usize, now: Instant) {
        while let Some(event) = self.ends[end].poll_event() {
            if let Event::Delivered(unit) = event {
                self.log.released.push((unit, now));
            }
        }
        while let Some(transmit) = self.ends[end].poll_transmit(now) {
            self.send(1 - end, now, transmit.datagram);
        }
        self.log.most_kept[end] = self.log.most_kept[end].max(self.ends[end].kept());
    }

    fn send(&mut self, to: usize, at: Instant, datagram: Datagram) {
        let kind = match datagram.header {
            DatagramHeader::SrtNak(_) => 0,
            DatagramHeader::SrtAck(_) => 1,
            DatagramHeader::SrtAckAck(_) => 2,
            _ => 3,
        };
        let sending = Sending { at, datagram: &datagram, nth: self.counts[kind] };
        self.counts[kind] += 1;
        self.log.sent.extend(sending.data().map(|(sequence, is_retransmission)| (sequence, is_retransmission, at)));
        self.log.naks.extend(sending.is_nak().then_some(at));
        for delay in (self.fate)(&sending) {
            self.in_flight.push((at + ONE_WAY + delay, to, datagram));
        }
        self.in_flight.sort_by_key(|(at, ..)| *at);
    }
}
