//! ICMP error reports of routers and hosts (RFC 792, 4443).

use crate::checksum::{self, pseudo_header};
use crate::emit::{ip_header, ip_len};
use crate::ip::Ip;
use crate::protocol;
use crate::{Addresses, CannotEmit, Checksums, Ecn, Malformed, SeqNum, Style};
use core::net::IpAddr;
use etherparse::checksum::Sum16BitWords;

/// A report about a segment that was sent.
///
/// Anybody can send one. Before it is acted on, its connection must be found by the addresses, and its number must lie between
/// SND.UNA and SND.NXT (RFC 5927 §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// The error.
    pub trouble: IcmpError,
    /// The addresses of that segment: the destination is the peer.
    pub addresses: Addresses,
    /// Its sequence number.
    pub seq: SeqNum,
    /// The address of the reporter: a router, or the peer.
    pub from: IpAddr,
}

/// The error that an ICMP message reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// It was too big for a link (RFC 1191, 8201).
    TooBig {
        /// MTU of this link in bytes, IP header included. Routers older than RFC 1191 do not report it; the next lower plateau
        /// of its table is used then (§7.1). At least 68, in IPv6 1280.
        mtu: u16,
    },
    /// It did not arrive.
    Unreachable(Unreachable),
    /// Its hop limit was exceeded: a loop.
    TimeExceeded,
    /// A router or the peer found its header invalid.
    ParameterProblem,
}

/// The reason for which a segment did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// No route to the network.
    Network,
    /// The host does not answer.
    Host,
    /// The host does not support TCP.
    Protocol,
    /// No process listens at the port.
    Port,
    /// A firewall or a policy prohibits it.
    Prohibited,
    /// Something else.
    Other,
}

impl IcmpError {
    /// Returns whether the error is permanent (RFC 9293 §3.9.2.2, and prohibitions). Even then only a connection that is not yet
    /// established should be aborted (RFC 5927 §5.2).
    pub const fn is_hard(self) -> bool {
        matches!(self, Self::Unreachable(Unreachable::Protocol | Unreachable::Port | Unreachable::Prohibited))
    }
}

/// Length of the ICMP header in bytes; the quoted packet follows.
const HEADER: usize = 8;
/// Least number of bytes that a report quotes of a segment: ports and sequence number (RFC 792).
const QUOTE: usize = 8;
/// The least MTU of an IPv4 link (RFC 791 §3.2).
const LEAST_MTU_V4: u16 = 68;
/// The least MTU of an IPv6 link (RFC 8200 §5).
const LEAST_MTU_V6: u16 = 1280;
/// MTUs of links that were common (RFC 1191 §7.1), from the top.
const PLATEAUS: [u16; 10] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296, LEAST_MTU_V4];

/// Types of ICMP for IPv4.
mod v4 {
    pub(super) const UNREACHABLE: u8 = 3;
    pub(super) const TIME_EXCEEDED: u8 = 11;
    pub(super) const PARAMETER_PROBLEM: u8 = 12;
    /// Code of [`UNREACHABLE`].
    pub(super) const FRAGMENTATION_NEEDED: u8 = 4;
}
/// Types of ICMP for IPv6.
mod v6 {
    pub(super) const UNREACHABLE: u8 = 1;
    pub(super) const TOO_BIG: u8 = 2;
    pub(super) const TIME_EXCEEDED: u8 = 3;
    pub(super) const PARAMETER_PROBLEM: u8 = 4;
}

/// Reads a report about a TCP segment from the bytes of an IPv4 or IPv6 packet.
///
/// # Errors
///
/// [`Malformed`], if it is none.
pub fn parse_icmp(packet: &[u8], checksums: Checksums) -> Result<Icmp, Malformed> {
    let outer = Ip::read(packet, checksums)?;
    let message = &packet[outer.body.clone()];
    verify(&outer, message, checksums)?;
    let (header, quoted) = message.split_at_checked(HEADER).ok_or(Malformed::IcmpHeader)?;
    let (kind, code) = (header[0], header[1]);
    let field = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    if is_v4(&outer) { known_v4(kind) } else { known_v6(kind) }?;
    // Routers change the header on the path and do not all update the quoted checksum.
    let inner = Ip::read_quoted(quoted, Checksums::Ignore)?;
    let trouble =
        if is_v4(&outer) { trouble_v4(kind, code, field, inner.body.end) } else { trouble_v6(kind, code, field) }?;
    let (addresses, seq) = read_quote(&inner, quoted)?;
    // The quoted packet must have come from the address that the report was sent to; anything else is forged.
    if inner.source != outer.destination {
        return Err(Malformed::IcmpUnbelievable);
    }
    Ok(Icmp { trouble, addresses, seq, from: outer.source })
}

const fn is_v4(outer: &Ip) -> bool {
    matches!(outer.source, IpAddr::V4(_))
}

fn verify(outer: &Ip, message: &[u8], checksums: Checksums) -> Result<(), Malformed> {
    let sum = match (outer.protocol, outer.source) {
        // ICMP for IPv4 has no pseudo header, ICMPv6 has one (RFC 4443 §2.3).
        (protocol::ICMP, IpAddr::V4(_)) => Some(Sum16BitWords::new()),
        (protocol::ICMP_V6, IpAddr::V6(_)) => {
            pseudo_header(outer.source, outer.destination, protocol::ICMP_V6, message.len())
        }
        _ => None,
    };
    let sum = sum.ok_or(Malformed::Protocol(outer.protocol))?;
    if checksums.allow(|| sum.add_slice(message)) { Ok(()) } else { Err(Malformed::IcmpChecksum) }
}

const fn known_v4(kind: u8) -> Result<(), Malformed> {
    match kind {
        v4::UNREACHABLE | v4::TIME_EXCEEDED | v4::PARAMETER_PROBLEM => Ok(()),
        _ => Err(Malformed::IcmpKind(kind)),
    }
}

const fn known_v6(kind: u8) -> Result<(), Malformed> {
    match kind {
        v6::UNREACHABLE..=v6::PARAMETER_PROBLEM => Ok(()),
        _ => Err(Malformed::IcmpKind(kind)),
    }
}

/// `len` is the length of the packet that the report is about.
fn trouble_v4(kind: u8, code: u8, field: u32, len: usize) -> Result<IcmpError, Malformed> {
    Ok(match (kind, code) {
        (v4::UNREACHABLE, v4::FRAGMENTATION_NEEDED) => return too_big_v4(field as u16, len),
        (v4::UNREACHABLE, 0 | 5 | 6 | 11) => IcmpError::Unreachable(Unreachable::Network),
        (v4::UNREACHABLE, 1 | 7 | 8 | 12) => IcmpError::Unreachable(Unreachable::Host),
        (v4::UNREACHABLE, 2) => IcmpError::Unreachable(Unreachable::Protocol),
        (v4::UNREACHABLE, 3) => IcmpError::Unreachable(Unreachable::Port),
        // RFC 1122 §3.2.2.1 and RFC 1812 §5.2.7.1: administratively prohibited.
        (v4::UNREACHABLE, 9 | 10 | 13) => IcmpError::Unreachable(Unreachable::Prohibited),
        (v4::UNREACHABLE, _) => IcmpError::Unreachable(Unreachable::Other),
        (v4::TIME_EXCEEDED, _) => IcmpError::TimeExceeded,
        _ => IcmpError::ParameterProblem,
    })
}

fn too_big_v4(mtu: u16, len: usize) -> Result<IcmpError, Malformed> {
    let mtu = match mtu {
        // Zero: a router older than RFC 1191 (§5).
        0 => PLATEAUS.into_iter().find(|&plateau| usize::from(plateau) < len).unwrap_or(LEAST_MTU_V4),
        reported => reported,
    };
    checked_mtu(mtu.into(), LEAST_MTU_V4)
}

fn trouble_v6(kind: u8, code: u8, field: u32) -> Result<IcmpError, Malformed> {
    Ok(match (kind, code) {
        (v6::TOO_BIG, _) => return checked_mtu(field, LEAST_MTU_V6),
        (v6::UNREACHABLE, 0) => IcmpError::Unreachable(Unreachable::Network),
        (v6::UNREACHABLE, 1 | 5 | 6) => IcmpError::Unreachable(Unreachable::Prohibited),
        (v6::UNREACHABLE, 3) => IcmpError::Unreachable(Unreachable::Host),
        (v6::UNREACHABLE, 4) => IcmpError::Unreachable(Unreachable::Port),
        (v6::UNREACHABLE, _) => IcmpError::Unreachable(Unreachable::Other),
        (v6::TIME_EXCEEDED, _) => IcmpError::TimeExceeded,
        // RFC 4443 §3.4: an unknown next header is what IPv4 calls an unreachable protocol.
        (_, 1) => IcmpError::Unreachable(Unreachable::Protocol),
        _ => IcmpError::ParameterProblem,
    })
}

/// Returns the error, unless no link can have such an MTU (RFC 8201 §4 for IPv6).
fn checked_mtu(mtu: u32, least: u16) -> Result<IcmpError, Malformed> {
    if mtu < least.into() {
        return Err(Malformed::IcmpUnbelievable);
    }
    // ICMPv6 has 32 bits for the MTU; no path needs more than the largest IP packet.
    Ok(IcmpError::TooBig { mtu: u16::try_from(mtu).unwrap_or(u16::MAX) })
}

/// Returns addresses and sequence number of the quoted segment.
fn read_quote(inner: &Ip, quoted: &[u8]) -> Result<(Addresses, SeqNum), Malformed> {
    if inner.protocol != protocol::TCP {
        return Err(Malformed::Protocol(inner.protocol));
    }
    let tcp = quoted.get(inner.body.start..).unwrap_or_default();
    let &[a, b, c, d, ref seq @ ..] = tcp.first_chunk::<QUOTE>().ok_or(Malformed::IcmpHeader)?;
    let addresses = Addresses {
        source: inner.source,
        destination: inner.destination,
        source_port: u16::from_be_bytes([a, b]),
        destination_port: u16::from_be_bytes([c, d]),
    };
    Ok((addresses, SeqNum(u32::from_be_bytes(*seq))))
}

/// Writes the report that `from` sends to the sender of `packet`, and returns its length. It quotes as much as fits into `into`
/// and into the least packet that every link takes (RFC 1812 §4.3.2.3, RFC 4443 §2.4).
///
/// # Errors
///
/// [`CannotEmit`], if `from` is of another family than the packet, or `packet` is no packet, or `into` is too short.
pub fn emit_icmp(trouble: IcmpError, packet: &[u8], from: IpAddr, into: &mut [u8]) -> Result<usize, CannotEmit> {
    let inner = Ip::read_quoted(packet, Checksums::Ignore).map_err(|_| CannotEmit::Length)?;
    let addresses = Addresses { source: from, destination: inner.source, source_port: 0, destination_port: 0 };
    let (protocol, [kind, code], field, most) = match from {
        // 576 bytes is the limit of RFC 1812 §4.3.2.3.
        IpAddr::V4(_) => (protocol::ICMP, code_v4(trouble), mtu_of(trouble), 576),
        IpAddr::V6(_) => (protocol::ICMP_V6, code_v6(trouble), mtu_of(trouble), usize::from(LEAST_MTU_V6)),
    };
    let start = ip_len(&addresses);
    let room = into.len().min(most).checked_sub(start + HEADER).ok_or(CannotEmit::Length)?;
    let quote = &packet[..packet.len().min(room)];
    let len = HEADER + quote.len();
    let headers = ip_header(protocol, &addresses, Style::default(), Ecn::NotCapable, len)?;
    let (ip_header, message) = into[..start + len].split_at_mut(start);
    ip_header.copy_from_slice(headers.as_slice());
    // The checksum is zero while the sum is computed.
    message[..4].copy_from_slice(&[kind, code, 0, 0]);
    message[4..HEADER].copy_from_slice(&field.to_be_bytes());
    message[HEADER..].copy_from_slice(quote);
    let sum = match from {
        IpAddr::V4(_) => Sum16BitWords::new(),
        IpAddr::V6(_) => pseudo_header(from, inner.source, protocol, len).ok_or(CannotEmit::Families)?,
    };
    let checksum = checksum::field(&sum.add_slice(message));
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    Ok(start + len)
}

const fn mtu_of(trouble: IcmpError) -> u32 {
    match trouble {
        IcmpError::TooBig { mtu } => mtu as u32,
        _ => 0,
    }
}

const fn code_v4(trouble: IcmpError) -> [u8; 2] {
    match trouble {
        IcmpError::TooBig { .. } => [v4::UNREACHABLE, v4::FRAGMENTATION_NEEDED],
        IcmpError::Unreachable(reason) => [
            v4::UNREACHABLE,
            match reason {
                Unreachable::Network => 0,
                Unreachable::Host => 1,
                Unreachable::Protocol => 2,
                Unreachable::Port => 3,
                Unreachable::Prohibited => 13,
                Unreachable::Other => 15,
            },
        ],
        IcmpError::TimeExceeded => [v4::TIME_EXCEEDED, 0],
        IcmpError::ParameterProblem => [v4::PARAMETER_PROBLEM, 0],
    }
}

const fn code_v6(trouble: IcmpError) -> [u8; 2] {
    match trouble {
        IcmpError::TooBig { .. } => [v6::TOO_BIG, 0],
        IcmpError::Unreachable(Unreachable::Protocol) => [v6::PARAMETER_PROBLEM, 1],
        IcmpError::Unreachable(reason) => [
            v6::UNREACHABLE,
            match reason {
                Unreachable::Network => 0,
                Unreachable::Prohibited => 1,
                Unreachable::Host => 3,
                Unreachable::Port => 4,
                Unreachable::Other | Unreachable::Protocol => 2,
            },
        ],
        IcmpError::TimeExceeded => [v6::TIME_EXCEEDED, 0],
        IcmpError::ParameterProblem => [v6::PARAMETER_PROBLEM, 0],
    }
}
