//! A connection, and what Linux keeps beside it.

use crate::feeding::Feeding;
use crate::limits::Limits;
use crate::packet::{self, Arrival};
use crate::send_queue::SendQueue;
use crate::sysctl;
use crate::urgent::Urgent;
use crate::world::Micros;
use earlybird_tcp::{Connection, Cx, Event, FastOpenOffer, RfcState, Transmit};
use earlybird_units::Instant;
use earlybird_wire::{Flags, Segment};
use std::net::SocketAddr;

/// A connection of a socket.
pub(crate) struct Flow {
    pub(crate) connection: Connection,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) queue: SendQueue,
    pub(crate) is_passive: bool,
    pub(crate) shut_read: bool,
    pub(crate) shut_write: bool,
    pub(crate) has_peer_closed: bool,
    pub(crate) urgent: Urgent,
    pub(crate) counts: Counts,
    /// The largest window that the peer told.
    pub(crate) largest_window: u64,
    pub(crate) peer_shift: u8,
    pub(crate) feeding: Feeding,
    pub(crate) limits: Limits,
    /// It was opened by a SYN whose data counts: it is used before the handshake ends.
    pub(crate) is_early: bool,
    /// That SYN carried data.
    pub(crate) took_syn_data: bool,
    /// What its SYN asked of Fast Open, or used.
    pub(crate) asked: Option<FastOpenOffer>,
}

/// What is counted for `tcp_info`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) data_received_at: Micros,
    pub(crate) data_sent_at: Micros,
    pub(crate) ack_received_at: Micros,
    pub(crate) segments_in: u32,
    pub(crate) segments_out: u32,
    pub(crate) data_segments_in: u32,
    pub(crate) data_segments_out: u32,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_again: u64,
    pub(crate) retransmissions: u32,
    pub(crate) largest_received: u32,
    pub(crate) window: u64,
}

/// What became of a connection while it was told something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) is_established: bool,
    pub(crate) is_readable: bool,
    pub(crate) is_changed: bool,
    pub(crate) error: Option<i32>,
}

/// A packet that leaves, and where in the stream its payload ends.
pub(crate) struct Departure {
    pub(crate) packet: Vec<u8>,
    pub(crate) end: u64,
}

impl Flow {
    pub(crate) fn new(connection: Connection, local: SocketAddr, remote: SocketAddr, now: Micros) -> Self {
        let counts = Counts { data_received_at: now, data_sent_at: now, ..Counts::default() };
        Self {
            connection,
            local,
            remote,
            queue: SendQueue::default(),
            is_passive: false,
            shut_read: false,
            shut_write: false,
            has_peer_closed: false,
            urgent: Urgent::default(),
            counts,
            largest_window: 0,
            peer_shift: 0,
            feeding: Feeding::default(),
            limits: Limits::default(),
            is_early: false,
            took_syn_data: false,
            asked: None,
        }
    }

    /// Returns whether the handshake is done.
    pub(crate) fn is_connected(&self) -> bool {
        match self.connection.state() {
            RfcState::Listen | RfcState::SynSent | RfcState::Closed => false,
            RfcState::SynReceived => self.is_early,
            _ => true,
        }
    }

    /// Returns whether data on a SYN was taken, as `tcp_info` tells it.
    pub(crate) fn has_fast_data(&self) -> bool {
        let outcome = self.connection.fast_open();
        self.took_syn_data || outcome.is_some_and(|outcome| outcome.carried > 0 && outcome.accepted == outcome.carried)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.connection.state() == RfcState::Closed
    }

    /// Returns whether reading would give the end of the stream.
    pub(crate) fn is_at_end(&self) -> bool {
        self.connection.unread() == 0 && (self.has_peer_closed || self.shut_read || self.is_closed())
    }

    /// Returns poll's mask but for room to write, which is the socket's to know.
    pub(crate) fn poll_mask(&self) -> i16 {
        let mut mask = 0;
        let reads_no_more = self.shut_read || self.has_peer_closed || self.is_closed();
        if self.is_closed() || (reads_no_more && self.shut_write) {
            mask |= libc::POLLHUP;
        }
        if reads_no_more {
            mask |= libc::POLLIN | libc::POLLRDNORM | libc::POLLRDHUP;
        }
        if self.connection.unread() > 0 {
            mask |= libc::POLLIN | libc::POLLRDNORM;
        }
        if self.shut_write || self.is_closed() {
            mask |= libc::POLLOUT | libc::POLLWRNORM;
        }
        mask
    }

    /// Takes a segment.
    pub(crate) fn on_segment(&mut self, now: Micros, arrival: &Arrival) -> Outcome {
        let segment = &arrival.segment;
        self.note_arrival(now, segment);
        let was_syn_sent = self.connection.state() == RfcState::SynSent;
        let taken = self.connection.on_segment(&mut Cx { now: instant(now), trace: &mut () }, segment);
        self.urgent.note(&taken, arrival.urgent);
        self.queue.on_acknowledged(self.connection.acknowledged());
        self.outcome(if was_syn_sent { libc::ECONNREFUSED } else { libc::ECONNRESET })
    }

    /// Acts on a deadline.
    pub(crate) fn on_timeout(&mut self, now: Micros) -> Outcome {
        self.release();
        self.connection.on_timeout(&mut Cx { now: instant(now), trace: &mut () });
        self.outcome(libc::ETIMEDOUT)
    }

    /// Returns the time at which something falls due.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        self.connection.poll_timeout().map(|at| at.as_nanos().div_ceil(1000))
    }

    pub(crate) fn note_arrival(&mut self, now: Micros, segment: &Segment) {
        let counts = &mut self.counts;
        counts.segments_in += 1;
        if segment.len > 0 {
            counts.data_segments_in += 1;
            counts.data_received_at = now;
            counts.largest_received = counts.largest_received.max(u32::from(segment.len));
        }
        if segment.flags.contains(Flags::SYN) {
            self.peer_shift = segment.options.window_scale.unwrap_or(0).min(14);
        }
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.peer_shift };
        counts.window = u64::from(segment.window) << shift;
        self.largest_window = self.largest_window.max(counts.window);
        if segment.flags.contains(Flags::ACK) {
            counts.ack_received_at = now;
            self.feeding.has_more = false;
        }
    }

    /// Returns the payload of a full segment.
    pub(crate) fn mss(&self) -> u64 {
        self.connection.effective_mss()
    }

    pub(crate) fn outcome(&mut self, reset: i32) -> Outcome {
        let mut outcome = Outcome::default();
        while let Some(event) = self.connection.poll_event() {
            outcome.is_changed |= event != Event::Readable && event != Event::Drained;
            match event {
                Event::Established => {
                    outcome.is_established = true;
                    self.counts.data_received_at = self.counts.ack_received_at;
                }
                Event::Readable => outcome.is_readable = true,
                Event::PeerClosed => self.has_peer_closed = true,
                Event::Unreachable => outcome.error = Some(libc::ECONNREFUSED),
                Event::Reset | Event::Refused => {
                    outcome.error = Some(if self.has_peer_closed { libc::EPIPE } else { reset });
                }
                Event::TimedOut => outcome.error = Some(libc::ETIMEDOUT),
                _ => {}
            }
        }
        outcome
    }

    /// Returns all packets that are to leave now.
    pub(crate) fn transmit(&mut self, now: Micros) -> Vec<Departure> {
        let mut batch = Vec::new();
        self.feed();
        let cx = &mut Cx { now: instant(now), trace: &mut () };
        while let Some(transmit) = self.connection.poll_transmit(cx) {
            self.note_departure(now, &transmit);
            batch.push(transmit);
        }
        let largest_burst = self.largest_burst();
        self.mark_pushes(&mut batch, largest_burst);
        batch.iter().map(|transmit| self.emit(transmit)).collect()
    }

    fn note_departure(&mut self, now: Micros, transmit: &Transmit) {
        let segment = &transmit.segment;
        let counts = &mut self.counts;
        counts.segments_out += 1;
        counts.retransmissions += u32::from(transmit.is_retransmission);
        if segment.len > 0 {
            counts.data_segments_out += 1;
            counts.data_sent_at = now;
            counts.bytes_sent += u64::from(segment.len);
            counts.bytes_again += if transmit.is_retransmission { u64::from(segment.len) } else { 0 };
            self.queue.on_sent(transmit.data.end);
        }
    }

    /// Sets the push flag where Linux's does stand: at the end of what goes through the host as one packet of several
    /// segments, and where a write ended.
    fn mark_pushes(&self, batch: &mut [Transmit], largest_burst: u64) {
        let mut count = 0;
        for index in 0..batch.len() {
            batch[index].segment.flags.remove(Flags::PSH);
            if batch[index].segment.len == 0 || batch[index].segment.flags.contains(Flags::SYN) {
                count = 0;
                continue;
            }
            count += 1;
            let this = &batch[index];
            let end = this.data.end;
            let goes_on = batch.get(index + 1).is_some_and(|next| follows(this, next))
                && !self.queue.ends_chunk_at(end)
                && count < largest_burst;
            if !goes_on {
                batch[index].segment.flags.set(Flags::PSH, count > 1 || self.queue.pushes_at(end));
                count = 0;
            }
        }
    }

    /// Returns how many segments Linux makes one packet of: at most half the window, and what leaves in a millisecond
    /// (`tcp_tso_autosize`).
    fn largest_burst(&self) -> u64 {
        let timer = self.connection.timer();
        let half = (self.connection.cwnd() as u64 / 2).max(1);
        let Some(rtt) = timer.smoothed.map(earlybird_units::Duration::as_secs_f64).filter(|rtt| *rtt > 0.0) else {
            return half;
        };
        let is_far = self.connection.cwnd() < self.connection.ssthresh() / 2.0;
        let ratio = if is_far { "tcp_pacing_ss_ratio" } else { "tcp_pacing_ca_ratio" };
        let gain = sysctl::number(ratio, if is_far { 200 } else { 120 }) as f64 / 100.0;
        let rate = gain * self.connection.cwnd() * self.mss() as f64 / rtt;
        // A short path gets more: the whole 64 KiB, halved for each doubling of the round trip over half a millisecond.
        let doublings = (rtt * 1e6 / 512.0) as u32;
        let extra = if doublings < 32 { 65_536 >> doublings } else { 0 };
        let bytes = ((rate / 1024.0) as u64 + extra).min(65_536);
        (bytes / self.mss()).max(sysctl::number("tcp_min_tso_segs", 2)).min(half)
    }

    fn emit(&self, transmit: &Transmit) -> Departure {
        let segment = &transmit.segment;
        let payload = vec![0; usize::from(segment.len)];
        Departure { packet: packet::write(self.local, self.remote, segment, &payload), end: transmit.data.end }
    }
}

/// Returns whether a segment goes on where another ends.
fn follows(this: &Transmit, next: &Transmit) -> bool {
    next.segment.len > 0 && next.data.start == this.data.end && next.is_retransmission == this.is_retransmission
}

/// Returns the endpoint's time.
pub(crate) fn instant(at: Micros) -> Instant {
    Instant::from_nanos(at * 1000)
}
