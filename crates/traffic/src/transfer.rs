use earlybird_units::Instant;

/// What a completed transfer was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// A file of a given size: all that its flow sends.
    File,
    /// An object of the web: the request and its answer.
    Object,
    /// A page of the web with all its objects.
    Page,
}

/// A transfer of a given amount of data that is complete: all of it was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What it was.
    pub kind: TransferKind,
    /// When it began: when its connection was opened, or its request written.
    pub began: Instant,
}
