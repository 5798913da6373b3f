//! At which rates a film in segments was requested and played.

use earlybird_scenario::Segments;
use earlybird_traffic::Request;
use earlybird_units::Duration;

/// The rates of one viewer's film.
#[derive(Clone, Debug)]
pub(crate) struct Renditions {
    pub(crate) rows: Vec<Rendition>,
    /// The number of the rate of each segment that was requested.
    rungs: Vec<usize>,
    /// Playing time of a part, and parts of a segment.
    unit: Duration,
    parts: u64,
}

/// One rate of the ladder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rendition {
    pub(crate) bits_per_second: u64,
    pub(crate) requested: u64,
    pub(crate) abandoned: u64,
    pub(crate) played: Duration,
}

impl Renditions {
    pub(crate) fn of(film: &Segments) -> Self {
        let row = |bits_per_second| Rendition { bits_per_second, requested: 0, abandoned: 0, played: Duration::ZERO };
        let unit = film.unit().duration();
        Self {
            rows: film.ladder.iter().map(|rate| row(rate.rate().bits_per_second())).collect(),
            rungs: Vec::new(),
            unit,
            parts: film.segment.duration().as_nanos() / unit.as_nanos().max(1),
        }
    }

    pub(crate) fn on_requested(&mut self, request: Request) {
        self.rows[request.rung].requested += 1;
        if request.replaces
            && let Some(former) = self.rungs.pop()
        {
            self.rows[former].abandoned += 1;
        }
        self.rungs.push(request.rung);
    }

    pub(crate) fn on_played(&mut self, unit: u64) {
        let rung = self.rungs.get((unit / self.parts) as usize);
        if let Some(row) = rung.and_then(|rung| self.rows.get_mut(*rung)) {
            row.played += self.unit;
        }
    }

    /// Returns the playing time of what was played.
    pub(crate) fn played(&self) -> Duration {
        self.rows.iter().fold(Duration::ZERO, |sum, row| sum + row.played)
    }
}
