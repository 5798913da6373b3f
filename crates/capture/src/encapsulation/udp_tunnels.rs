//! Tunnels over UDP.

use super::{Other, after, ethernet, gre, of_type, ppp, word};

/// UDP ports of tunnels: VXLAN (RFC 7348 §8), Geneve (RFC 8926 §3.3), GTP-U (3GPP TS 29.281 §4.4.2), L2TP (RFC 2661 §8.1).
const VXLAN: u16 = 4789;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
const L2TP: u16 = 1701;
/// The assigned port of Generic UDP Encapsulation (draft-ietf-intarea-gue).
const GUE: u16 = 6080;
/// The port that Linux had before there was an assigned one, and still takes unless another is given (`vxlan.rst`).
const VXLAN_OF_LINUX: u16 = 8472;
/// The assigned port of VXLAN with a next protocol (draft-ietf-nvo3-vxlan-gpe §3).
const VXLAN_GPE: u16 = 4790;

/// Returns the packet in a UDP datagram if it is a tunnel's.
pub(super) fn udp_tunnel(data: &[u8]) -> Option<Result<&[u8], Other>> {
    let payload = data.get(8..)?;
    match word(data, 2).ok()? {
        // The flag of a valid network identifier (RFC 7348 §5).
        VXLAN | VXLAN_OF_LINUX if payload.first()? & 0x08 != 0 => Some(after(payload, 8).and_then(ethernet)),
        VXLAN_GPE if payload.first()? & 0x08 != 0 => match payload.get(3)? {
            1 | 2 => Some(after(payload, 8)),
            3 => Some(after(payload, 8).and_then(ethernet)),
            _ => None,
        },
        L2TP => l2tp_payload(payload).map(ppp),
        GENEVE if payload.first()? >> 6 == 0 => {
            let options = 4 * usize::from(payload.first()? & 0x3f);
            let kind = word(payload, 2);
            Some(kind.and_then(|kind| of_type(kind, after(payload, 8 + options)?)))
        }
        GUE => gue(payload),
        // A packet of a user (message type 255), with the optional fields that its flags state (3GPP TS 29.281 §5.1).
        GTP_U if *payload.get(1)? == 255 => gtp_payload(payload).map(Ok),
        _ => None,
    }
}

/// An IP packet without a header, or a header with its length in words of 32 bits and the number of a protocol.
fn gue(data: &[u8]) -> Option<Result<&[u8], Other>> {
    let (first, protocol) = (*data.first()?, *data.get(1)?);
    let payload = after(data, 4 + 4 * usize::from(first & 0x1f));
    match (first >> 5, protocol) {
        (2 | 3, _) => Some(Ok(data)),
        (0, 4 | 41) => Some(payload),
        (0, 47) => Some(payload.and_then(gre)),
        _ => None,
    }
}

fn gtp_payload(data: &[u8]) -> Option<&[u8]> {
    let flags = *data.first()?;
    let mut at = 8;
    if flags & 0x07 != 0 {
        let mut next = *data.get(11)?;
        at = 12;
        while next != 0 {
            let length = 4 * usize::from(*data.get(at)?).max(1);
            next = *data.get(at + length - 1)?;
            at += length;
        }
    }
    data.get(at..)
}

/// A data message of version 2 with the optional fields that its flags state (RFC 2661 §3.1).
fn l2tp_payload(data: &[u8]) -> Option<&[u8]> {
    let flags = word(data, 0).ok()?;
    if flags & 0x8000 != 0 || flags & 0x000f != 2 {
        return None;
    }
    let has = |bit: u16| usize::from(flags & bit != 0);
    let at = 6 + 2 * has(0x4000) + 4 * has(0x0800);
    let offset = if has(0x0200) == 1 { 2 + usize::from(word(data, at).ok()?) } else { 0 };
    data.get(at + offset..)
}
