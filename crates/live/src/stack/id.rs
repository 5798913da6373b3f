//! Identifiers of connections.

/// Identifies a connection of a stack. Identifiers are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    pub(super) index: u32,
    pub(super) generation: u32,
}
