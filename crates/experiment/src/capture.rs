//! A packet capture as the hosts that open connections see it, for Wireshark.

use crate::RunError;
use crate::plan::Plan;
use earlybird_capture::{CaptureFile, Interface, Packets};
use earlybird_sim::{Content, Observer, Packet, PacketEvent};
use earlybird_units::Instant;
use earlybird_wire::{Addresses, HEADERS_MAX, IPV4_HEADERS_MAX, Layout, Style, emit_datagram_headers, emit_headers};
use std::io;
use std::path::Path;

/// The note for captures of profiles whose header sizes differ from those of real networks.
pub(crate) const LENGTHS: &str = "has headers as real networks do, options of TCP included, while links count ns-2's 40 bytes, and 8 more for each block \
     of SACK";

/// Writes headers only: the payload of a simulated packet is all zeros, and its length is in the header.
#[derive(Debug)]
pub(crate) struct Capture {
    file: CaptureFile,
    identification: u16,
}

impl Capture {
    /// Begins a capture in the format pcapng, whose comments Wireshark shows: where lengths are not those that were simulated,
    /// the file says so itself.
    pub(crate) fn create(path: &Path, plan: &Plan) -> Result<Self, RunError> {
        let comment = plan.has_short_headers().then(|| format!("This capture {LENGTHS}."));
        let name = "hosts that open connections";
        let interface = Interface { name, packets: Packets::V4, snap_len: IPV4_HEADERS_MAX as u32 };
        let file = CaptureFile::create(path, comment, &[interface]).map_err(|error| RunError::output(path, error))?;
        Ok(Self { file, identification: 0 })
    }

    pub(crate) fn finish(self) -> Result<(), RunError> {
        let path = self.file.path().to_owned();
        self.file.finish().map_err(|error| RunError::output(&path, error))
    }

    fn write(&mut self, at: Instant, packet: &Packet) {
        let mut bytes = [0; HEADERS_MAX];
        // Every packet has an IPv4 identification of its own, as from a real host.
        self.identification = self.identification.wrapping_add(1);
        let addresses = addresses(packet);
        let style = Style { layout: Layout::Aligned, identification: self.identification, ..Style::default() };
        let payload = vec![0; payload_len(&packet.content)];
        let emitted = match &packet.content {
            Content::Segment(segment) => emit_headers(segment, &addresses, style, &payload, &mut bytes),
            Content::Datagram(datagram) => emit_datagram_headers(datagram, &addresses, style, &payload, &mut bytes),
        };
        match emitted {
            Ok(length) => self.file.write(at, 0, length + payload.len(), &bytes[..length]),
            Err(error) => self.file.fail(io::Error::new(io::ErrorKind::InvalidData, error.to_string())),
        }
    }
}

/// Returns the bytes behind the TCP or UDP header.
fn payload_len(content: &Content) -> usize {
    match content {
        Content::Segment(segment) => usize::from(segment.len),
        Content::Datagram(datagram) => datagram.body_len(),
    }
}

/// Returns every connection its own pair of addresses, and every later user of its place another port.
fn addresses(packet: &Packet) -> Addresses {
    // From 1 on: an address that ends in 0 looks like a network's.
    let connection = (packet.to.0 / 2 + 1).to_be_bytes();
    let opener = [10, connection[1], connection[2], connection[3]].into();
    let listener = [11, connection[1], connection[2], connection[3]].into();
    // Ephemeral ports (RFC 6335 §6); another generation is another connection.
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
            // The capture point is the opener's host: packets that it sends and receives.
            PacketEvent::Arrived => packet.to.is_opener(),
            PacketEvent::Entered(_) | PacketEvent::Dropped(..) | PacketEvent::Duplicated(_) => false,
        };
        if is_here {
            self.write(at, packet);
        }
    }
}
