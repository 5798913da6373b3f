use crate::{ConnectionId, PathId, SenderApp, SenderIo, Transfer, TransferKind};
use earlybird_units::Instant;

/// A transfer of a given size, or one that never ends.
#[derive(Clone, Debug)]
pub struct Bulk {
    path: PathId,
    bytes: Option<u64>,
    began: Instant,
}

/// More than any run can send, and far from overflowing a stream position.
const ENDLESS: u64 = 1 << 60;

impl Bulk {
    /// Makes a transfer of `bytes`; `None` never ends.
    pub const fn new(path: PathId, bytes: Option<u64>) -> Self {
        Self { path, bytes, began: Instant::ZERO }
    }
}

impl SenderApp for Bulk {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        self.began = io.now();
        let connection = io.open(self.path);
        // 2^60 bytes outlast any run.
        io.write(connection, self.bytes.unwrap_or(ENDLESS));
    }

    fn on_drained(&mut self, io: &mut dyn SenderIo, connection: ConnectionId) {
        if self.bytes.is_some() {
            io.complete(Transfer { kind: TransferKind::File, began: self.began });
        }
        io.close(connection);
    }
}
