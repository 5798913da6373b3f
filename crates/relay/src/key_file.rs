//! Files with keys, whose size is limited.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest key file: 64 digits with white space around them.
pub(crate) const MOST_BYTES: u64 = 1024;

/// Reads a file of up to `most` bytes. Devices and pipes without an end are read no further.
///
/// # Errors
///
/// If the file cannot be read, or is longer.
pub(crate) fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // Zero for devices and pipes.
    let size = file.metadata()?.len();
    let mut contents = Vec::new();
    file.take(most + 1).read_to_end(&mut contents)?;
    let read = contents.len() as u64;
    if read <= most {
        return Ok(contents);
    }
    let size = if size > most { format!("{size} bytes") } else { format!("more than {most} bytes") };
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("has {size}; allowed: up to {most}")))
}
