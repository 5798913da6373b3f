//! Captures the packets of both sides for Wireshark.

use crate::flow_routes::Side;
use earlybird_capture::{CaptureFile, Interface, Packets};
use earlybird_units::Instant;
use earlybird_wire::decapsulate_udp;
use std::io;
use std::path::Path;

/// A capture file of both sides.
#[derive(Debug)]
pub struct Capture {
    file: CaptureFile,
    is_within_udp: bool,
    bare: Vec<u8>,
}

impl Capture {
    /// Creates a capture file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::open(path, None).map(|file| Self { file, is_within_udp: false, bare: Vec::new() })
    }

    /// Creates a capture file for TCP over UDP. Segments are written without the UDP header, as Wireshark does not dissect TCP
    /// inside UDP.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn within_udp(path: &Path) -> io::Result<Self> {
        let comment = "UDP carried these segments; its header is omitted.".to_owned();
        Self::open(path, Some(comment)).map(|file| Self { file, is_within_udp: true, bare: Vec::new() })
    }

    fn open(path: &Path, comment: Option<String>) -> io::Result<CaptureFile> {
        // The largest IP packet: none is cut.
        let interface = |name| Interface { name, packets: Packets::Either, snap_len: u32::from(u16::MAX) };
        CaptureFile::create(path, comment, &[interface("near"), interface("far")])
    }

    /// Writes a packet of a side.
    pub fn write(&mut self, at: Instant, side: Side, packet: &[u8]) {
        let carried = if self.is_within_udp { decapsulate_udp(packet) } else { None };
        let bytes = carried.map_or(packet, |(header, segment)| {
            self.bare.clear();
            self.bare.extend_from_slice(header.as_ref());
            self.bare.extend_from_slice(&packet[segment]);
            &self.bare
        });
        self.file.write(at, side as u32, bytes.len(), bytes);
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Flushes and closes the file.
    ///
    /// # Errors
    ///
    /// Returns the first error of writing.
    pub fn finish(self) -> io::Result<()> {
        self.file.finish()
    }
}
