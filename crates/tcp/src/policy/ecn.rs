//! Modes of explicit congestion notification.

/// The mode of explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Not used.
    #[default]
    Off,
    /// RFC 3168 §6.1: marks are echoed until CWR arrives.
    Classic,
    /// The more accurate feedback of RFC 9768, or [`Self::Classic`] with a peer that does not support it.
    Accurate,
}
