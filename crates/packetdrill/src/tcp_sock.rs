//! A connection with the state that Linux keeps in `tcp_sock`.

mod chrono;
mod send_feed;
mod urgent;

pub(crate) use send_feed::End;

use crate::packet::{self, RxSegment};
use crate::send_queue::SendQueue;
use crate::sysctl;
use crate::time::{Micros, instant};
use chrono::Chrono;
use earlybird_tcp::{Connection, Cx, Event, FastOpenOffer, RfcState, Transmit};
use earlybird_wire::{Flags, Segment};
use send_feed::SendFeed;
use std::net::SocketAddr;
use urgent::Urgent;

/// A connection of a socket.
#[expect(clippy::struct_excessive_bools, reason = "states of a Linux socket that are independent of each other")]
pub(crate) struct TcpSock {
    pub(crate) connection: Connection,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) queue: SendQueue,
    pub(crate) is_passive: bool,
    pub(crate) shut_read: bool,
    pub(crate) shut_write: bool,
    pub(crate) has_peer_closed: bool,
    pub(crate) urgent: Urgent,
    pub(crate) counters: InfoCounters,
    /// The largest window that the peer has advertised (`max_window`).
    pub(crate) largest_window: u64,
    pub(crate) peer_shift: u8,
    pub(crate) feed: SendFeed,
    pub(crate) chrono: Chrono,
    /// Whether it was opened by Fast Open: it can be used before the handshake ends.
    pub(crate) is_fast_open: bool,
    /// Whether the SYN carried data.
    pub(crate) took_syn_data: bool,
    /// The Fast Open offer of its SYN.
    pub(crate) fast_open_offer: Option<FastOpenOffer>,
}

/// Counters for `tcp_info`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InfoCounters {
    pub(crate) data_received_at: Micros,
    pub(crate) data_sent_at: Micros,
    pub(crate) ack_received_at: Micros,
    pub(crate) segments_in: u32,
    pub(crate) segments_out: u32,
    pub(crate) data_segments_in: u32,
    pub(crate) data_segments_out: u32,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_retransmitted: u64,
    pub(crate) retransmissions: u32,
    pub(crate) largest_received: u32,
    pub(crate) window: u64,
}

/// Changes of a connection after a segment, a timer or a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    pub(crate) is_established: bool,
    pub(crate) is_readable: bool,
    pub(crate) is_changed: bool,
    pub(crate) error: Option<i32>,
}

/// A transmitted packet, and the offset at which its payload ends.
pub(crate) struct TxPacket {
    pub(crate) packet: Vec<u8>,
    pub(crate) end: u64,
}

impl TcpSock {
    pub(crate) fn new(connection: Connection, local: SocketAddr, remote: SocketAddr, now: Micros) -> Self {
        let counters = InfoCounters { data_received_at: now, data_sent_at: now, ..InfoCounters::default() };
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
            counters,
            largest_window: 0,
            peer_shift: 0,
            feed: SendFeed::default(),
            chrono: Chrono::default(),
            is_fast_open: false,
            took_syn_data: false,
            fast_open_offer: None,
        }
    }

    /// Returns whether the connection can be used.
    pub(crate) fn is_connected(&self) -> bool {
        match self.connection.state() {
            RfcState::Listen | RfcState::SynSent | RfcState::Closed => false,
            // self.is_fast_open, => RFC 7413: a server may read and write before the handshake ends.
            RfcState::SynReceived => self.is_fast_open,
            _ => true,
        }
    }

    /// Returns whether data on a SYN was accepted (`TCPI_OPT_SYN_DATA`).
    pub(crate) fn has_fast_data(&self) -> bool {
        let change = self.connection.fast_open();
        self.took_syn_data || change.is_some_and(|change| change.carried > 0 && change.accepted == change.carried)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.connection.state() == RfcState::Closed
    }

    /// Returns whether reading would return the end of the stream.
    pub(crate) fn is_at_end(&self) -> bool {
        self.connection.readable() == 0 && (self.has_peer_closed || self.shut_read || self.is_closed())
    }

    /// Returns the mask of `poll`, except for writability, which depends on the socket.
    pub(crate) fn poll_mask(&self) -> i16 {
        let mut mask = 0;
        let reads_no_more = self.shut_read || self.has_peer_closed || self.is_closed();
        if self.is_closed() || (reads_no_more && self.shut_write) {
            mask |= libc::POLLHUP;
        }
        if reads_no_more {
            mask |= libc::POLLIN | libc::POLLRDNORM | libc::POLLRDHUP;
        }
        if self.connection.readable() > 0 {
            mask |= libc::POLLIN | libc::POLLRDNORM;
        }
        if self.shut_write || self.is_closed() {
            mask |= libc::POLLOUT | libc::POLLWRNORM;
        }
        mask
    }

    /// Processes a segment.
    pub(crate) fn on_segment(&mut self, now: Micros, received: &RxSegment) -> Change {
        let segment = &received.segment;
        self.count_rx(now, segment);
        // A reset of the SYN means that no socket listens; a later one breaks the connection.
        let was_syn_sent = self.connection.state() == RfcState::SynSent;
        let taken = self.connection.on_segment(&mut Cx { now: instant(now), trace: &mut () }, segment);
        self.urgent.update(&taken, received.urgent);
        self.queue.on_acknowledged(self.connection.acknowledged());
        self.change(if was_syn_sent { libc::ECONNREFUSED } else { libc::ECONNRESET })
    }

    /// Runs the timers that are due.
    pub(crate) fn on_timeout(&mut self, now: Micros) -> Change {
        // Before the connection's timers, as `tcp_write_timer` runs the probe of a corked socket.
        self.release();
        self.connection.on_timeout(&mut Cx { now: instant(now), trace: &mut () });
        self.change(libc::ETIMEDOUT)
    }

    /// Returns when the next timer is due.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        // Rounded up: at the microsecond below, the timer would not be due yet.
        self.connection.poll_timeout().map(|at| at.as_nanos().div_ceil(1000))
    }

    pub(crate) fn count_rx(&mut self, now: Micros, segment: &Segment) {
        let counters = &mut self.counters;
        counters.segments_in += 1;
        if segment.len > 0 {
            counters.data_segments_in += 1;
            counters.data_received_at = now;
            counters.largest_received = counters.largest_received.max(u32::from(segment.len));
        }
        if segment.flags.contains(Flags::SYN) {
            self.peer_shift = segment.options.window_scale.unwrap_or(0).min(14);
        }
        // The window of a SYN is never scaled (RFC 7323 §2.2).
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.peer_shift };
        counters.window = u64::from(segment.window) << shift;
        self.largest_window = self.largest_window.max(counters.window);
        if segment.flags.contains(Flags::ACK) {
            counters.ack_received_at = now;
            // An ACK ends `MSG_MORE`, as in Linux (`tcp_push_pending_frames`).
            self.feed.has_more = false;
        }
    }

    /// Returns the current MSS.
    pub(crate) fn mss(&self) -> u64 {
        self.connection.effective_mss()
    }

    pub(crate) fn change(&mut self, reset: i32) -> Change {
        let mut change = Change::default();
        while let Some(event) = self.connection.poll_event() {
            change.is_changed |= event != Event::Readable && event != Event::Drained;
            match event {
                Event::Established => {
                    change.is_established = true;
                    // Linux initialises `lrcvtime` when the handshake completes.
                    self.counters.data_received_at = self.counters.ack_received_at;
                }
                Event::Readable => change.is_readable = true,
                Event::PeerClosed => self.has_peer_closed = true,
                // change.error => ICMP port unreachable on a handshake.
                Event::Unreachable => change.error = Some(libc::ECONNREFUSED),
                Event::Reset | Event::Refused => {
                    change.error = Some(if self.has_peer_closed { libc::EPIPE } else { reset });
                }
                Event::TimedOut => change.error = Some(libc::ETIMEDOUT),
                _ => {}
            }
        }
        change
    }

    /// Returns all packets to transmit now.
    pub(crate) fn transmit(&mut self, now: Micros) -> Vec<TxPacket> {
        let mut batch = Vec::new();
        self.feed();
        let cx = &mut Cx { now: instant(now), trace: &mut () };
        while let Some(transmit) = self.connection.poll_transmit(cx) {
            self.count_tx(now, &transmit);
            batch.push(transmit);
        }
        let largest_burst = self.largest_burst();
        // The whole batch is needed: whether a segment carries PSH depends on the next one.
        self.mark_pushes(&mut batch, largest_burst);
        batch.iter().map(|transmit| self.emit(transmit)).collect()
    }

    fn count_tx(&mut self, now: Micros, transmit: &Transmit) {
        let segment = &transmit.segment;
        let counters = &mut self.counters;
        counters.segments_out += 1;
        counters.retransmissions += u32::from(transmit.is_retransmission);
        if segment.len > 0 {
            counters.data_segments_out += 1;
            counters.data_sent_at = now;
            counters.bytes_sent += u64::from(segment.len);
            counters.bytes_retransmitted += if transmit.is_retransmission { u64::from(segment.len) } else { 0 };
            self.queue.on_sent(transmit.data.end);
        }
    }

    /// Sets the PSH flag as Linux does: at the end of each burst that passes the host as one packet (TSO), and where a write
    /// ended.
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

    /// Returns the number of segments per burst: at most half the window, and what leaves in a millisecond (`tcp_tso_autosize`).
    fn largest_burst(&self) -> u64 {
        let timer = self.connection.timer();
        // `tcp_cwnd_test` keeps at least two GSO packets in flight.
        let half = (self.connection.cwnd() as u64 / 2).max(1);
        let Some(rtt) = timer.smoothed.map(earlybird_units::Duration::as_secs_f64).filter(|rtt| *rtt > 0.0) else {
            return half;
        };
        // As `tcp_update_pacing_rate`: the ratio of slow start applies below half of ssthresh.
        let is_far = self.connection.cwnd() < self.connection.ssthresh() / 2.0;
        let ratio = if is_far { "tcp_pacing_ss_ratio" } else { "tcp_pacing_ca_ratio" };
        let gain = sysctl::value(ratio, if is_far { 200 } else { 120 }) as f64 / 100.0;
        let rate = gain * self.connection.cwnd() * self.mss() as f64 / rtt;
        // Short paths get larger bursts: 64 KiB, halved for each 512 µs of RTT (`tcp_tso_rtt_log`).
        let doublings = (rtt * 1e6 / 512.0) as u32;
        let extra = if doublings < 32 { 65_536 >> doublings } else { 0 };
        let bytes = ((rate / 1024.0) as u64 + extra).min(65_536);
        (bytes / self.mss()).max(sysctl::value("tcp_min_tso_segs", 2)).min(half)
    }

    fn emit(&self, transmit: &Transmit) -> TxPacket {
        let segment = &transmit.segment;
        let payload = vec![0; usize::from(segment.len)];
        TxPacket { packet: packet::write(self.local, self.remote, segment, &payload), end: transmit.data.end }
    }
}

/// Returns whether a segment continues another.
fn follows(this: &Transmit, next: &Transmit) -> bool {
    next.segment.len > 0 && next.data.start == this.data.end && next.is_retransmission == this.is_retransmission
}
