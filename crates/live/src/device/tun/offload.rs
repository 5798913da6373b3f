//! Segmentation offload: the header before each packet (`virtio_net_hdr` of `linux/virtio_net.h`).

use crate::device::{BATCH, TxQueue};
use earlybird_wire::{Checksums, Train};
use rustix::io::{self, Errno, IoSlice, writev};
use std::os::fd::OwnedFd;

/// Size of `virtio_net_hdr`.
pub(super) const HEADER_BYTES: usize = 10;
/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`: the checksum is not computed. On receive, the packet comes from this host.
const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_F_DATA_VALID`: the device has verified the checksum.
const DATA_VALID: u8 = 2;
/// `VIRTIO_NET_HDR_GSO_TCPV4` and `VIRTIO_NET_HDR_GSO_TCPV6`.
const GSO_TCP_V4: u8 = 1;
const GSO_TCP_V6: u8 = 4;
/// Offset of the checksum in the TCP header.
const CHECKSUM_OFFSET: u16 = 16;

/// The offload information of a received packet.
pub(super) struct OffloadHeader {
    pub(super) checksums: Checksums,
    /// Payload bytes per segment, if the packet was joined from several.
    pub(super) segment_size: Option<u16>,
}

impl OffloadHeader {
    pub(super) fn read(header: &[u8]) -> Self {
        let [flags, kind, _, _, low, high, ..] = *header else {
            return Self { checksums: Checksums::Verify, segment_size: None };
        };
        let is_verified = flags & (NEEDS_CHECKSUM | DATA_VALID) != 0;
        Self {
            checksums: if is_verified { Checksums::Ignore } else { Checksums::Verify },
            segment_size: (kind != 0).then(|| u16::from_ne_bytes([low, high])).filter(|size| *size > 0),
        }
    }
}

/// Builds the header that requests the checksum and, for several segments, their separation.
fn header(train: &Train) -> [u8; HEADER_BYTES] {
    // An IPv4 header without options has 20 bytes; IPv6 has 40.
    let kind = if train.ip_len() == 20 { GSO_TCP_V4 } else { GSO_TCP_V6 };
    let (kind, size) = if train.is_divided() { (kind, train.segment_size()) } else { (0, 0) };
    let mut header = [NEEDS_CHECKSUM, kind, 0, 0, 0, 0, 0, 0, 0, 0];
    let fields = [train.headers_len() as u16, size as u16, train.ip_len() as u16, CHECKSUM_OFFSET];
    for (place, field) in header[2..].chunks_mut(2).zip(fields) {
        place.copy_from_slice(&field.to_ne_bytes());
    }
    header
}

/// Sends as many of the next packets as form one train. A packet that the kernel rejects is dropped, which TCP handles as a loss.
pub(super) fn send_train(descriptor: &OwnedFd, tx: &mut TxQueue) -> io::Result<()> {
    let mut packets = tx.pending().iter().map(|packet| tx.bytes(packet.range.clone()));
    let Some(first) = packets.next() else { return Ok(()) };
    let Some(mut train) = Train::new(first) else {
        tx.advance(1);
        return Ok(());
    };
    let start = train.headers_len();
    let mut payloads = [IoSlice::new(&[]); BATCH + 2];
    // The first two slices are the offload header and the packet headers, which are final only when the train is complete.
    payloads[2] = IoSlice::new(&first[start..]);
    let mut count = 1;
    for packet in packets.take(BATCH - 1).take_while(|packet| train.take(packet)) {
        payloads[2 + count] = IoSlice::new(&packet[start..]);
        count += 1;
    }
    let (prefix, (headers, len)) = (header(&train), train.headers());
    (payloads[0], payloads[1]) = (IoSlice::new(&prefix), IoSlice::new(&headers[..len]));
    match writev(descriptor, &payloads[..2 + count]) {
        // EBADFD: the interface is gone. Everything else concerns only these packets.
        Err(error @ (Errno::AGAIN | Errno::BADFD)) => return Err(error),
        _ => tx.advance(count),
    }
    Ok(())
}
