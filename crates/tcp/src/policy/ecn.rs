//! Modes of explicit congestion notification.

/// Whether to take part in explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// No.
    #[default]
    Off,
    /// As RFC 3168 §6.1 has it: marks are echoed until the sender says that it reduced its window.
    Classic,
    /// With the more accurate feedback of RFC 9768, or as [`Self::Classic`] with a peer that does not know it.
    Accurate,
}
