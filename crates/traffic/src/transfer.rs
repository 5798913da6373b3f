use earlybird_units::Instant;

/// The kind of a completed transfer.
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
    /// The kind of transfer.
    pub kind: TransferKind,
    /// The time at which its connection was opened, or its request written.
    pub began: Instant,
}
