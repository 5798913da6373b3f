//! The sending side.

use super::buffer::{Buffer, Next};
use super::pace::Pace;
use super::round_trip::RoundTrip;
use super::{Latency, Parameters};
use crate::transmit::Transmit;
use crate::units::Outbox;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{Datagram, DatagramHeader, SrtAck, SrtData};

/// The sender of a flow.
#[derive(Clone, Debug)]
pub struct Sender {
    outbox: Outbox,
    buffer: Buffer,
    pace: Pace,
    latency: Latency,
    round_trip: RoundTrip,
    /// The ACK to answer.
    ack: Option<u32>,
    sent: u64,
    repeated: u64,
}

/// Packets are kept for the latency, but at least this long (`SRT_TLPKTDROP_MINTHRESHOLD_MS` of Haivision's implementation).
const SHORTEST_KEEPING: Duration = Duration::from_secs(1);
/// … and for two ticks more (`CUDT::sndDropTooLate`; the draft recommends 1.25 times the latency in all, §4.6).
const REACTION: Duration = Duration::from_millis(20);

impl Sender {
    pub(crate) fn new(parameters: Parameters, mss: u16) -> Self {
        Self {
            outbox: Outbox::new(mss),
            buffer: Buffer::default(),
            pace: Pace::new(parameters.overhead, mss),
            latency: parameters.latency,
            round_trip: RoundTrip::default(),
            ack: None,
            sent: 0,
            repeated: 0,
        }
    }

    pub(crate) fn write_unit(&mut self, bytes: u64) {
        self.outbox.write_unit(bytes);
    }

    pub(crate) fn on_datagram(&mut self, now: Instant, datagram: &Datagram) {
        match datagram.header {
            DatagramHeader::SrtAck(ack) => self.on_ack(&ack),
            DatagramHeader::SrtNak(nak) => {
                // Haivision's implementation waits RTT − 4·RTTVar (`checkRexmitRightTime`); the draft leaves it open.
                let patience = self.round_trip.shortest();
                nak.losses().for_each(|losses| self.buffer.on_losses(now, losses, patience));
            }
            _ => {}
        }
    }

    fn on_ack(&mut self, ack: &SrtAck) {
        self.buffer.on_ack(ack.next);
        self.round_trip.update(ack.rtt);
        self.ack = Some(ack.number);
    }

    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.stamp_written(now);
        self.drop_too_late(now);
        // Not paced: the receiver measures the round trip by it.
        if let Some(number) = self.ack.take() {
            return Some(Transmit::control(DatagramHeader::SrtAckAck(number)));
        }
        if self.pace.next_send() > now {
            return None;
        }
        let next = self.buffer.next(now)?;
        self.pace.on_sent(now, next.datagram.len);
        self.sent += 1;
        self.repeated += u64::from(next.is_retransmission);
        Some(transmit(&next))
    }

    /// Returns what was written since the last call its time, which is this one: an owner asks after every write.
    fn stamp_written(&mut self, now: Instant) {
        while let Some(datagram) = self.outbox.pop() {
            self.pace.on_written(now, datagram.len);
            self.buffer.push(now, datagram);
        }
    }

    fn drop_too_late(&mut self, now: Instant) {
        let keeping = self.latency.over(self.round_trip.rtt).max(SHORTEST_KEEPING) + REACTION;
        let kept = Instant::from_nanos(now.as_nanos().saturating_sub(keeping.as_nanos()));
        self.buffer.drop_older(kept);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.buffer.has_next().then(|| self.pace.next_send())
    }

    pub(crate) fn kept(&self) -> usize {
        self.buffer.len()
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }
}

fn transmit(next: &Next) -> Transmit {
    let header = SrtData { sequence: next.sequence, written: next.written, is_retransmission: next.is_retransmission };
    Transmit {
        datagram: Datagram { header: DatagramHeader::SrtData(header), ..next.datagram },
        number: Some(u64::from(next.sequence)),
        is_retransmission: next.is_retransmission,
    }
}
