//! What can go wrong, said in one line for the person who asked.

use std::fmt;

/// What is wrong and what to do about it.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// Makes one of a text that ends with a full stop.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Makes one of what could not be done and what the system said.
    pub fn of(deed: &str, reason: impl fmt::Display) -> Self {
        Self(format!("{deed}: {reason}."))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// The outcome of anything here.
pub type Outcome<T = ()> = Result<T, Failure>;
