//! Reads captures in the formats of other programs.
#![expect(clippy::unwrap_used, reason = "what cannot go on has failed")]

use earlybird_capture::{Reading, read};
use etherparse::{PacketBuilder, TcpOptionElement};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
const HEADERS: usize = 14 + 20 + 32;

/// An Ethernet frame from the client to the server, or back.
fn frame(backwards: bool, seq: u32, payload: usize) -> Vec<u8> {
    let (from, to, ports) = if backwards { (SERVER, CLIENT, (80, 5000)) } else { (CLIENT, SERVER, (5000, 80)) };
    let builder = PacketBuilder::ethernet2([0; 6], [1; 6])
        .ipv4(from, to, 64)
        .tcp(ports.0, ports.1, seq, 1000)
        .ack(77)
        .options(&[TcpOptionElement::Timestamp(11, 22)])
        .unwrap();
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &vec![0; payload]).unwrap();
    bytes
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcap"))
}

/// Writes frames 1 ms apart, truncated to `kept` bytes.
fn written(name: &str, frames: &[Vec<u8>], kept: usize) -> PathBuf {
    let path = file(name);
    let header = PcapHeader { snaplen: kept as u32, datalink: DataLink::ETHERNET, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(fs::File::create(&path).unwrap(), header).unwrap();
    for (number, frame) in frames.iter().enumerate() {
        let at = Duration::from_millis(1000 + number as u64);
        let packet = PcapPacket::new(at, frame.len() as u32, &frame[..kept.min(frame.len())]);
        writer.write_packet(&packet).unwrap();
    }
    path
}

fn reading(path: &Path) -> Reading {
    let found = read(path).unwrap();
    fs::remove_file(path).unwrap();
    found
}

#[test]
fn directions_of_a_connection_are_distinguished() {
    let found = reading(&written("both", &[frame(false, 1, 100), frame(true, 9, 0), frame(false, 101, 50)], 2000));
    assert_eq!(found.connections, [["10.0.0.1:5000".parse().unwrap(), "10.0.0.2:80".parse().unwrap()]]);
    let seen: Vec<_> = found.segments.iter().map(|one| (one.at_ns, one.backwards, one.seq, one.payload)).collect();
    assert_eq!(seen, [(1_000_000_000, false, 1, 100), (1_001_000_000, true, 9, 0), (1_002_000_000, false, 101, 50)]);
    assert!(found.segments.iter().all(|one| one.ack == 77 && one.is_ack && one.timestamp == (11, 22)));
    assert_eq!((found.packets, found.breaks_off), (3, None));
}

#[test]
fn truncated_payload_is_counted() {
    let found = reading(&written("headers", &[frame(false, 1, 1000)], HEADERS));
    assert_eq!(found.segments[0].payload, 1000);
}

#[test]
fn other_protocols_are_only_counted() {
    let mut other = Vec::new();
    PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4(CLIENT, SERVER, 64).udp(1, 2).write(&mut other, &[0; 20]).unwrap();
    let found = reading(&written("udp", &[other], 2000));
    assert_eq!((found.packets, found.segments.len()), (1, 0));
}

#[test]
fn truncated_files_are_read_to_their_end() {
    let path = written("short", &[frame(false, 1, 100), frame(false, 101, 100)], 2000);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 7]).unwrap();
    let found = reading(&path);
    assert_eq!(found.segments.len(), 1);
    assert!(found.breaks_off.is_some());
}

#[test]
fn other_files_are_refused() {
    let path = file("text");
    fs::write(&path, "this is no capture at all, but some text that is long enough").unwrap();
    assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    fs::remove_file(&path).unwrap();
}

#[test]
fn duplicates_of_interfaces_count_once() {
    let path = file("twice");
    let mut writer = PcapNgWriter::new(fs::File::create(&path).unwrap()).unwrap();
    for _ in 0..2 {
        let interface = InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options: vec![] };
        writer.write_pcapng_block(interface).unwrap();
    }
    let data = frame(false, 1, 100);
    for interface_id in [0, 1] {
        let timestamp = Duration::from_nanos(u64::from(interface_id));
        let (original_len, data) = (data.len() as u32, Cow::Borrowed(&data[..]));
        let packet = EnhancedPacketBlock { interface_id, timestamp, original_len, data, options: vec![] };
        writer.write_pcapng_block(packet).unwrap();
    }
    drop(writer);
    let found = reading(&path);
    assert_eq!((found.packets, found.segments.len()), (2, 1));
}
