//! Randomness, which comes from outside.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

type Fill = dyn FnMut(&mut [u8]) -> io::Result<()> + Send;

/// A source of random bytes: the machine's, or a fixed sequence in tests. Clones share one source.
#[derive(Clone)]
pub struct RandomSource(Arc<Mutex<Fill>>);

impl fmt::Debug for RandomSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RandomSource")
    }
}

impl RandomSource {
    /// Creates a source that fills buffers by calling `fill`.
    pub fn new(fill: impl FnMut(&mut [u8]) -> io::Result<()> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(fill)))
    }

    /// Returns the source of this machine (`getrandom`).
    pub fn of_system() -> Self {
        Self::new(|bytes| {
            let length = rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty())?;
            // Requests of up to 256 bytes are never cut short (getrandom(2)).
            if length < bytes.len() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
        })
    }

    pub(crate) fn bytes<const N: usize>(&self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        (*self.0.lock().unwrap_or_else(PoisonError::into_inner))(bytes)
    }
}

impl snow::types::Random for RandomSource {
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), snow::Error> {
        self.fill(bytes).map_err(|_| snow::Error::Rng)
    }
}
