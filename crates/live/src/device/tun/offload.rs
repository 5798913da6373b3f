//! Packets that the kernel divides and joins: what stands before each of them (`virtio_net_hdr` of `linux/virtio_net.h`).

use crate::device::{BATCH, Outbox};
use earlybird_wire::{Checksums, Train};
use rustix::io::{self, Errno, IoSlice, writev};
use std::os::fd::OwnedFd;

/// Bytes before each packet.
pub(super) const HEADER: usize = 10;
/// The checksum is not there yet, or nobody has looked at it, as the sender is on this host.
const NEEDS_CHECKSUM: u8 = 1;
/// The device has looked at it.
const IS_VALID: u8 = 2;
/// What kind of packet is divided.
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
/// Where the checksum stands in the header of TCP.
const CHECKSUM: u16 = 16;

/// What the kernel says of a packet that it hands over.
pub(super) struct Notes {
    pub(super) checksums: Checksums,
    /// Bytes of payload in each segment of which the packet was made.
    pub(super) segment_size: Option<u16>,
}

impl Notes {
    pub(super) fn read(header: &[u8]) -> Self {
        let [flags, kind, _, _, low, high, ..] = *header else {
            return Self { checksums: Checksums::Verify, segment_size: None };
        };
        let is_sound = flags & (NEEDS_CHECKSUM | IS_VALID) != 0;
        Self {
            checksums: if is_sound { Checksums::Ignore } else { Checksums::Verify },
            segment_size: (kind != 0).then(|| u16::from_ne_bytes([low, high])).filter(|size| *size > 0),
        }
    }
}

/// Tells the kernel to complete the checksum of a packet, and to divide it if it is a train of several.
fn header(train: &Train) -> [u8; HEADER] {
    let kind = if train.ip_len() == 20 { TCP_V4 } else { TCP_V6 };
    let (kind, size) = if train.is_divided() { (kind, train.segment_size()) } else { (0, 0) };
    let mut header = [NEEDS_CHECKSUM, kind, 0, 0, 0, 0, 0, 0, 0, 0];
    let fields = [train.headers_len() as u16, size as u16, train.ip_len() as u16, CHECKSUM];
    for (place, field) in header[2..].chunks_mut(2).zip(fields) {
        place.copy_from_slice(&field.to_ne_bytes());
    }
    header
}

/// Sends the next packets, as many as make one train. What the kernel does not like is lost, like others on their way.
pub(super) fn send_train(descriptor: &OwnedFd, outbox: &mut Outbox) -> io::Result<()> {
    let mut packets = outbox.waiting().iter().map(|departure| outbox.bytes(departure.range.clone()));
    let Some(first) = packets.next() else { return Ok(()) };
    let Some(mut train) = Train::new(first) else {
        outbox.strike_out(1);
        return Ok(());
    };
    let start = train.headers_len();
    let mut payloads = [IoSlice::new(&[]); BATCH + 2];
    payloads[2] = IoSlice::new(&first[start..]);
    let mut count = 1;
    for packet in packets.take(BATCH - 1).take_while(|packet| train.take(packet)) {
        payloads[2 + count] = IoSlice::new(&packet[start..]);
        count += 1;
    }
    let (note, (headers, len)) = (header(&train), train.headers());
    (payloads[0], payloads[1]) = (IoSlice::new(&note), IoSlice::new(&headers[..len]));
    match writev(descriptor, &payloads[..2 + count]) {
        Err(error @ (Errno::AGAIN | Errno::BADFD)) => return Err(error),
        _ => outbox.strike_out(count),
    }
    Ok(())
}
