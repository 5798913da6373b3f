//! The header of datagrams.

/// Bytes of the kind and the receiver's id.
pub(crate) const HEADER: usize = 8;
/// Bytes of the header of data: kind, id and counter.
pub(crate) const DATA_HEADER: usize = 16;
/// Bytes of the tag of ChaCha20-Poly1305.
pub(crate) const TAG: usize = 16;
/// The bytes that each datagram is longer by.
pub const OVERHEAD: u16 = (DATA_HEADER + TAG) as u16;
/// Bytes of an id.
pub(crate) const ID: usize = 7;

/// The kind of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Initiation = 1,
    Response = 2,
    Cookie = 3,
    Data = 4,
    Control = 5,
}

/// The id that the receiver of a datagram has chosen for a set of keys; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyId(pub(crate) u64);

impl KeyId {
    pub(crate) fn of(bytes: [u8; ID]) -> Self {
        let mut whole = [0; 8];
        whole[..ID].copy_from_slice(&bytes);
        Self(u64::from_le_bytes(whole))
    }

    pub(crate) fn bytes(self) -> [u8; ID] {
        let whole = self.0.to_le_bytes();
        std::array::from_fn(|index| whole[index])
    }
}

/// Returns the first bytes of a datagram.
pub(crate) fn header(kind: Kind, id: KeyId) -> [u8; HEADER] {
    (id.0 << 8 | kind as u64).to_le_bytes()
}

/// Returns the header of data.
pub(crate) fn data_header(kind: Kind, id: KeyId, counter: u64) -> [u8; DATA_HEADER] {
    let [first, second] = [header(kind, id), counter.to_le_bytes()];
    std::array::from_fn(|index| if index < HEADER { first[index] } else { second[index - HEADER] })
}

/// Reads the header of a datagram and returns the rest. `None` if it is too short or of another kind.
pub(crate) fn split(datagram: &[u8]) -> Option<(Kind, KeyId, &[u8])> {
    let (first, rest) = datagram.split_first_chunk::<HEADER>()?;
    let whole = u64::from_le_bytes(*first);
    let kind = match whole & 0xFF {
        1 => Kind::Initiation,
        2 => Kind::Response,
        3 => Kind::Cookie,
        4 => Kind::Data,
        5 => Kind::Control,
        _ => return None,
    };
    Some((kind, KeyId(whole >> 8), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_kind_id_and_counter() {
        let header = data_header(Kind::Data, KeyId(0x07_0605_0403_0201), 0x0100);
        assert_eq!(header, [4, 1, 2, 3, 4, 5, 6, 7, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(split(&header), Some((Kind::Data, KeyId(0x07_0605_0403_0201), &header[HEADER..])));
        assert_eq!(KeyId::of(KeyId(0x07_0605_0403_0201).bytes()), KeyId(0x07_0605_0403_0201));
    }

    /// A TCP header begins with its source port. The ports of relays are 4201 and ephemeral ones (RFC 6335: from 49152; Linux: from 32768).
    #[test]
    fn a_tcp_header_is_of_no_kind() {
        for port in (4201..=u16::MAX).step_by(17) {
            let mut segment = [0; 20];
            segment[..2].copy_from_slice(&port.to_be_bytes());
            assert_eq!(split(&segment), None, "{port}");
        }
        assert_eq!(split(&[4; 7]), None);
    }
}
