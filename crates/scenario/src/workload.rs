//! The facts on a flow's application and client that its endpoints depend on.

use crate::model::{Application, Cbr, Client, DeadlineClient, Flow, Media};
use earlybird_transport::{Kind, Units, Workload};
use earlybird_units::Duration;

impl Flow {
    /// Returns the client: with a transport of the real-time mode there always is one, because the receiver skips when the
    /// client reads.
    pub fn listener(&self, kind: Kind) -> Option<Client> {
        let default = || kind.is_real_time().then(|| Client::Deadline(DeadlineClient::default()));
        self.client.clone().or_else(default)
    }

    /// Returns the time for which a unit is of use.
    pub fn playback_delay(&self, kind: Kind) -> Duration {
        match self.listener(kind) {
            Some(Client::Deadline(client)) => client.playback_delay.duration(),
            // A client that waits sets no deadline, but policies need one: the usual delay.
            Some(Client::Rebuffer(_)) | None => DeadlineClient::default().playback_delay.duration(),
        }
    }

    /// Returns what the endpoints depend on.
    pub fn workload(&self, kind: Kind) -> Workload<'_> {
        let units = match &self.application {
            Application::Cbr(cbr) => Units::Periodic { bytes: cbr.packet, period: cbr.period() },
            Application::Media(media) => Units::Clip { sizes: &media.sizes, seconds: media.length },
            // Bulk and web traffic have no units; sizes of live streams and segments are decided during the run.
            _ => Units::Unknown,
        };
        let is_ingest = matches!(self.application, Application::Ingest(_));
        let is_abandoned = matches!(&self.application, Application::Segments(film) if film.rule.abandons());
        Workload { deadline: self.playback_delay(kind), units, is_ingest, is_abandoned }
    }

    /// Returns the mean time between two units; `None` for applications that write no units.
    pub fn mean_period(&self) -> Option<Duration> {
        match &self.application {
            Application::Cbr(cbr) => Some(cbr.period()),
            Application::Media(Media { times, length, .. }) => {
                Some(Duration::from_secs_f64(length / times.len().max(1) as f64))
            }
            _ => None,
        }
    }
}

impl Cbr {
    /// Returns the time between two packets.
    pub fn period(&self) -> Duration {
        // From packet to packet the same: the part below a nanosecond, which a link carries on, is dropped.
        let by_rate = || self.rate.rate().transmission_time(u64::from(self.packet), &mut 0);
        self.interval.map_or_else(by_rate, Duration::from_secs_f64)
    }
}
