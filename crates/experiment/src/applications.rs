//! The applications at both ends of a flow: who writes, and who listens.

use crate::segments;
use earlybird_scenario::{AdaptiveDelay, Application, Client, DeadlineClient, Flow, Ingest, Kind, Preset, Time};
use earlybird_traffic::{
    Bulk, Content, Deadline, DropThresholds, Feedback, Film, Frame, Media, Packet, PathId, Picture, PlaybackDelay,
    Rebuffer, Relief, SenderApp, StartRule, Timetable, Viewer,
};
use earlybird_units::Duration;
use std::sync::Arc;

/// Creates the application of a flow's sender.
pub(crate) fn source(flow: &Flow, path: PathId) -> Box<dyn SenderApp> {
    match (timetable(flow), &flow.application) {
        (Some(timetable), _) => Box::new(Media::new(path, timetable)),
        (None, Application::Bulk(bulk)) => Box::new(Bulk::new(path, bulk.bytes)),
        (None, Application::Ingest(ingest)) => Box::new(live(ingest, path, lead_of(flow))),
        (None, Application::Segments(film)) => Box::new(segments::server(film, path, lead_of(flow))),
        // Web sessions are made elsewhere, and files have become media when a scenario is complete.
        (None, _) => Box::new(Bulk::new(path, Some(0))),
    }
}

fn lead_of(flow: &Flow) -> Duration {
    flow.lead_time.map_or(Duration::ZERO, Time::duration)
}

/// Creates the application of a live stream.
fn live(ingest: &Ingest, path: PathId, lead: Duration) -> earlybird_traffic::Ingest {
    let film = ingest.film();
    let kilobits = |rate: f64| (rate / 1e3) as u64;
    let relief = if ingest.dynamic_bitrate {
        Relief::Bitrate { pictures: kilobits(film.picture_rate()), sound: kilobits(film.sound_rate()) }
    } else {
        let [both, earlier] = ingest.thresholds().map(Time::duration);
        Relief::Drop(DropThresholds { both, earlier })
    };
    earlybird_traffic::Ingest::new(path, packets_of(&film), lead, relief)
}

/// Returns pictures and sound in order of time; of both at one time the picture first.
fn packets_of(film: &earlybird_scenario::Film) -> Film {
    let packet = |content| {
        move |(at, bytes): (&f64, &u32)| Packet { at: Duration::from_secs_f64(*at), bytes: u64::from(*bytes), content }
    };
    let kind = |letter| match letter {
        'I' => Picture::Key,
        'P' => Picture::Earlier,
        _ => Picture::Both,
    };
    let pictures = film.times.iter().zip(&film.sizes).zip(film.kinds.chars());
    let pictures = pictures.map(|(row, letter)| packet(Content::Picture(kind(letter)))(row));
    let sound = film.audio.iter().flat_map(|sound| sound.times.iter().zip(&sound.sizes)).map(packet(Content::Sound));
    let mut packets: Vec<Packet> = pictures.chain(sound).collect();
    // Stable, so that a picture stays before the sound of the same time, as muxers write them.
    packets.sort_by_key(|packet| packet.at);
    Film::new(packets.into(), Duration::from_secs_f64(film.length))
}

/// Returns the units that a media flow writes, and their times.
fn timetable(flow: &Flow) -> Option<Timetable> {
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
    Some(timetable.led_by(lead_of(flow)))
}

/// Makes who listens to a flow, if anybody does.
pub(crate) fn viewer(flow: &Flow, kind: Kind) -> Option<Viewer> {
    if let Application::Segments(film) = &flow.application {
        return Some(segments::client(film, lead_of(flow)));
    }
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
    // Waiting lets a transport repair until the deadline: the default of our own preset.
    let skips_only_when_due = client.patient.unwrap_or(kind == Kind::RealTime(Preset::EarlybirdRt));
    Viewer::from(if skips_only_when_due { player.skip_only_when_due() } else { player }).with_feedback(feedback)
}

/// Three periods of the stream (MTCP paper), with the transports whose receivers do that.
fn usual_heartbeat(kind: Kind, flow: &Flow) -> Option<Duration> {
    let beats = matches!(kind, Kind::RealTime(Preset::Mtcp | Preset::TcpRtm | Preset::EarlybirdRt));
    flow.mean_period().filter(|_| beats).map(|period| period * 3)
}
