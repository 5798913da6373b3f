//! The real-time mode of an endpoint: the preset of its transport, changed by the table `real-time`.

use crate::name::{Kind, Preset};
use crate::settings::{Backlog, Delivery, Endpoint, SendLimit};
use earlybird_tcp as tcp;
use earlybird_units::Duration;

/// The properties of an application on which the configuration of its endpoint depends.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'a> {
    /// Time for which a unit is of use after it was written.
    pub deadline: Duration,
    /// The units that are written.
    pub units: Units<'a>,
    /// Whether a live encoder writes, which drops frames while the socket is full.
    pub is_ingest: bool,
    /// Whether its viewer abandons segments that are on their way.
    pub is_abandoned: bool,
}

/// The units that an application writes.
#[derive(Clone, Copy, Debug)]
pub enum Units<'a> {
    /// Units of one size in bytes, at fixed intervals.
    Periodic {
        /// Bytes of a unit.
        bytes: u32,
        /// Time between two units.
        period: Duration,
    },
    /// A clip of units of given sizes in bytes.
    Clip {
        /// Bytes of each unit.
        sizes: &'a [u32],
        /// Length of the clip in seconds.
        seconds: f64,
    },
    /// Units of unknown sizes, or a stream without units.
    Unknown,
}

impl Units<'_> {
    /// Returns the segments that are written in a time, rounded up; the largest number if the units are unknown.
    fn segments_during(self, time: Duration, mss: u16) -> u32 {
        // A unit never shares a segment with another one in real-time mode.
        let segments = |bytes: u32| bytes.div_ceil(u32::from(mss));
        match self {
            Self::Periodic { bytes, period } => {
                // A part of a period counts in full: a limit that is too small would drop a unit that is in time.
                let units = (time.as_secs_f64() / period.as_secs_f64()).ceil() as u32;
                units.saturating_mul(segments(bytes))
            }
            Self::Clip { sizes, seconds } => {
                let total: u64 = sizes.iter().map(|bytes| u64::from(segments(*bytes))).sum();
                // The mean of the clip: a limit by its largest pictures would be far too large for the rest of it.
                (total as f64 * time.as_secs_f64() / seconds).ceil() as u32
            }
            Self::Unknown => u32::MAX,
        }
    }
}

impl Endpoint {
    /// Returns the real-time mode of a connection; the default, which is ordinary TCP, for transports without one.
    pub(crate) fn mode(&self, workload: &Workload<'_>) -> tcp::RealTime {
        // The table may be given for all flows of a scenario: transports without the mode do not read it.
        let Kind::RealTime(preset) = self.transport.kind else { return tcp::RealTime::default() };
        let Workload { deadline, units, .. } = *workload;
        // Segment size after all settings, as units are cut into these segments.
        let mss = self.config(deadline).segments.mss;
        let limit_of = |limit: SendLimit| match limit {
            SendLimit::Unlimited => tcp::SendBufferLimit::Unlimited,
            SendLimit::Packets(packets) => tcp::SendBufferLimit::Segments(packets),
            SendLimit::Cwnd(window) => tcp::SendBufferLimit::Window { per_window: window.factor, extra: window.extra },
            SendLimit::PlaybackDelay => tcp::SendBufferLimit::Segments(units.segments_during(deadline, mss)),
        };
        let preset = mode_of(preset, deadline, limit_of(SendLimit::PlaybackDelay));
        let own = &self.real_time;
        tcp::RealTime {
            delivery: own.delivery.map_or(preset.delivery, delivery_of),
            backlog: backlog_of(own.backlog, own.send_limit.map(limit_of), preset.backlog),
            abandoned_stay_in_flight: own.discard_keeps_flight.unwrap_or(preset.abandoned_stay_in_flight),
            skip_notice: own.skip_notice.unwrap_or(preset.skip_notice),
            skip_response: own.skip_reduces.map_or(preset.skip_response, response_of),
            never_retransmits: own.retransmit.map_or(preset.never_retransmits, |retransmit| !retransmit),
            replaces_after: own.replace_late.map_or(preset.replaces_after, |replaces| replaces.then_some(deadline)),
            ..preset
        }
    }
}

fn mode_of(preset: Preset, deadline: Duration, limit: tcp::SendBufferLimit) -> tcp::RealTime {
    match preset {
        Preset::Mtcp | Preset::TcpRtm => tcp::RealTime::mtcp(limit),
        Preset::Tltcp => tcp::RealTime::tltcp(deadline),
        Preset::TcpRc => tcp::RealTime::tcp_rc(),
        Preset::Mtp => tcp::RealTime::mtp(limit),
        Preset::LimitedBuffer => tcp::RealTime::limited_buffer(),
        Preset::Hollywood => tcp::RealTime::hollywood(deadline),
        Preset::EarlybirdRt => tcp::RealTime::earlybird_rt(deadline),
    }
}

fn response_of(reduces: bool) -> tcp::SkipResponse {
    if reduces { tcp::SkipResponse::Reduce } else { tcp::SkipResponse::None }
}

fn delivery_of(delivery: Delivery) -> tcp::Delivery {
    match delivery {
        Delivery::InOrder => tcp::Delivery::InOrder,
        Delivery::SkipWhenWaiting => tcp::Delivery::SkipWhenWaiting,
        Delivery::SkipAtDeadline(deadline) => tcp::Delivery::SkipAtDeadline(deadline.duration()),
        Delivery::Unordered => tcp::Delivery::Unordered,
    }
}

/// Returns the backlog. A limit of its own replaces the preset's.
fn backlog_of(own: Option<Backlog>, limit: Option<tcp::SendBufferLimit>, preset: tcp::Backlog) -> tcp::Backlog {
    let of_preset = match preset {
        tcp::Backlog::Block(limit) | tcp::Backlog::AbandonOldest(limit) => limit,
        // Deadlines bound the backlog by time: a preset with one has no limit to inherit.
        tcp::Backlog::AbandonPastDeadline(_) | tcp::Backlog::AbandonUndeliverable(_) => tcp::SendBufferLimit::Unlimited,
    };
    let limit = limit.unwrap_or(of_preset);
    match (own, preset) {
        (Some(Backlog::Block), _) | (None, tcp::Backlog::Block(_)) => tcp::Backlog::Block(limit),
        (Some(Backlog::DiscardOldest), _) | (None, tcp::Backlog::AbandonOldest(_)) => {
            tcp::Backlog::AbandonOldest(limit)
        }
        (Some(Backlog::DiscardPastDeadline(deadline)), _) => tcp::Backlog::AbandonPastDeadline(deadline.duration()),
        (Some(Backlog::DiscardHopeless(deadline)), _) => tcp::Backlog::AbandonUndeliverable(deadline.duration()),
        (None, _) => preset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RealTime, Transports};

    const CALL: Workload<'_> = Workload {
        deadline: Duration::from_millis(250),
        units: Units::Periodic { bytes: 160, period: Duration::from_millis(20) },
        is_ingest: false,
        is_abandoned: false,
    };

    fn mode_with(transport: &str, real_time: RealTime) -> tcp::RealTime {
        let transport = Transports::built_in().parse(transport).expect("a transport");
        Endpoint { transport, real_time, ..Endpoint::default() }.mode(&CALL)
    }

    #[test]
    fn mtcp_holds_what_is_written_during_the_playback_delay() {
        let limit = tcp::SendBufferLimit::Segments(13);
        assert_eq!(
            mode_with("mtcp", RealTime::default()),
            tcp::RealTime::mtcp(limit),
            "250 ms of a packet every 20 ms"
        );
    }

    #[test]
    fn an_ordinary_transport_reads_nothing_of_the_mode() {
        let skipping = || RealTime { delivery: Some(Delivery::SkipWhenWaiting), ..RealTime::default() };
        assert_eq!(mode_with("sack", skipping()), tcp::RealTime::default());
        assert_eq!(mode_with("limited-buffer", skipping()).delivery, tcp::Delivery::SkipWhenWaiting);
    }
}
