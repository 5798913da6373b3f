//! Errors, as one line for the user.

use std::fmt;

/// An error, and what to do about it.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// Creates an error of a text that ends with a full stop.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Creates an error of the failed action and the reason of the system.
    pub fn context(action: &str, reason: impl fmt::Display) -> Self {
        Self(format!("{action}: {reason}."))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The result type of this crate.
pub type Result<T = ()> = std::result::Result<T, Error>;
