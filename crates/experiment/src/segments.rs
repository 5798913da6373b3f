//! Both ends of a film in segments.

use earlybird_scenario::{RateRule as Name, Segments, Time};
use earlybird_traffic::{
    Bola, Ladder, LearnToAdapt, PathId, Player, RateRule, SegmentClient, SegmentServer, Throughput, Viewer,
};
use earlybird_units::{Duration, Rate};

/// The lowest level of the buffer that BOLA goes by ÷ the highest one: 10 s and 30 s in dash.js.
const LEVELS: u64 = 3;

pub(crate) fn server(film: &Segments, path: PathId, lead: Duration) -> SegmentServer {
    SegmentServer::new(path, ladder(film), lead)
}

pub(crate) fn client(film: &Segments, lead: Duration) -> Viewer {
    let [start, most] = [film.start(), film.most()].map(Time::duration);
    // A live film never fills a buffer, as segments cannot be requested before they are encoded.
    // The server holds live requests back until the film exists.
    let capacity = if film.live { Duration::MAX } else { most };
    SegmentClient::new(ladder(film), rule(film, most), start, capacity, film.request).with_lead(lead).into()
}

fn ladder(film: &Segments) -> Ladder {
    let unit = film.unit().duration();
    Ladder {
        rates: film.ladder.iter().map(|rate| rate.rate()).collect::<Vec<Rate>>().into(),
        unit,
        parts: film.segment.duration().as_nanos() / unit.as_nanos().max(1),
        is_live: film.live,
    }
}

fn rule(film: &Segments, most: Duration) -> RateRule {
    match film.rule {
        Name::Throughput => RateRule::Throughput(Throughput::new(film.live)),
        Name::Bola => RateRule::Bola(Bola::new(Duration::from_nanos(most.as_nanos() / LEVELS), most)),
        Name::L2a => RateRule::LearnToAdapt(LearnToAdapt::new(film.live, film.segment.duration())),
        Name::HlsJs => RateRule::Player(Player::hls_js(film.live)),
        Name::DashJs => RateRule::Player(Player::dash_js()),
        Name::Shaka => RateRule::Player(Player::shaka()),
    }
}
