//! Iterates over the frames of a capture in any format.

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

/// The first bytes of a pcapng file (draft-ietf-opsawg-pcapng, §4.1).
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The default of `if_tsresol`: microseconds (§4.2).
const MICROSECONDS: u8 = 6;
/// The bit of `if_tsresol` that makes it a power of two.
const BINARY: u8 = 0x80;
const NANOSECONDS_PER_SECOND: u128 = 1_000_000_000;

/// One frame.
pub(crate) struct Frame<'a> {
    pub(crate) at_ns: u64,
    /// Its interface; interfaces are counted through the file.
    pub(crate) interface: u32,
    pub(crate) link: DataLink,
    pub(crate) original_len: u32,
    pub(crate) data: &'a [u8],
}

/// The frames of a file.
pub(crate) enum Frames {
    Classic(PcapReader<BufReader<File>>),
    Blocks(PcapNgReader<BufReader<File>>, Vec<(DataLink, u8)>),
}

impl Frames {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut beginning = [0; 4];
        file.read_exact(&mut beginning)?;
        file.rewind()?;
        let file = BufReader::new(file);
        if beginning == SECTION_HEADER {
            return PcapNgReader::new(file).map(|reader| Self::Blocks(reader, Vec::new())).map_err(plain);
        }
        PcapReader::new(file).map(Self::Classic).map_err(plain)
    }

    /// Passes the next record to `take` if it is a frame. Returns whether there was a record.
    pub(crate) fn next(&mut self, take: impl FnOnce(Frame<'_>)) -> Result<bool, PcapError> {
        match self {
            Self::Classic(reader) => {
                let header = reader.header();
                // Raw: the library rejects packets that are longer than the snap length.
                let Some(packet) = reader.next_raw_packet() else { return Ok(false) };
                let packet = packet?;
                let tick = if header.ts_resolution == TsResolution::NanoSecond { 1 } else { 1000 };
                let at_ns = u64::from(packet.ts_sec) * NANOSECONDS_PER_SECOND as u64 + u64::from(packet.ts_frac) * tick;
                let (link, original_len) = (header.datalink, packet.orig_len);
                take(Frame { at_ns, interface: 0, link, original_len, data: &packet.data });
                Ok(true)
            }
            Self::Blocks(reader, interfaces) => {
                let Some(block) = reader.next_block() else { return Ok(false) };
                take_block(&block?, interfaces, take);
                Ok(true)
            }
        }
    }
}

fn take_block(block: &Block<'_>, interfaces: &mut Vec<(DataLink, u8)>, take: impl FnOnce(Frame<'_>)) {
    match block {
        // interfaces.clear(), => Each section of a file numbers its interfaces anew (§4.1).
        Block::SectionHeader(_) => interfaces.clear(),
        Block::InterfaceDescription(interface) => interfaces.push((interface.linktype, resolution(interface))),
        Block::EnhancedPacket(packet) => {
            if let Some(&(link, resolution)) = interfaces.get(packet.interface_id as usize) {
                // The library treats ticks of the interface as nanoseconds.
                let at_ns = nanoseconds(packet.timestamp.as_nanos(), resolution);
                let (interface, original_len) = (packet.interface_id, packet.original_len);
                take(Frame { at_ns, interface, link, original_len, data: &packet.data });
            }
        }
        _ => {}
    }
}

fn resolution(interface: &InterfaceDescriptionBlock<'_>) -> u8 {
    let stated = interface.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(resolution) => Some(*resolution),
        _ => None,
    });
    stated.unwrap_or(MICROSECONDS)
}

/// Converts ticks of an interface to nanoseconds.
fn nanoseconds(ticks: u128, resolution: u8) -> u64 {
    let exponent = u32::from(resolution & !BINARY);
    let base: u128 = if resolution & BINARY == 0 { 10 } else { 2 };
    base.checked_pow(exponent).map_or(0, |per_second| (ticks * NANOSECONDS_PER_SECOND / per_second) as u64)
}

/// Converts an error of the library to `io::Error`.
pub(crate) fn plain(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_converted_by_the_resolution_of_the_interface() {
        assert_eq!(nanoseconds(1_500_000, MICROSECONDS), 1_500_000_000);
        assert_eq!(nanoseconds(1_500_000_000, 9), 1_500_000_000);
        assert_eq!(nanoseconds(3 << 9, BINARY | 0x0a), 1_500_000_000);
        assert_eq!(nanoseconds(1, BINARY - 1), 0);
    }
}
