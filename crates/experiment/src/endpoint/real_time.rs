//! The real-time mode of a flow: what its transport's authors describe, changed by what the scenario says.

use earlybird_scenario::{
    Application, Backlog, Cbr, Client, Control, DeadlineClient, Delivery, Endpoint, Flow, Media, RealTime, SendLimit,
    Time,
};
use earlybird_tcp as tcp;
use earlybird_units::Duration;

/// Gives the mode of a flow's connections.
pub(super) fn mode_of(endpoint: &Endpoint, flow: &Flow) -> tcp::RealTime {
    let control = endpoint.transport.control;
    if !control.is_real_time() {
        return tcp::RealTime::default();
    }
    let playback_delay = match flow.listener(control) {
        Some(Client::Deadline(client)) => client.playback_delay,
        _ => DeadlineClient::default().playback_delay,
    };
    let mode = over(&endpoint.real_time, preset(control, playback_delay));
    let limit = limit_of(mode.send_limit, flow, playback_delay, endpoint.mss);
    tcp::RealTime {
        delivery: delivery_of(mode.delivery),
        backlog: backlog_of(mode.backlog, limit),
        framing: true,
        skip_notice: mode.skip_notice.unwrap_or(false),
        skip_response: if mode.skip_reduces == Some(true) {
            tcp::SkipResponse::Reduce
        } else {
            tcp::SkipResponse::None
        },
        never_retransmits: mode.retransmit == Some(false),
    }
}

/// What is known of each proposal, and what we assume where nothing is (docs/real-time-mode.md).
fn preset(control: Control, playback_delay: Time) -> RealTime {
    let ordinary = RealTime {
        delivery: Some(Delivery::InOrder),
        backlog: Some(Backlog::Block),
        send_limit: Some(SendLimit::Unlimited),
        skip_notice: Some(false),
        skip_reduces: Some(false),
        retransmit: Some(true),
    };
    let skipping = RealTime {
        delivery: Some(Delivery::SkipWhenWaiting),
        backlog: Some(Backlog::DiscardOldest),
        send_limit: Some(SendLimit::PlaybackDelay),
        skip_notice: Some(true),
        ..ordinary.clone()
    };
    let past_deadline = Some(Backlog::DiscardPastDeadline(playback_delay));
    match control {
        Control::Mtcp | Control::TcpRtm => skipping,
        Control::EarlybirdRt => RealTime { backlog: past_deadline, ..skipping },
        Control::Tltcp => RealTime { backlog: past_deadline, ..skipping },
        Control::TcpRc => RealTime { delivery: Some(Delivery::SkipWhenWaiting), ..ordinary },
        Control::Mtp => RealTime {
            delivery: Some(Delivery::SkipAtDeadline(Time::from(Duration::ZERO))),
            skip_reduces: Some(true),
            retransmit: Some(false),
            ..skipping
        },
        Control::LimitedBuffer => {
            RealTime { send_limit: Some(SendLimit::Cwnd(earlybird_scenario::WindowLimit::default())), ..ordinary }
        }
        _ => ordinary,
    }
}

/// Gives `preset` with what `own` says in its place.
fn over(own: &RealTime, preset: RealTime) -> RealTime {
    RealTime {
        delivery: own.delivery.or(preset.delivery),
        backlog: own.backlog.or(preset.backlog),
        send_limit: own.send_limit.or(preset.send_limit),
        skip_notice: own.skip_notice.or(preset.skip_notice),
        skip_reduces: own.skip_reduces.or(preset.skip_reduces),
        retransmit: own.retransmit.or(preset.retransmit),
    }
}

fn delivery_of(delivery: Option<Delivery>) -> tcp::Delivery {
    match delivery {
        Some(Delivery::SkipWhenWaiting) => tcp::Delivery::SkipWhenWaiting,
        Some(Delivery::SkipAtDeadline(deadline)) => tcp::Delivery::SkipAtDeadline(deadline.duration()),
        Some(Delivery::InOrder) | None => tcp::Delivery::InOrder,
    }
}

fn backlog_of(backlog: Option<Backlog>, limit: tcp::SendLimit) -> tcp::Backlog {
    match backlog {
        Some(Backlog::DiscardOldest) => tcp::Backlog::DiscardOldest(limit),
        Some(Backlog::DiscardPastDeadline(deadline)) => tcp::Backlog::DiscardPastDeadline(deadline.duration()),
        Some(Backlog::Block) | None => tcp::Backlog::Block(limit),
    }
}

fn limit_of(limit: Option<SendLimit>, flow: &Flow, playback_delay: Time, mss: Option<u16>) -> tcp::SendLimit {
    match limit {
        Some(SendLimit::Packets(packets)) => tcp::SendLimit::Segments(packets),
        Some(SendLimit::Cwnd(window)) => tcp::SendLimit::Window { per_window: window.factor, extra: window.extra },
        Some(SendLimit::PlaybackDelay) => {
            tcp::SendLimit::Segments(segments_during(flow, playback_delay.duration(), mss.unwrap_or(1000)))
        }
        Some(SendLimit::Unlimited) | None => tcp::SendLimit::Unlimited,
    }
}

/// Gives the segments that a flow writes in a time, rounded up.
fn segments_during(flow: &Flow, time: Duration, mss: u16) -> u32 {
    let parts = |bytes: u32| bytes.div_ceil(u32::from(mss));
    match &flow.application {
        Application::Cbr(cbr) => {
            let units = (time.as_secs_f64() / period_of(cbr).as_secs_f64()).ceil() as u32;
            units * parts(cbr.packet)
        }
        Application::Media(media) => {
            let segments: u32 = media.sizes.iter().map(|bytes| parts(*bytes)).sum();
            (f64::from(segments) * time.as_secs_f64() / media.length).ceil() as u32
        }
        _ => u32::MAX,
    }
}

/// Gives the time between two packets.
pub(crate) fn period_of(cbr: &Cbr) -> Duration {
    cbr.rate.rate().transmission_time(u64::from(cbr.packet), &mut 0)
}

/// Gives the mean time between two units of a media flow; `None` if it has none.
pub(crate) fn mean_period(flow: &Flow) -> Option<Duration> {
    match &flow.application {
        Application::Cbr(cbr) => Some(period_of(cbr)),
        Application::Media(Media { times, length, .. }) => {
            Some(Duration::from_secs_f64(length / times.len().max(1) as f64))
        }
        _ => None,
    }
}
