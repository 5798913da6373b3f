//! The real-time mode of a flow: what its transport's authors describe, changed by what the scenario says.

use earlybird_scenario::{
    Application, Backlog, Cbr, Client, DeadlineClient, Delivery, Endpoint, Flow, Kind, Media, Preset, SendLimit,
};
use earlybird_tcp as tcp;
use earlybird_units::Duration;

/// Returns the mode of a flow's connections: its transport's preset, changed by what the scenario says.
///
/// What a scenario says for all flows is read by those that have the mode.
pub(super) fn mode_of(endpoint: &Endpoint, flow: &Flow) -> tcp::RealTime {
    let Kind::RealTime(preset) = endpoint.transport.kind else { return tcp::RealTime::default() };
    let deadline = playback_delay(endpoint.transport.kind, flow);
    let mss = endpoint.config(deadline).mss;
    let limit_of = |limit: SendLimit| limit_of(limit, flow, deadline, mss);
    let preset = mode(preset, deadline, limit_of(SendLimit::PlaybackDelay));
    let own = &endpoint.real_time;
    tcp::RealTime {
        delivery: own.delivery.map_or(preset.delivery, delivery_of),
        backlog: backlog_of(own.backlog, own.send_limit.map(limit_of), preset.backlog),
        skip_notice: own.skip_notice.unwrap_or(preset.skip_notice),
        skip_response: own.skip_reduces.map_or(preset.skip_response, response_of),
        never_retransmits: own.retransmit.map_or(preset.never_retransmits, |retransmit| !retransmit),
        replaces_after: own.replace_late.map_or(preset.replaces_after, |replaces| replaces.then_some(deadline)),
        ..preset
    }
}

/// Returns the time within which a frame is of use.
pub(super) fn playback_delay(kind: Kind, flow: &Flow) -> Duration {
    match flow.listener(kind) {
        Some(Client::Deadline(client)) => client.playback_delay.duration(),
        Some(Client::Rebuffer(_)) | None => DeadlineClient::default().playback_delay.duration(),
    }
}

fn mode(preset: Preset, deadline: Duration, limit: tcp::SendLimit) -> tcp::RealTime {
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

/// Returns the backlog; a limit of its own replaces the preset's.
fn backlog_of(own: Option<Backlog>, limit: Option<tcp::SendLimit>, preset: tcp::Backlog) -> tcp::Backlog {
    let of_preset = match preset {
        tcp::Backlog::Block(limit) | tcp::Backlog::DiscardOldest(limit) => limit,
        tcp::Backlog::DiscardPastDeadline(_) | tcp::Backlog::DiscardHopeless(_) => tcp::SendLimit::Unlimited,
    };
    let limit = limit.unwrap_or(of_preset);
    match (own, preset) {
        (Some(Backlog::Block), _) | (None, tcp::Backlog::Block(_)) => tcp::Backlog::Block(limit),
        (Some(Backlog::DiscardOldest), _) | (None, tcp::Backlog::DiscardOldest(_)) => {
            tcp::Backlog::DiscardOldest(limit)
        }
        (Some(Backlog::DiscardPastDeadline(deadline)), _) => tcp::Backlog::DiscardPastDeadline(deadline.duration()),
        (Some(Backlog::DiscardHopeless(deadline)), _) => tcp::Backlog::DiscardHopeless(deadline.duration()),
        (None, _) => preset,
    }
}

fn limit_of(limit: SendLimit, flow: &Flow, deadline: Duration, mss: u16) -> tcp::SendLimit {
    match limit {
        SendLimit::Unlimited => tcp::SendLimit::Unlimited,
        SendLimit::Packets(packets) => tcp::SendLimit::Segments(packets),
        SendLimit::Cwnd(window) => tcp::SendLimit::Window { per_window: window.factor, extra: window.extra },
        SendLimit::PlaybackDelay => tcp::SendLimit::Segments(segments_during(flow, deadline, mss)),
    }
}

/// Returns the segments that a flow writes in a time, rounded up.
fn segments_during(flow: &Flow, time: Duration, mss: u16) -> u32 {
    let parts = |bytes: u32| bytes.div_ceil(u32::from(mss));
    match &flow.application {
        Application::Cbr(cbr) => {
            let units = (time.as_secs_f64() / period_of(cbr).as_secs_f64()).ceil() as u32;
            units.saturating_mul(parts(cbr.packet))
        }
        Application::Media(media) => {
            let segments: u64 = media.sizes.iter().map(|bytes| u64::from(parts(*bytes))).sum();
            (segments as f64 * time.as_secs_f64() / media.length).ceil() as u32
        }
        _ => u32::MAX,
    }
}

/// Returns the time between two packets.
pub(crate) fn period_of(cbr: &Cbr) -> Duration {
    let by_rate = || cbr.rate.rate().transmission_time(u64::from(cbr.packet), &mut 0);
    cbr.interval.map_or_else(by_rate, Duration::from_secs_f64)
}

/// Returns the mean time between two units of a media flow; `None` if it has none.
pub(crate) fn mean_period(flow: &Flow) -> Option<Duration> {
    match &flow.application {
        Application::Cbr(cbr) => Some(period_of(cbr)),
        Application::Media(Media { times, length, .. }) => {
            Some(Duration::from_secs_f64(length / times.len().max(1) as f64))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_scenario::resolve;

    const CALL: &str = include_str!("../../../../scenarios/audio-call.toml");

    fn mode_with(changes: &[(&str, &str)]) -> tcp::RealTime {
        let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let scenario = resolve(CALL, &changes).expect("a scenario");
        let flow = &scenario.flows[0];
        mode_of(&scenario.endpoint_of(flow).expect("an endpoint"), flow)
    }

    #[test]
    fn mtcp_holds_what_is_written_during_the_playback_delay() {
        let limit = tcp::SendLimit::Segments(13);
        assert_eq!(mode_with(&[]), tcp::RealTime::mtcp(limit), "250 ms of a packet every 20 ms");
    }

    #[test]
    fn an_ordinary_transport_reads_nothing_of_the_mode_that_is_set_for_all_flows() {
        let skipping = ("endpoint.real-time", "{ delivery = \"skip-when-waiting\" }");
        assert_eq!(mode_with(&[("transport", "sack"), skipping]), tcp::RealTime::default());
        assert_eq!(mode_with(&[("transport", "limited-buffer"), skipping]).delivery, tcp::Delivery::SkipWhenWaiting);
    }
}
