//! What both sides see, in a file for Wireshark.

use crate::ways::Side;
use earlybird_capture::{CaptureFile, Interface, Packets};
use earlybird_units::Instant;
use earlybird_wire::without_udp;
use std::io;
use std::path::Path;

/// A file that every packet is written to, as it leaves a side or gets there.
#[derive(Debug)]
pub struct Capture {
    file: CaptureFile,
    is_within_udp: bool,
    bare: Vec<u8>,
}

impl Capture {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::begin(path, None).map(|file| Self { file, is_within_udp: false, bare: Vec::new() })
    }

    /// Begins one of segments of TCP that UDP carries: they are written as if they stood behind the IP header, where Wireshark
    /// looks for them.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn within_udp(path: &Path) -> io::Result<Self> {
        let comment = "UDP carried these segments; its header is left out.".to_owned();
        Self::begin(path, Some(comment)).map(|file| Self { file, is_within_udp: true, bare: Vec::new() })
    }

    fn begin(path: &Path, comment: Option<String>) -> io::Result<CaptureFile> {
        let interface = |name| Interface { name, packets: Packets::Either, snap_len: u32::from(u16::MAX) };
        CaptureFile::create(path, comment, &[interface("near"), interface("far")])
    }

    /// Writes a packet that was seen at a side.
    pub fn write(&mut self, at: Instant, side: Side, packet: &[u8]) {
        let carried = if self.is_within_udp { without_udp(packet) } else { None };
        let bytes = carried.map_or(packet, |(header, segment)| {
            self.bare.clear();
            self.bare.extend_from_slice(header.as_ref());
            self.bare.extend_from_slice(&packet[segment]);
            &self.bare
        });
        self.file.write(at, side as u32, bytes.len(), bytes);
    }

    /// Returns the file's name.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes what is left.
    ///
    /// # Errors
    ///
    /// The first one that there was.
    pub fn finish(self) -> io::Result<()> {
        self.file.finish()
    }
}
