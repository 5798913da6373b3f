use crate::{Datagram, Ecn, Flags, Options, SackBlock, Segment, SeqNum, SkipNotice, Timestamps};
use core::fmt;
use core::num::NonZeroU16;
use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, TcpHeader, TcpHeaderSlice, UdpHeader};

/// The most bytes that [`emit_headers`] writes: IPv4 without options and TCP with all of them.
pub const HEADERS_MAX: usize = 20 + 60;

/// The option kind that experiments share (RFC 6994 §3).
const EXPERIMENT: u8 = 253;
/// The experiment identifier of SNACK, not registered: "SK".
const SKIP_NOTICE: [u8; 2] = [0x53, 0x4B];

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Sender's address.
    pub source: [u8; 4],
    /// Receiver's address.
    pub destination: [u8; 4],
    /// Sender's port.
    pub source_port: u16,
    /// Receiver's port.
    pub destination_port: u16,
}

/// Why bytes are not a TCP segment over IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Not an IPv4 header, or cut short.
    Ip,
    /// Not a TCP header, or cut short.
    Tcp,
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Ip => "not an IPv4 header",
            Self::Tcp => "not a TCP header",
        })
    }
}

/// Writes the IPv4 and TCP headers of `segment`, with checksums over `payload`, and gives their length.
///
/// `identification` goes into the IPv4 header.
///
/// # Errors
///
/// [`Malformed::Tcp`] if the options do not fit into 40 bytes, [`Malformed::Ip`] if the packet exceeds 65,535 bytes.
pub fn emit_headers(
    segment: &Segment,
    addresses: &Addresses,
    identification: u16,
    payload: &[u8],
    into: &mut [u8; HEADERS_MAX],
) -> Result<usize, Malformed> {
    let mut tcp = tcp_header(segment, addresses)?;
    let ip = ip_header(IpNumber::TCP, addresses, identification, segment.ecn, tcp.header_len() + payload.len())?;
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).map_err(|_| Malformed::Ip)?;
    Ok(join(&ip.to_bytes(), &tcp.to_bytes(), into))
}

/// Writes the IPv4 and UDP headers of `datagram`, with checksums over what follows UDP's header: `payload`.
///
/// `identification` goes into the IPv4 header.
///
/// # Errors
///
/// [`Malformed::Ip`] if the packet exceeds 65,535 bytes.
pub fn emit_datagram_headers(
    datagram: &Datagram,
    addresses: &Addresses,
    identification: u16,
    payload: &[u8],
    into: &mut [u8; HEADERS_MAX],
) -> Result<usize, Malformed> {
    let (source, destination) = (addresses.source_port, addresses.destination_port);
    let mut udp = UdpHeader::without_ipv4_checksum(source, destination, payload.len()).map_err(|_| Malformed::Ip)?;
    let ip = ip_header(IpNumber::UDP, addresses, identification, datagram.ecn, usize::from(udp.length))?;
    udp.checksum = udp.calc_checksum_ipv4(&ip, payload).map_err(|_| Malformed::Ip)?;
    Ok(join(&ip.to_bytes(), &udp.to_bytes(), into))
}

fn ip_header(
    protocol: IpNumber,
    addresses: &Addresses,
    identification: u16,
    ecn: Ecn,
    payload: usize,
) -> Result<Ipv4Header, Malformed> {
    let payload = u16::try_from(payload).map_err(|_| Malformed::Ip)?;
    let mut ip =
        Ipv4Header::new(payload, 64, protocol, addresses.source, addresses.destination).map_err(|_| Malformed::Ip)?;
    ip.identification = identification;
    ip.dont_fragment = true;
    ip.ecn = IpEcn::try_new(ecn as u8).map_err(|_| Malformed::Ip)?;
    ip.header_checksum = ip.calc_header_checksum();
    Ok(ip)
}

/// Puts two headers behind one another and gives their length.
fn join(first: &[u8], second: &[u8], into: &mut [u8; HEADERS_MAX]) -> usize {
    let length = first.len() + second.len();
    into[..first.len()].copy_from_slice(first);
    into[first.len()..length].copy_from_slice(second);
    length
}

/// Reads a segment and its addresses from the bytes of an IPv4 packet; options of unknown kind are skipped.
///
/// # Errors
///
/// [`Malformed`] names the header that cannot be read.
pub fn parse(packet: &[u8]) -> Result<(Segment, Addresses), Malformed> {
    let ip = Ipv4HeaderSlice::from_slice(packet).map_err(|_| Malformed::Ip)?;
    let (start, end) = (usize::from(ip.ihl()) * 4, usize::from(ip.total_len()));
    let body = packet.get(start..end).ok_or(Malformed::Ip)?;
    let tcp = TcpHeaderSlice::from_slice(body).map_err(|_| Malformed::Tcp)?;
    let addresses = Addresses {
        source: ip.source(),
        destination: ip.destination(),
        source_port: tcp.source_port(),
        destination_port: tcp.destination_port(),
    };
    let segment = Segment {
        seq: SeqNum(tcp.sequence_number()),
        ack: SeqNum(tcp.acknowledgment_number()),
        window: tcp.window_size(),
        len: (body.len() - tcp.slice().len()) as u16,
        flags: Flags::from_bits_truncate(u16::from_be_bytes([body[12], body[13]])),
        ecn: Ecn::from_bits(ip.ecn().value()),
        options: parse_options(tcp.options()),
    };
    Ok((segment, addresses))
}

fn tcp_header(segment: &Segment, addresses: &Addresses) -> Result<TcpHeader, Malformed> {
    let mut tcp = TcpHeader::new(addresses.source_port, addresses.destination_port, segment.seq.0, segment.window);
    tcp.acknowledgment_number = segment.ack.0;
    tcp.fin = segment.flags.contains(Flags::FIN);
    tcp.syn = segment.flags.contains(Flags::SYN);
    tcp.rst = segment.flags.contains(Flags::RST);
    tcp.psh = segment.flags.contains(Flags::PSH);
    tcp.ack = segment.flags.contains(Flags::ACK);
    tcp.ns = segment.flags.contains(Flags::AE);
    tcp.ece = segment.flags.contains(Flags::ECE);
    tcp.cwr = segment.flags.contains(Flags::CWR);
    let mut options = OptionWriter { bytes: [0; 40], len: 0 };
    options.write(&segment.options)?;
    tcp.set_options_raw(&options.bytes[..options.len]).map_err(|_| Malformed::Tcp)?;
    Ok(tcp)
}

struct OptionWriter {
    bytes: [u8; 40],
    len: usize,
}

impl OptionWriter {
    fn write(&mut self, options: &Options) -> Result<(), Malformed> {
        if let Some(mss) = options.mss {
            self.put(&[2, 4])?;
            self.put(&mss.get().to_be_bytes())?;
        }
        if let Some(shift) = options.window_scale {
            self.put(&[1, 3, 3, shift])?;
        }
        if options.sack_permitted {
            self.put(&[1, 1, 4, 2])?;
        }
        if let Some(timestamps) = options.timestamps {
            self.put(&[1, 1, 8, 10])?;
            self.put(&timestamps.value.to_be_bytes())?;
            self.put(&timestamps.echo.to_be_bytes())?;
        }
        if let Some(notice) = options.skip_notice {
            self.write_notice(notice)?;
        }
        self.write_sack(options)
    }

    fn write_notice(&mut self, notice: SkipNotice) -> Result<(), Malformed> {
        let [high, low] = SKIP_NOTICE;
        match notice {
            SkipNotice::Offer => self.put(&[EXPERIMENT, 4, high, low]),
            SkipNotice::Skipped { total, first, segments } => {
                self.put(&[1, 1, EXPERIMENT, 14, high, low])?;
                self.put(&total.to_be_bytes())?;
                self.put(&first.0.to_be_bytes())?;
                self.put(&segments.to_be_bytes())
            }
        }
    }

    fn write_sack(&mut self, options: &Options) -> Result<(), Malformed> {
        if options.sack.is_empty() {
            return Ok(());
        }
        self.put(&[1, 1, 5, 2 + 8 * options.sack.len() as u8])?;
        for block in options.sack.as_slice() {
            self.put(&block.left.0.to_be_bytes())?;
            self.put(&block.right.0.to_be_bytes())?;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let end = self.len + bytes.len();
        self.bytes.get_mut(self.len..end).ok_or(Malformed::Tcp)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }
}

fn parse_options(mut bytes: &[u8]) -> Options {
    let mut options = Options::default();
    while let Some((&kind, rest)) = bytes.split_first() {
        match kind {
            0 => break,
            1 => bytes = rest,
            _ => match rest.first() {
                Some(&length) if length >= 2 && bytes.len() >= usize::from(length) => {
                    let (option, after) = bytes.split_at(usize::from(length));
                    parse_option(kind, &option[2..], &mut options);
                    bytes = after;
                }
                _ => break,
            },
        }
    }
    options
}

fn parse_option(kind: u8, body: &[u8], options: &mut Options) {
    match (kind, body) {
        (2, &[high, low]) => options.mss = NonZeroU16::new(u16::from_be_bytes([high, low])),
        // RFC 7323 §2.3: a larger shift counts as 14.
        (3, &[shift]) => options.window_scale = Some(shift.min(14)),
        (4, &[]) => options.sack_permitted = true,
        (5, blocks) => blocks.chunks_exact(8).for_each(|block| {
            options.sack.push(SackBlock { left: SeqNum(word(&block[..4])), right: SeqNum(word(&block[4..])) });
        }),
        (8, stamps) if stamps.len() == 8 => {
            options.timestamps = Some(Timestamps { value: word(&stamps[..4]), echo: word(&stamps[4..]) });
        }
        (EXPERIMENT, &[high, low, ref notice @ ..]) if [high, low] == SKIP_NOTICE => {
            options.skip_notice = parse_notice(notice).or(options.skip_notice);
        }
        _ => {}
    }
}

fn parse_notice(body: &[u8]) -> Option<SkipNotice> {
    match body.len() {
        0 => Some(SkipNotice::Offer),
        10 => Some(SkipNotice::Skipped {
            total: word(&body[..4]),
            first: SeqNum(word(&body[4..8])),
            segments: word(&body[8..]) as u16,
        }),
        _ => None,
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ADDRESSES: Addresses =
        Addresses { source: [10, 0, 0, 1], destination: [10, 1, 0, 2], source_port: 5001, destination_port: 80 };

    fn notices() -> impl Strategy<Value = SkipNotice> {
        let skipped = any::<(u32, u32, u16)>().prop_map(|(total, first, segments)| SkipNotice::Skipped {
            total,
            first: SeqNum(first),
            segments,
        });
        prop_oneof![Just(SkipNotice::Offer), skipped]
    }

    fn segments() -> impl Strategy<Value = Segment> {
        let blocks = proptest::collection::vec((any::<u32>(), any::<u32>()), 0..=3);
        let notice = proptest::option::of(notices());
        (any::<(u32, u32, u16, u16, u8)>(), any::<bool>(), blocks, notice).prop_map(|fields| {
            let (numbers, stamped, blocks, skip_notice) = fields;
            let timestamps = stamped.then_some(Timestamps { value: 7, echo: 9 });
            let mut options = Options { timestamps, skip_notice, ..Options::default() };
            // Beside timestamps and a notice one block fits.
            let room = (40 - options.wire_len() - 4) / 8;
            for (left, right) in blocks.into_iter().take(room) {
                options.sack.push(SackBlock { left: SeqNum(left), right: SeqNum(right) });
            }
            Segment {
                seq: SeqNum(numbers.0),
                ack: SeqNum(numbers.1),
                window: numbers.2,
                len: 0,
                flags: Flags::from_bits_truncate(numbers.3),
                ecn: Ecn::from_bits(numbers.4),
                options,
            }
        })
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_parsed_back(segment in segments()) {
            let mut bytes = [0; HEADERS_MAX];
            let length = emit_headers(&segment, &ADDRESSES, 1, &[], &mut bytes).unwrap();
            prop_assert_eq!(length, 40 + segment.options.wire_len());
            prop_assert_eq!(parse(&bytes[..length]), Ok((segment, ADDRESSES)));
        }

        #[test]
        fn parsing_any_bytes_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = parse(&bytes);
        }
    }

    /// The layout of the specification, byte by byte: kind, length, identifier, total, first, count.
    #[test]
    fn a_skip_notice_stands_behind_the_timestamps_and_before_the_sack_blocks() {
        let skip_notice =
            Some(SkipNotice::Skipped { total: 0x0102_0304, first: SeqNum(0x0506_0708), segments: 0x090A });
        let mut options = Options { timestamps: Some(Timestamps::default()), skip_notice, ..Options::default() };
        options.sack.push(SackBlock::default());
        let segment = Segment { options, ..Segment::default() };
        let mut bytes = [0; HEADERS_MAX];
        assert_eq!(emit_headers(&segment, &ADDRESSES, 1, &[], &mut bytes), Ok(HEADERS_MAX), "all of the 40 bytes");
        assert_eq!(bytes[52..68], [1, 1, 253, 14, 0x53, 0x4B, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(bytes[70..72], [5, 10]);
    }

    #[test]
    fn experiments_of_others_and_notices_of_another_length_are_passed_over() {
        let others: [&[u8]; 4] = [&[253, 4, 0xF9, 0x89], &[253, 5, 0x53, 0x4B, 0], &[253, 2], &[254, 4, 0x53, 0x4B]];
        for option in others {
            assert_eq!(parse_options(option), Options::default(), "{option:?}");
            let mut with_offer = [1; 9];
            with_offer[..option.len()].copy_from_slice(option);
            with_offer[5..].copy_from_slice(&[253, 4, 0x53, 0x4B]);
            assert_eq!(parse_options(&with_offer).skip_notice, Some(SkipNotice::Offer), "{option:?}");
        }
    }

    #[test]
    fn a_datagram_has_28_bytes_of_headers_and_its_mark() {
        let datagram = Datagram { len: 3, ecn: Ecn::Congested, ..Datagram::default() };
        let mut bytes = [0; HEADERS_MAX];
        let length = emit_datagram_headers(&datagram, &ADDRESSES, 1, &[0; 3], &mut bytes).unwrap();
        let ip = Ipv4HeaderSlice::from_slice(&bytes[..length]).unwrap();
        assert_eq!((length, ip.total_len(), ip.protocol(), ip.ecn().value()), (28, 31, IpNumber::UDP, 3));
        // Ports 5001 and 80, length 11 (RFC 768).
        assert_eq!(bytes[20..26], [0x13, 0x89, 0, 80, 0, 11]);
    }

    #[test]
    fn syn_options_survive() {
        let options = Options {
            mss: NonZeroU16::new(1000),
            window_scale: Some(2),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 1, echo: 0 }),
            skip_notice: Some(SkipNotice::Offer),
            ..Options::default()
        };
        let segment = Segment { flags: Flags::SYN, options, ..Segment::default() };
        let mut bytes = [0; HEADERS_MAX];
        let length = emit_headers(&segment, &ADDRESSES, 1, &[], &mut bytes).unwrap();
        assert_eq!(parse(&bytes[..length]).unwrap().0, segment);
    }
}
