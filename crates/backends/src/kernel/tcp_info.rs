//! From the kernel's `tcp_info` to the statistics of reports.

use super::socket::TcpInfo;
use earlybird_sim::{FlowEnd, FlowGauges};
use earlybird_tcp::{LimitedTimes, Statistics};
use earlybird_units::Duration;

/// `TCP_INFINITE_SSTHRESH` of `net/tcp.h`: slow start has not ended.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

fn micros(micros: u64) -> Duration {
    Duration::from_nanos(micros * 1000)
}

pub(super) fn gauges(info: &TcpInfo) -> FlowGauges {
    // `tcp_packets_in_flight` of `include/net/tcp.h`.
    let in_flight = (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost);
    FlowGauges {
        cwnd: Some(info.snd_cwnd.into()),
        // Before the first loss the kernel has no threshold.
        ssthresh: (info.snd_ssthresh < NO_THRESHOLD).then(|| info.snd_ssthresh.into()),
        in_flight: Some(in_flight.into()),
        srtt: (info.rtt > 0).then(|| micros(info.rtt.into())),
        rto: Some(micros(info.rto.into())),
        // `~0` means that the kernel does not pace (`sk_pacing_rate`).
        pacing: (info.pacing_rate < u64::MAX).then_some(info.pacing_rate as f64 * 8.0),
        ..FlowGauges::default()
    }
}

/// Returns the counters of a connection that was opened so long ago. Silence before timeouts, single recoveries and the reasons of
/// reductions the kernel does not tell.
pub(super) fn end(info: &TcpInfo, age: Duration, bytes_delivered: u64) -> FlowEnd {
    // The opening segment carries no data.
    const SYN: u64 = 1;
    FlowEnd {
        statistics: Statistics {
            segments_sent: u64::from(info.data_segs_out) + SYN,
            retransmissions: info.total_retrans.into(),
            timeouts: info.total_rto.into(),
            ..Statistics::default()
        },
        limited: limited(info, age),
        // `~0` until the first sample.
        min_rtt: (info.min_rtt > 0 && info.min_rtt < u32::MAX).then(|| micros(info.min_rtt.into())),
        bytes_delivered,
        ..FlowEnd::default()
    }
}

fn limited(info: &TcpInfo, age: Duration) -> LimitedTimes {
    let busy = micros(info.busy_time);
    let (receiver, send_buffer) = (micros(info.rwnd_limited), micros(info.sndbuf_limited));
    LimitedTimes {
        idle: age.saturating_sub(busy),
        receiver,
        send_buffer,
        // `busy_time` contains the two limited times (`tcp_get_info_chrono_stats`).
        network: busy.saturating_sub(receiver + send_buffer),
        ..LimitedTimes::default()
    }
}
