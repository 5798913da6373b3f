//! The innermost IP packet of a frame: link headers, tags and tunnels are taken off.

mod udp_tunnels;

use etherparse::{LaxNetSlice, LaxSlicedPacket};
use pcap_file::DataLink;
use udp_tunnels::udp_tunnel;

/// The reason why a frame holds no TCP segment that can be read, in a few words.
pub(crate) type Other = &'static str;

/// Tunnels within tunnels that are followed, so that a damaged packet cannot go on for ever.
const MOST_LAYERS: usize = 8;

/// Link types that the library has no name for (<https://www.tcpdump.org/linktypes.html>).
const PPP_SERIAL: u32 = 50;
const PPP_ETHERNET: u32 = 51;
const PPP_WITH_DIRECTION: u32 = 204;
const CISCO_HDLC: u32 = 104;
const PRISM: u32 = 119;
const PPI: u32 = 192;
const FRAME_RELAY: u32 = 107;
const IPNET: u32 = 226;
/// Tags of switches that Linux drives (DSA): behind the addresses, or in front of the frame.
const DSA_BROADCOM: u32 = 281;
const DSA_BROADCOM_IN_FRONT: u32 = 282;
const DSA: u32 = 284;
const EXTENDED_DSA: u32 = 285;
/// Raw IP as some systems number it.
const RAW_OF_BSD: [u32; 2] = [12, 14];

/// Returns the innermost IP packet.
///
/// # Errors
/// If there is none that can be read.
pub(crate) fn ip_packet(link: DataLink, data: &[u8]) -> Result<&[u8], Other> {
    let mut packet = of_link(link, data)?;
    for _ in 0..MOST_LAYERS {
        match tunnelled(packet) {
            Some(inner) => packet = inner?,
            None => return Ok(packet),
        }
    }
    Err("tunnels within tunnels")
}

fn of_link(link: DataLink, data: &[u8]) -> Result<&[u8], Other> {
    match link {
        DataLink::ETHERNET => ethernet(data),
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => Ok(data),
        DataLink::NULL | DataLink::LOOP => after(data, 4),
        // Linux cooked captures: 16 bytes with the protocol at the end, or 20 with it at the start.
        DataLink::LINUX_SLL => of_type(word(data, 14)?, after(data, 16)?),
        DataLink::LINUX_SLL2 => of_type(word(data, 0)?, after(data, 20)?),
        DataLink::PPP => ppp(data),
        DataLink::IEEE802_11 => wifi(data),
        DataLink::IEEE802_11_RADIOTAP => {
            let length = data.get(2..4).ok_or(CUT)?;
            wifi(after(data, usize::from(u16::from_le_bytes([length[0], length[1]])))?)
        }
        DataLink::NFLOG => nflog(data),
        other => match u32::from(other) {
            PPP_SERIAL => ppp(data),
            PPP_ETHERNET => ppp(after(data, 6)?),
            PPP_WITH_DIRECTION => ppp(after(data, 1)?),
            CISCO_HDLC => of_type(word(data, 2)?, after(data, 4)?),
            // A header of fixed length in front of the frame.
            PRISM => wifi(after(data, 144)?),
            PPI => per_packet_information(data),
            FRAME_RELAY => frame_relay(data),
            IPNET => after(data, 24),
            DSA_BROADCOM | DSA => of_type(word(data, 16)?, after(data, 18)?),
            DSA_BROADCOM_IN_FRONT => ethernet(after(data, 4)?),
            EXTENDED_DSA => of_type(word(data, 20)?, after(data, 22)?),
            other if RAW_OF_BSD.contains(&other) => Ok(data),
            _ => Err("frames of a link type that is not read"),
        },
    }
}

/// Frame relay with two bytes of address: an Ethernet type (Cisco), or a control byte and a network layer identifier (RFC 2427 §3).
fn frame_relay(data: &[u8]) -> Result<&[u8], Other> {
    let data = after(data, 2)?;
    if let [0x03, 0xcc | 0x8e, rest @ ..] = data {
        return Ok(rest);
    }
    let data = data.strip_prefix(&[0x03, 0, 0x80, 0, 0, 0]).unwrap_or(data);
    of_type(word(data, 0)?, after(data, 2)?)
}

/// A header that states its length and the link type of the frame behind it, both little-endian.
fn per_packet_information(data: &[u8]) -> Result<&[u8], Other> {
    let [_, _, low, high, kind, 0, 0, 0, ..] = *data else { return Err(CUT) };
    let link = DataLink::from(u32::from(kind));
    let is_nested = u32::from(link) == PPI;
    let frame = after(data, usize::from(u16::from_le_bytes([low, high])))?;
    if is_nested { Err("frames of a link type that is not read") } else { of_link(link, frame) }
}

pub(crate) const CUT: Other = "packets that were cut before the end of their headers";

fn after(data: &[u8], length: usize) -> Result<&[u8], Other> {
    data.get(length..).ok_or(CUT)
}

fn word(data: &[u8], at: usize) -> Result<u16, Other> {
    data.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]])).ok_or(CUT)
}

fn ethernet(data: &[u8]) -> Result<&[u8], Other> {
    of_type(word(data, 12)?, after(data, 14)?)
}

/// Returns the IP packet behind an Ethernet type.
fn of_type(kind: u16, data: &[u8]) -> Result<&[u8], Other> {
    match kind {
        0x0800 | 0x86dd => Ok(data),
        // VLAN tags, one behind the other (IEEE 802.1Q, 802.1ad).
        0x8100 | 0x88a8 | 0x9100 => of_type(word(data, 2)?, after(data, 4)?),
        // A session of PPPoE: six bytes of header (RFC 2516 §4).
        0x8864 => ppp(after(data, 6)?),
        0x8847 | 0x8848 => mpls(data),
        // MAC-in-MAC: a service tag, and the frame of the customer (IEEE 802.1ah).
        0x88e7 => ethernet(after(data, 4)?),
        // Transparent Ethernet bridging in GRE (RFC 7637 §3.2).
        0x6558 => ethernet(data),
        0x0806 => Err("ARP"),
        // A length: LLC, and SNAP where it carries IP (RFC 1042).
        0..=1500 => snap(data),
        _ => Err("frames of another protocol than IP"),
    }
}

fn snap(data: &[u8]) -> Result<&[u8], Other> {
    if data.starts_with(&[0xaa, 0xaa, 0x03, 0, 0, 0]) {
        return of_type(word(data, 6)?, after(data, 8)?);
    }
    Err("frames of another protocol than IP")
}

/// PPP, with its address and control bytes or without, and with the protocol in one byte or two (RFC 1661 §2, RFC 1662 §3.1).
fn ppp(data: &[u8]) -> Result<&[u8], Other> {
    let data = data.strip_prefix(&[0xff, 0x03]).unwrap_or(data);
    match data {
        [0x00, 0x21 | 0x57, rest @ ..] | [0x21 | 0x57, rest @ ..] => Ok(rest),
        _ => Err("frames of another protocol than IP"),
    }
}

/// Takes labels off up to the one at the bottom of the stack (RFC 3032 §2.1), and the control word of a pseudowire (RFC 4448 §4.6).
fn mpls(data: &[u8]) -> Result<&[u8], Other> {
    let labels = data.chunks_exact(4).position(|label| label[2] & 1 == 1).ok_or(CUT)?;
    let data = after(data, 4 * (labels + 1))?;
    match data.first().ok_or(CUT)? >> 4 {
        4 | 6 => Ok(data),
        0 => ethernet(after(data, 4)?),
        _ => ethernet(data),
    }
}

/// A data frame of IEEE 802.11 (§9.2.4): its header's length follows from the flags of its frame control.
fn wifi(data: &[u8]) -> Result<&[u8], Other> {
    let (control, flags) = (*data.first().ok_or(CUT)?, *data.get(1).ok_or(CUT)?);
    let is_data = control & 0x0c == 0x08 && control & 0x40 == 0;
    if !is_data {
        return Err("Wi-Fi frames without data");
    }
    if flags & 0x40 != 0 {
        return Err("encrypted Wi-Fi frames");
    }
    let has_quality = control & 0x80 != 0;
    let address = if flags & 0x03 == 0x03 { 6 } else { 0 };
    let quality = if has_quality { 2 } else { 0 };
    let throughput = if has_quality && flags & 0x80 != 0 { 4 } else { 0 };
    snap(after(data, 24 + address + quality + throughput)?)
}

/// The attribute with the packet of a message of NFLOG: lengths and types are those of the machine that wrote it.
fn nflog(data: &[u8]) -> Result<&[u8], Other> {
    const PAYLOAD: u16 = 9;
    let mut rest = after(data, 4)?;
    while rest.len() >= 4 {
        let little = u16::from_le_bytes([rest[0], rest[1]]);
        let is_little = usize::from(little) >= 4 && usize::from(little) <= rest.len();
        let number = |at: usize| {
            let bytes = [rest[at], rest[at + 1]];
            if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
        };
        let length = usize::from(number(0)).max(4);
        if number(2) & 0x7fff == PAYLOAD {
            return Ok(&rest[4..length.min(rest.len())]);
        }
        rest = after(rest, length.next_multiple_of(4))?;
    }
    Err(CUT)
}

/// Returns what a packet carries if it is a tunnel.
fn tunnelled(packet: &[u8]) -> Option<Result<&[u8], Other>> {
    let outer = LaxSlicedPacket::from_ip(packet).ok()?;
    let (number, payload, is_fragment) = match outer.net? {
        LaxNetSlice::Ipv4(ip) => (ip.payload().ip_number.0, ip.payload().payload, ip.payload().fragmented),
        LaxNetSlice::Ipv6(ip) => (ip.payload().ip_number.0, ip.payload().payload, ip.payload().fragmented),
        LaxNetSlice::Arp(_) => return None,
    };
    match number {
        _ if is_fragment => None,
        4 | 41 => Some(Ok(payload)),
        47 => Some(gre(payload)),
        17 => udp_tunnel(payload),
        _ => None,
    }
}

/// GRE with its optional fields (RFC 2784 §2.1, RFC 2890 §2), and ERSPAN in it (draft-foschiano-erspan-03 §4).
fn gre(data: &[u8]) -> Result<&[u8], Other> {
    let (flags, kind) = (word(data, 0)?, word(data, 2)?);
    let optional = [0x8000, 0x2000, 0x1000].iter().filter(|bit| flags & **bit != 0).count();
    let enhanced = usize::from(flags & 0x0007 == 1 && flags & 0x0080 != 0);
    let payload = after(data, 4 + 4 * (optional + enhanced))?;
    match kind {
        // Type I has no header of its own, and no sequence number in GRE.
        0x88be if flags & 0x1000 == 0 => ethernet(payload),
        0x88be => ethernet(after(payload, 8)?),
        0x22eb => {
            let has_subheader = payload.get(11).ok_or(CUT)? & 1 == 1;
            ethernet(after(payload, if has_subheader { 20 } else { 12 })?)
        }
        0x880b => ppp(payload),
        kind => of_type(kind, payload),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 header without payload: 10.0.0.1 to 10.0.0.2, TCP.
    const IP: [u8; 20] = [0x45, 0, 0, 20, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    const ADDRESSES: [u8; 12] = [2; 12];

    fn inner(link: u32, headers: &[&[u8]]) -> Vec<u8> {
        let frame = [headers.concat(), IP.to_vec()].concat();
        ip_packet(DataLink::from(link), &frame).map(<[u8]>::to_vec).unwrap()
    }

    #[test]
    fn frame_relay_switch_tags_mac_in_mac_and_ipnet_were_not_read() {
        assert_eq!(inner(FRAME_RELAY, &[&[0x18, 0x41, 0x03, 0xcc]]), IP);
        assert_eq!(inner(FRAME_RELAY, &[&[0x18, 0x41, 0x03, 0, 0x80, 0, 0, 0, 8, 0]]), IP);
        assert_eq!(inner(FRAME_RELAY, &[&[0x18, 0x41, 8, 0]]), IP);
        assert_eq!(inner(IPNET, &[&[0; 24]]), IP);
        assert_eq!(inner(DSA, &[&ADDRESSES, &[0xc0, 0x10, 0, 0], &[8, 0]]), IP);
        assert_eq!(inner(DSA_BROADCOM, &[&ADDRESSES, &[0x20, 0, 0, 1], &[8, 0]]), IP);
        assert_eq!(inner(DSA_BROADCOM_IN_FRONT, &[&[0x20, 0, 0, 1], &ADDRESSES, &[8, 0]]), IP);
        assert_eq!(inner(EXTENDED_DSA, &[&ADDRESSES, &[0xda, 0xda, 0, 0, 0xc0, 0x10, 0, 0], &[8, 0]]), IP);
        assert_eq!(inner(1, &[&ADDRESSES, &[0x88, 0xe7, 0, 0, 0, 7], &ADDRESSES, &[8, 0]]), IP);
    }

    #[test]
    fn generic_udp_encapsulation_was_not_read() {
        // UDP from port 1 to 6080, in an IPv4 packet of protocol 17.
        let outer = |payload: &[u8]| {
            let length = (28 + payload.len()) as u8;
            let ip = [0x45, 0, 0, length, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            [&ip[..], &[0, 1, 0x17, 0xc0, 0, length - 20, 0, 0], payload].concat()
        };
        for header in [&[][..], &[0x00, 4, 0, 0], &[0x01, 4, 0, 0, 0, 0, 0, 7]] {
            let packet = outer(&[header, &IP].concat());
            assert_eq!(ip_packet(DataLink::IPV4, &packet).unwrap(), IP);
        }
    }
}
