//! A packet capture as the hosts that open connections see it, for Wireshark.

use crate::plan::Plan;
use crate::{RunError, output_error};
use earlybird_sim::{Content, Observer, Packet, PacketEvent};
use earlybird_units::Instant;
use earlybird_wire::{Addresses, HEADERS_MAX, IPV4_HEADERS_MAX, Layout, Style, emit_datagram_headers, emit_headers};
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

/// What a capture's lengths are beside those that links count, where these are not the headers of real networks.
pub(crate) const LENGTHS: &str = "has headers as real networks do, options of TCP included, while links count ns-2's 40 bytes, and 8 more for each block \
     of SACK";

/// Timestamps count nanoseconds: `if_tsresol` of the pcapng draft (draft-ietf-opsawg-pcapng, §4.2), as a power of ten.
const NANOSECONDS: u8 = 9;

/// Writes headers only: the payload of a simulated packet is all zeros, and its length stands in the header.
pub(crate) struct Capture {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    identification: u16,
    error: Option<io::Error>,
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Capture").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Capture {
    /// Begins a capture in the format pcapng, whose comments Wireshark shows: where lengths are not those that were simulated,
    /// the file says so itself.
    pub(crate) fn create(path: &Path, plan: &Plan) -> Result<Self, RunError> {
        let file = File::create(path).map_err(|error| output_error(path, error))?;
        let writer = begin(BufWriter::new(file), plan).map_err(|error| output_error(path, plain(error)))?;
        Ok(Self { path: path.to_owned(), writer, identification: 0, error: None })
    }

    /// Deletes what an interrupted run has written, unless that is a pipe or a device.
    pub(crate) fn discard(path: Option<&Path>) {
        if let Some(path) = path.filter(|path| path.is_file()) {
            // The run has failed already, and there is nobody to tell that this did too.
            let _ = std::fs::remove_file(path);
        }
    }

    pub(crate) fn finish(self) -> Result<(), RunError> {
        let flushed = self.writer.into_inner().flush();
        self.error.map_or(flushed, Err).map_err(|error| output_error(&self.path, error))
    }

    fn write(&mut self, at: Instant, packet: &Packet) -> io::Result<()> {
        let mut bytes = [0; HEADERS_MAX];
        self.identification = self.identification.wrapping_add(1);
        let addresses = addresses(packet);
        let style = Style { layout: Layout::Aligned, identification: self.identification, ..Style::default() };
        let payload = vec![0; payload_len(&packet.content)];
        let emitted = match &packet.content {
            Content::Segment(segment) => emit_headers(segment, &addresses, style, &payload, &mut bytes),
            Content::Datagram(datagram) => emit_datagram_headers(datagram, &addresses, style, &payload, &mut bytes),
        };
        let length = emitted.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        let record = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(at.as_nanos()),
            original_len: (length + payload.len()) as u32,
            data: Cow::Borrowed(&bytes[..length]),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(record).map_err(plain).map(|_| ())
    }
}

/// Writes the headers of file and interface.
fn begin(file: BufWriter<File>, plan: &Plan) -> Result<PcapNgWriter<BufWriter<File>>, PcapError> {
    let comment = || SectionHeaderOption::Comment(format!("This capture {LENGTHS}.").into());
    let options = plan.has_short_headers().then(comment).into_iter().collect();
    let mut writer =
        PcapNgWriter::with_section_header(file, SectionHeaderBlock { options, ..SectionHeaderBlock::default() })?;
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::IPV4,
        snaplen: IPV4_HEADERS_MAX as u32,
        options: vec![
            InterfaceDescriptionOption::IfName("hosts that open connections".into()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ],
    };
    writer.write_pcapng_block(interface)?;
    Ok(writer)
}

/// Gives the bytes behind the TCP or UDP header.
fn payload_len(content: &Content) -> usize {
    match content {
        Content::Segment(segment) => usize::from(segment.len),
        Content::Datagram(datagram) => datagram.body_len(),
    }
}

fn plain(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}

/// Gives every connection its own pair of addresses, and every later user of its place another port.
fn addresses(packet: &Packet) -> Addresses {
    // From 1 on: an address that ends in 0 looks like a network's.
    let connection = (packet.to.0 / 2 + 1).to_be_bytes();
    let opener = [10, connection[1], connection[2], connection[3]].into();
    let listener = [11, connection[1], connection[2], connection[3]].into();
    let opener_port = 49152 + (packet.generation % 16384) as u16;
    // 5001 is iperf's port: Wireshark does not try to read a protocol into the zeros.
    let listener_port = 5001;
    if packet.to.is_opener() {
        Addresses { source: listener, destination: opener, source_port: listener_port, destination_port: opener_port }
    } else {
        Addresses { source: opener, destination: listener, source_port: opener_port, destination_port: listener_port }
    }
}

impl Observer for Capture {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        let is_here = match event {
            PacketEvent::Sent | PacketEvent::Retransmitted => !packet.to.is_opener(),
            PacketEvent::Arrived => packet.to.is_opener(),
            PacketEvent::Entered(_) | PacketEvent::Dropped(..) | PacketEvent::Duplicated(_) => false,
        };
        if is_here && self.error.is_none() {
            self.error = self.write(at, packet).err();
        }
    }
}
