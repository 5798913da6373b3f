//! Snack of what the peer's reader stepped over (SNACK), read from its ACKs.

use super::Connection;
use super::events::Event;
use crate::send::partial::SnackReport;
use crate::send::partial::snack::Skip;
use earlybird_wire::SkipNotice;

impl Connection {
    /// Reads the notice of a segment that acknowledges up to stream position `ack`, before the scoreboard learns of that; gives
    /// and tells what is new in it.
    #[cold]
    pub(super) fn read_notice(&mut self, notice: SkipNotice, ack: u64) -> Option<Skip> {
        let SkipNotice::Skipped { total, first, segments } = notice else { return None };
        if !self.peer.skip_notice {
            return None;
        }
        let first = first.unwrap_near(self.local_origin, self.sender.buffer().scoreboard().una_position());
        let skip = self.sender.read_snack(SnackReport { total, first, segments: u64::from(segments), ack })?;
        self.events.tell(Event::LossReported);
        Some(skip)
    }
}
