//! `tcp_info` in Linux's layout.

use crate::socket::{Role, Socket};
use crate::tcp_sock::TcpSock;
use crate::time::Micros;
use earlybird_tcp::RfcState;
use earlybird_units::{Duration, Rate};

/// Returns the structure for a socket.
pub(crate) fn tcp_info(socket: &Socket, now: Micros) -> Vec<u8> {
    match &socket.role {
        Role::Connected(sock) => of_connection(sock, socket, now),
        Role::Listener(_) => padded(vec![10]),
        Role::New | Role::Deferred(_) | Role::Closed => padded(vec![7]),
    }
}

/// `TCPI_OPT_SYN_DATA`
const OPTION_SYN_DATA: u8 = 32;

/// Returns Linux's congestion state (`tcp_ca_state`): Open 0, Disorder 1, CWR 2, Recovery 3, Loss 4.
fn congestion(sock: &TcpSock) -> u8 {
    let connection = &sock.connection;
    // A backed-off timer implies TCP_CA_Loss.
    if connection.timer().back_off > 1 {
        4
    } else if connection.is_recovering() {
        3
    } else if connection.is_reducing() {
        2
    } else {
        u8::from(connection.sacked() > 0)
    }
}

/// Pads the bytes to the size of the structure.
fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(280, 0);
    bytes
}

/// Linux's numbers of TCP states.
fn state(state: RfcState) -> u8 {
    match state {
        RfcState::Established => 1,
        RfcState::SynSent => 2,
        RfcState::SynReceived => 3,
        RfcState::FinWait1 => 4,
        RfcState::FinWait2 => 5,
        RfcState::TimeWait => 6,
        RfcState::Closed => 7,
        RfcState::CloseWait => 8,
        RfcState::LastAck => 9,
        RfcState::Listen => 10,
        RfcState::Closing => 11,
    }
}

/// Serialises fields in order.
struct Fields(Vec<u8>);

impl Fields {
    fn bytes(&mut self, values: &[u8]) {
        self.0.extend(values);
    }

    fn words(&mut self, values: &[u64]) {
        for value in values {
            self.0.extend(u32::try_from(*value).unwrap_or(u32::MAX).to_ne_bytes());
        }
    }

    fn longs(&mut self, values: &[u64]) {
        for value in values {
            self.0.extend(value.to_ne_bytes());
        }
    }
}

fn of_connection(sock: &TcpSock, socket: &Socket, now: Micros) -> Vec<u8> {
    let connection = &sock.connection;
    let (counters, timer) = (&sock.counters, connection.timer());
    let bytes_per_second = |rate: Option<Rate>| rate.map_or(0, |rate| rate.bits_per_second() / 8);
    let micros = |duration: Option<Duration>| duration.map_or(0, |d| d.as_nanos() / 1000);
    let since = |at: Micros| (now - at) / 1000;
    let ssthresh = connection.ssthresh();
    let mut fields = Fields(Vec::with_capacity(280));
    let options = u8::from(sock.has_fast_data()) * OPTION_SYN_DATA;
    // The order of `struct tcp_info` in include/uapi/linux/tcp.h.
    fields.bytes(&[state(connection.state()), congestion(sock), 0, 0, 0, options, sock.peer_shift, 0]);
    // tcpi_ato: 40 ms, the constant TCP_ATO_MIN.
    fields.words(&[micros(Some(timer.timeout)), 40_000, sock.mss(), u64::from(counters.largest_received.max(536))]);
    // Linux counts retransmitted segments as lost, too.
    let retransmitted = connection.retransmitted();
    fields.words(&[connection.outstanding(), connection.sacked(), connection.lost() + retransmitted, retransmitted, 0]);
    fields.words(&[since(counters.data_sent_at), 0, since(counters.data_received_at), since(counters.ack_received_at)]);
    fields.words(&[u64::from(crate::device::mtu()), 65_535, micros(timer.smoothed), micros(connection.rttvar())]);
    fields.words(&[
        // TCP_INFINITE_SSTHRESH.
        if ssthresh.is_finite() { ssthresh as u64 } else { 0x7FFF_FFFF },
        connection.cwnd() as u64,
        u64::from(crate::config::mss_limit(&socket.settings, sock.local.ip())),
        connection.reordering(),
    ]);
    fields.words(&[0, 0, u64::from(counters.retransmissions)]);
    fields.longs(&[
        bytes_per_second(connection.pacing_rate()),
        u64::MAX,
        sock.queue.acknowledged(),
        connection.received(),
    ]);
    fields.words(&[u64::from(counters.segments_out), u64::from(counters.segments_in), sock.queue.not_sent()]);
    fields.words(&[micros(connection.min_rtt())]);
    fields.words(&[u64::from(counters.data_segments_in), u64::from(counters.data_segments_out)]);
    fields.longs(&[bytes_per_second(connection.delivery_rate())]);
    fields.longs(&sock.chrono.times(now));
    let delivered = connection.highest_acknowledged().map_or(0, |number| number + 1);
    let delivered = delivered + connection.sacked();
    // The SYN-ACK does not count as delivered until it is acknowledged.
    let is_answer_out = connection.state() == RfcState::SynReceived;
    fields.words(&[delivered - u64::from(is_answer_out && delivered > 0), 0]);
    fields.longs(&[counters.bytes_sent, counters.bytes_retransmitted]);
    fields.words(&[0, 0, 0, counters.window]);
    padded(fields.0)
}
