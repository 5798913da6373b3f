//! The emulated links of a run: a thread of their own carries their packets.

use crate::event_log::SharedEventLog;
use earlybird_emulator::{Bridge, BridgeObserver, BridgeStats, Capture, Emulator, Side};
use earlybird_experiment::DropLog;
use earlybird_sim::{LinkId, Network};
use earlybird_units::{Duration, Instant};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// The results of the thread that carries packets.
pub(crate) struct LinksEnd {
    pub(crate) network: Network,
    pub(crate) drops: DropLog,
    /// Samples of queue lengths.
    pub(crate) backlogs: Vec<(Instant, LinkId, usize)>,
    pub(crate) stats: BridgeStats,
    pub(crate) capture: Option<Capture>,
}

/// The observers of the emulated links.
pub type LinksLog = (DropLog, Option<SharedEventLog>);

/// Carries packets until `stop` is set.
pub(crate) fn carry(
    mut bridge: Bridge,
    mut emulator: Emulator<LinksLog>,
    samples: Option<Samples>,
    capture: Option<Capture>,
    stop: &AtomicBool,
) -> io::Result<LinksEnd> {
    let mut monitor = LinkMonitor { stop, samples, pause: MAX_INTERVAL, backlogs: Vec::new(), capture };
    let outcome = bridge.run(&mut emulator, &mut monitor);
    // Without links there is no run: release all waiting threads.
    // The applications must not wait for packets without links.
    stop.store(true, Ordering::Relaxed);
    outcome?;
    let LinkMonitor { backlogs, capture, .. } = monitor;
    let (network, (drops, _)) = emulator.into_parts();
    Ok(LinksEnd { network, drops, backlogs, stats: bridge.stats().clone(), capture })
}

/// The times at which samples are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Samples {
    next: Instant,
    period: Duration,
    end: Instant,
}

impl Samples {
    /// Makes samples at the start and after every period up to the end.
    pub(crate) const fn every(period: Duration, end: Instant) -> Self {
        Self { next: Instant::ZERO, period, end }
    }

    /// Returns the time of the next one, if there is one.
    pub(crate) fn next(&self) -> Option<Instant> {
        (self.next < self.end).then_some(self.next)
    }

    /// Returns whether one is due; if so, those that were missed are left out.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.next().is_some_and(|next| next <= now);
        if is_due {
            // Skip missed samples instead of taking several at once: they would all show the same state.
            self.next += self.period * (now.since(self.next).as_nanos() / self.period.as_nanos().max(1) + 1);
        }
        is_due
    }
}

struct LinkMonitor<'a> {
    stop: &'a AtomicBool,
    samples: Option<Samples>,
    /// Time to the next look.
    pause: Duration,
    backlogs: Vec<(Instant, LinkId, usize)>,
    capture: Option<Capture>,
}

/// Longest time between two checks of `stop`.
const MAX_INTERVAL: Duration = Duration::from_millis(20);

impl BridgeObserver<LinksLog> for LinkMonitor<'_> {
    fn poll(&mut self, now: Instant, emulator: &mut Emulator<LinksLog>, _: &BridgeStats) -> bool {
        if self.samples.as_mut().is_some_and(|samples| samples.is_due(now)) {
            for link in 0..emulator.network().links().count() as u32 {
                self.backlogs.push((now, LinkId(link), emulator.backlog(now, LinkId(link))));
            }
        }
        let next = self.samples.and_then(|samples| samples.next());
        self.pause = next.map_or(MAX_INTERVAL, |next| next.since(now).min(MAX_INTERVAL));
        !self.stop.load(Ordering::Relaxed)
    }

    fn interval(&self) -> Duration {
        self.pause
    }

    fn on_packet(&mut self, at: Instant, device: Side, _is_entering: bool, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.write(at, device, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_keep_their_times_and_those_missed_are_left_out() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut samples = Samples::every(Duration::from_millis(100), at(1000));
        assert!(samples.is_due(at(0)) && !samples.is_due(at(99)) && samples.is_due(at(103)));
        assert_eq!(samples.next(), Some(at(200)));
        assert!(samples.is_due(at(730)));
        assert_eq!(samples.next(), Some(at(800)));
        assert!(samples.is_due(at(950)) && !samples.is_due(at(1200)));
    }
}
