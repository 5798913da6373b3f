//! The handoff between the thread that runs the script and the one of a blocking call.

use crate::time::Micros;

/// The state of the handoff between both threads.
#[derive(Debug, Default)]
pub(crate) struct Handoff {
    /// Whether a call is blocked.
    pub(crate) is_waiting: bool,
    /// The time at which the wait times out.
    pub(crate) wake_at: Option<Micros>,
    /// Whether an event happened since its last attempt.
    pub(crate) has_event: bool,
    /// Whether a call was woken and has not read the clock yet.
    pub(crate) is_returning: bool,
    /// Whether a call has returned and not reported to packetdrill yet.
    pub(crate) has_returned: bool,
}

impl Handoff {
    pub(crate) fn wake_at(&self) -> Option<Micros> {
        self.wake_at
    }
}
