//! The keys of one handshake, for data in both directions.

use crate::cipher::Cipher;
use crate::handshake::Split;
use crate::packet::{DATA_HEADER, KeyId, Kind, TAG, data_header};
use crate::window::ReplayWindow;
use earlybird_units::{Duration, Instant};
use std::net::SocketAddr;

/// The age at which the caller renews keys (`WireGuard`'s `REKEY_AFTER_TIME`).
const RENEW_AFTER: Duration = Duration::from_secs(120);
/// The age from which keys are not used (`WireGuard`'s `REJECT_AFTER_TIME`).
const EXPIRE_AFTER: Duration = Duration::from_secs(180);
/// The number of datagrams after which the caller renews keys (`WireGuard`'s `REKEY_AFTER_MESSAGES`).
const RENEW_AFTER_DATAGRAMS: u64 = 1 << 60;

/// A set of traffic keys.
#[derive(Debug)]
pub(crate) struct TrafficKeys {
    /// The id in datagrams to this side.
    pub(crate) local: KeyId,
    /// The id in datagrams to the other side.
    pub(crate) remote: KeyId,
    sending: Cipher,
    receiving: Cipher,
    next_counter: u64,
    window: Box<ReplayWindow>,
    created: Instant,
    /// Whether the other side has shown that it has them.
    pub(crate) is_confirmed: bool,
    /// The address to which the response was sent, or from which it came.
    pub(crate) address: SocketAddr,
}

/// The result of decrypting a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// It is authentic; no datagram with a higher counter has arrived if `is_newest`.
    Authentic { is_newest: bool },
    /// It was received before, or is too old to know.
    Replayed,
    /// It is not authentic.
    Forged,
}

impl TrafficKeys {
    pub(crate) fn new(
        [local, remote]: [KeyId; 2],
        [sending, receiving]: [&[u8; 32]; 2],
        created: Instant,
        address: SocketAddr,
    ) -> Option<Self> {
        Some(Self {
            local,
            remote,
            sending: Cipher::new(sending)?,
            receiving: Cipher::new(receiving)?,
            next_counter: 0,
            window: Box::default(),
            created,
            is_confirmed: false,
            address,
        })
    }

    /// The keys of the caller, who has received a response: it shows that the listener has them.
    pub(crate) fn of_caller(ids: [KeyId; 2], split: &Split, now: Instant, address: SocketAddr) -> Option<Self> {
        Some(Self { is_confirmed: true, ..Self::new(ids, [&split.0, &split.1], now, address)? })
    }

    pub(crate) fn of_listener(ids: [KeyId; 2], split: &Split, now: Instant, address: SocketAddr) -> Option<Self> {
        Self::new(ids, [&split.1, &split.0], now, address)
    }

    pub(crate) fn is_usable(&self, now: Instant) -> bool {
        now - self.created < EXPIRE_AFTER
    }

    pub(crate) fn is_renewal_due(&self, now: Instant) -> bool {
        now - self.created >= RENEW_AFTER || self.next_counter >= RENEW_AFTER_DATAGRAMS
    }

    /// Writes a sealed datagram. Returns its length; `None` if it does not fit.
    pub(crate) fn seal(&mut self, kind: Kind, text: &[u8], into: &mut [u8]) -> Option<usize> {
        let counter = self.next_counter;
        let length = DATA_HEADER + text.len() + TAG;
        let into = into.get_mut(..length)?;
        let header = data_header(kind, self.remote, counter);
        into[..DATA_HEADER].copy_from_slice(&header);
        let (sealed, tag) = into[DATA_HEADER..].split_at_mut(text.len());
        sealed.copy_from_slice(text);
        // Before the cipher: a counter must never be used twice.
        self.next_counter += 1;
        tag.copy_from_slice(&self.sending.seal(counter, &header, sealed)?);
        Some(length)
    }

    /// Decrypts a datagram in place; its text is then between header and tag.
    pub(crate) fn open(&mut self, datagram: &mut [u8]) -> Opened {
        let Some((header, sealed)) = datagram.split_first_chunk_mut::<DATA_HEADER>() else { return Opened::Forged };
        let counter = u64::from_le_bytes(std::array::from_fn(|index| header[8 + index]));
        if !self.receiving.open(counter, header, sealed) {
            return Opened::Forged;
        }
        let is_newest = self.window.is_highest(counter);
        if self.window.accept(counter) { Opened::Authentic { is_newest } } else { Opened::Replayed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> [TrafficKeys; 2] {
        let split = ([1; 32], [2; 32]);
        let address = SocketAddr::from(([192, 0, 2, 1], 1));
        let ids = [KeyId(0x11), KeyId(0x22)];
        let caller = TrafficKeys::of_caller(ids, &split, Instant::ZERO, address).expect("valid");
        let listener = TrafficKeys::of_listener([ids[1], ids[0]], &split, Instant::ZERO, address).expect("valid");
        [caller, listener]
    }

    fn seal(keys: &mut TrafficKeys, text: &[u8]) -> Vec<u8> {
        let mut datagram = vec![0; 64];
        let length = keys.seal(Kind::Data, text, &mut datagram).expect("it fits");
        datagram.truncate(length);
        datagram
    }

    /// The bytes were computed with Python's `cryptography` 48: `ChaCha20Poly1305(b"\x01" * 32).encrypt(nonce, b"early bird", header)`.
    #[test]
    fn a_datagram_has_header_ciphertext_and_tag() {
        let [mut caller, _] = pair();
        seal(&mut caller, b"");
        let datagram = seal(&mut caller, b"early bird");
        assert_eq!(datagram[..16], [4, 0x22, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(datagram.len(), 10 + usize::from(crate::OVERHEAD));
        let expected = [
            0x28, 0x5b, 0x59, 0x7f, 0xf1, 0xe8, 0xe5, 0xbf, 0x4c, 0x01, 0x25, 0xb0, 0x5e, 0x05, 0x41, 0xc4, 0xc3, 0x04,
            0x38, 0x1c, 0x7b, 0x35, 0xb8, 0x43, 0x96, 0x76,
        ];
        assert_eq!(datagram[16..], expected);
    }

    #[test]
    fn a_datagram_is_opened_once_and_only_unchanged() {
        let [mut caller, mut listener] = pair();
        let datagram = seal(&mut caller, b"early bird");
        for index in 0..datagram.len() {
            let mut changed = datagram.clone();
            changed[index] ^= 1;
            assert_eq!(listener.open(&mut changed), Opened::Forged, "{index}");
            assert_eq!(listener.open(&mut datagram[..index].to_vec()), Opened::Forged, "{index}");
        }
        let mut opened = datagram.clone();
        assert_eq!(listener.open(&mut opened), Opened::Authentic { is_newest: true });
        assert_eq!(&opened[DATA_HEADER..][..10], b"early bird");
        assert_eq!(listener.open(&mut datagram.clone()), Opened::Replayed);
        assert_eq!(caller.open(&mut datagram.clone()), Opened::Forged, "to the sender itself");
    }
}
