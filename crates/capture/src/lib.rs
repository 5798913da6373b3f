//! Packet captures. Written ones are pcapng files with the nanoseconds of a run as timestamps and packets that start with the IP
//! header. Captures of any program can be read, for the TCP segments in them.
#![forbid(unsafe_code)]

mod encapsulation;
mod frames;
mod reading;
mod tcp_header;

pub use reading::{Reading, Segment, read};

use earlybird_units::Instant;
use frames::plain;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Timestamps count nanoseconds: `if_tsresol` of the pcapng draft (draft-ietf-opsawg-pcapng, §4.2), as a power of ten.
const NANOSECONDS: u8 = 9;

/// A capture interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Its name in Wireshark.
    pub name: &'a str,
    /// The IP versions of its packets.
    pub packets: Packets,
    /// The largest number of bytes per packet.
    pub snap_len: u32,
}

/// The IP versions of the packets of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packets {
    /// IPv4 only.
    V4,
    /// IPv4 and IPv6.
    Either,
}

/// A capture file.
///
/// The first error ends the capture and is returned by [`Self::finish`]; the run continues.
pub struct CaptureFile {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    error: Option<io::Error>,
}

impl std::fmt::Debug for CaptureFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CaptureFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl CaptureFile {
    /// Creates a file, with an optional comment on the whole capture.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn create(path: &Path, comment: Option<String>, interfaces: &[Interface<'_>]) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        let writer = begin(file, comment, interfaces).map_err(plain)?;
        Ok(Self { path: path.to_owned(), writer, error: None })
    }

    /// Writes a packet of an interface (counted from 0); `original_len` is its length if only a part is given.
    pub fn write(&mut self, at: Instant, interface: u32, original_len: usize, bytes: &[u8]) {
        // A full disk must not fail the run: the first error is kept and reported at the end.
        if self.error.is_some() {
            return;
        }
        let record = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: Duration::from_nanos(at.as_nanos()),
            original_len: original_len as u32,
            data: Cow::Borrowed(bytes),
            options: Vec::new(),
        };
        self.error = self.writer.write_pcapng_block(record).map_err(plain).err();
    }

    /// Ends the capture with an error of the caller.
    pub fn fail(&mut self, error: io::Error) {
        self.error.get_or_insert(error);
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes and closes the file.
    ///
    /// # Errors
    ///
    /// Returns the first error of writing.
    pub fn finish(self) -> io::Result<()> {
        // Flush even after an error, so that complete records are readable.
        let flushed = self.writer.into_inner().flush();
        self.error.map_or(flushed, Err)
    }
}

/// Deletes the output of an interrupted run, unless it is a pipe or a device.
pub fn discard(path: Option<&Path>) {
    if let Some(path) = path.filter(|path| path.is_file()) {
        // The run has failed already; a second error does not help.
        let _ = std::fs::remove_file(path);
    }
}

/// Writes the headers of file and interfaces.
fn begin(
    file: BufWriter<File>,
    comment: Option<String>,
    interfaces: &[Interface<'_>],
) -> Result<PcapNgWriter<BufWriter<File>>, PcapError> {
    let options = comment.map(|comment| SectionHeaderOption::Comment(comment.into())).into_iter().collect();
    let header = SectionHeaderBlock { options, ..SectionHeaderBlock::default() };
    let mut writer = PcapNgWriter::with_section_header(file, header)?;
    for interface in interfaces {
        // LINKTYPE_IPV4 and LINKTYPE_RAW: no Ethernet header to invent.
        let linktype = if interface.packets == Packets::V4 { DataLink::IPV4 } else { DataLink::RAW };
        // Nanoseconds, the resolution of the simulator; Wireshark assumes microseconds otherwise.
        let options = vec![
            InterfaceDescriptionOption::IfName(interface.name.into()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        writer.write_pcapng_block(InterfaceDescriptionBlock { linktype, snaplen: interface.snap_len, options })?;
    }
    Ok(writer)
}
