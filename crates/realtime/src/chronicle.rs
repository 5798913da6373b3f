//! The run's chronicle, which openers and links write on threads of their own.

use crate::run::failed;
use earlybird_experiment::{Chronicle, Outputs, RunError, Stage};
use earlybird_sim::{Observer, Packet, PacketEvent};
use earlybird_units::Instant;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A chronicle that several write.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Mutex<Chronicle>>);

impl Shared {
    /// Begins one, if files are asked for that it writes; see [`Chronicle::open`].
    pub(crate) fn open(stage: &Stage<'_>, outputs: &Outputs, openers_tell: bool) -> Result<Option<Self>, RunError> {
        let chronicle = Chronicle::open(stage, outputs, openers_tell)?;
        Ok(chronicle.map(|chronicle| Self(Arc::new(Mutex::new(chronicle)))))
    }

    /// Returns it to write. Whoever failed while it wrote has ended the run.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Chronicle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the files, when nobody else has it any more.
    pub(crate) fn finish(self, stage: &Stage<'_>) -> Result<(), RunError> {
        let chronicle = Arc::into_inner(self.0).map(Mutex::into_inner);
        match chronicle {
            Some(chronicle) => chronicle.unwrap_or_else(PoisonError::into_inner).finish(stage),
            None => Err(failed("the trace cannot be written", io::Error::other("somebody still writes it"))),
        }
    }
}

impl Observer for Shared {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        self.lock().on_packet(at, event, packet);
    }
}
