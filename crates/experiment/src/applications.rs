//! The applications at both ends of a flow: who writes, and who listens.

use crate::endpoint::real_time::mean_period;
use earlybird_scenario::{AdaptiveDelay, Application, Client, DeadlineClient, Flow, Kind, Preset, Time};
use earlybird_traffic::{
    Application as Source, Bulk, Deadline, Feedback, Frame, Media, PathId, PlaybackDelay, Rebuffer, StartRule,
    Timetable, Viewer,
};
use earlybird_units::Duration;
use std::sync::Arc;

/// Makes what writes at a flow's sender.
pub(crate) fn source(flow: &Flow, path: PathId) -> Box<dyn Source> {
    match (timetable(flow), &flow.application) {
        (Some(timetable), _) => Box::new(Media::new(path, timetable)),
        (None, Application::Bulk(bulk)) => Box::new(Bulk::new(path, bulk.bytes)),
        // Web sessions are made elsewhere, and files have become media when a scenario is complete.
        (None, _) => Box::new(Bulk::new(path, Some(0))),
    }
}

/// Gives what a media flow writes, and when.
fn timetable(flow: &Flow) -> Option<Timetable> {
    let lead = flow.lead_time.map_or(Duration::ZERO, Time::duration);
    let timetable = match &flow.application {
        Application::Cbr(cbr) => {
            let packet = u64::from(cbr.packet);
            let constant = || Timetable::constant(cbr.rate.rate(), packet);
            let timetable = cbr.interval.map_or_else(constant, |seconds| Timetable::every(seconds, packet));
            timetable.ending_after(cbr.packets)
        }
        Application::Media(media) => {
            let frame =
                |(at, bytes): (&f64, &u32)| Frame { at: Duration::from_secs_f64(*at), bytes: u64::from(*bytes) };
            let frames: Arc<[Frame]> = media.times.iter().zip(&media.sizes).map(frame).collect();
            Timetable::clip(frames, Duration::from_secs_f64(media.length))
        }
        _ => return None,
    };
    Some(timetable.led_by(lead))
}

/// Makes who listens to a flow, if anybody does.
pub(crate) fn viewer(flow: &Flow, kind: Kind) -> Option<Viewer> {
    let timetable = timetable(flow)?;
    match flow.listener(kind)? {
        Client::Deadline(client) => Some(deadline(timetable, &client, flow, kind)),
        Client::Rebuffer(client) => {
            let start = StartRule::Units(u64::from(client.start));
            let player = Rebuffer::new(timetable, start, u64::from(client.resume));
            Some(Viewer::from(player.with_capacity(client.capacity.duration())))
        }
    }
}

fn deadline(timetable: Timetable, client: &DeadlineClient, flow: &Flow, kind: Kind) -> Viewer {
    let most = client.playback_delay.duration();
    let adaptive = |AdaptiveDelay { least, talkspurt }: &AdaptiveDelay| {
        let (least, talkspurt) = (least.duration(), *talkspurt);
        PlaybackDelay::Adaptive(earlybird_traffic::AdaptiveDelay { least, most, talkspurt })
    };
    let delay = client.adaptive.as_ref().map_or(PlaybackDelay::Fixed(most), adaptive);
    let heartbeat = client.heartbeat.map_or_else(|| usual_heartbeat(kind, flow), |time| Some(time.duration()));
    let feedback = Feedback {
        heartbeat: heartbeat.filter(|time| *time > Duration::ZERO),
        report: client.reports.map(Time::duration),
    };
    let player = Deadline::new(timetable, delay);
    let is_patient = client.patient.unwrap_or(kind == Kind::RealTime(Preset::EarlybirdRt));
    Viewer::from(if is_patient { player.patient() } else { player }).with_feedback(feedback)
}

/// Three periods of the stream (MTCP paper), with the transports whose receivers do that.
fn usual_heartbeat(kind: Kind, flow: &Flow) -> Option<Duration> {
    let beats = matches!(kind, Kind::RealTime(Preset::Mtcp | Preset::TcpRtm | Preset::EarlybirdRt));
    mean_period(flow).filter(|_| beats).map(|period| period * 3)
}
