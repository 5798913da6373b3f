//! The event log of a run, shared by the threads of openers and links.

use crate::error::machine_error;
use earlybird_experiment::{LiveEventLog, Outputs, RunError, RunSetup};
use earlybird_sim::{Observer, Packet, PacketEvent};
use earlybird_units::Instant;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An event log with several writers.
#[derive(Clone, Debug)]
pub struct SharedEventLog(Arc<Mutex<LiveEventLog>>);

impl SharedEventLog {
    /// Opens an event log, if its files are requested; see [`LiveEventLog::open`].
    pub(crate) fn open(
        setup: &RunSetup<'_>,
        outputs: &Outputs,
        openers_report: bool,
    ) -> Result<Option<Self>, RunError> {
        let event_log = LiveEventLog::open(setup, outputs, openers_report)?;
        Ok(event_log.map(|event_log| Self(Arc::new(Mutex::new(event_log)))))
    }

    /// Locks the log. A panic of another writer has ended the run already, so poisoning is ignored.
    pub(crate) fn lock(&self) -> MutexGuard<'_, LiveEventLog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the files. All other handles must be dropped.
    pub(crate) fn finish(self, setup: &RunSetup<'_>) -> Result<(), RunError> {
        // The other handles end with the threads of links and openers.
        let event_log = Arc::into_inner(self.0).map(Mutex::into_inner);
        match event_log {
            Some(event_log) => event_log.unwrap_or_else(PoisonError::into_inner).finish(setup),
            None => Err(machine_error("the trace cannot be written", io::Error::other("somebody still writes it"))),
        }
    }
}

impl Observer for SharedEventLog {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        self.lock().on_packet(at, event, packet);
    }
}
