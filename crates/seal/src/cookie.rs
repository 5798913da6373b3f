//! Cookies prove that a caller receives at its address (as in `WireGuard`, and in DTLS: RFC 9147 §5.1).

use crate::cipher::Cipher;
use crate::key::Key;
use crate::packet::{HEADER, KeyId, Kind, TAG, header};
use crate::random::RandomSource;
use earlybird_units::{Duration, Instant};
use ring::aead::NONCE_LEN;
use ring::hmac;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Bytes of a cookie, a MAC of HMAC-SHA256.
pub(crate) const COOKIE: usize = 32;
/// The time after which a listener changes its secret; the previous one remains valid for as long (`WireGuard`: 120 s).
pub(crate) const LIFETIME: Duration = Duration::from_secs(120);
/// Bytes of a datagram with a cookie.
const DATAGRAM: usize = HEADER + NONCE_LEN + COOKIE + TAG;

/// The secrets from which a listener computes cookies. It stores none.
#[derive(Debug)]
pub(crate) struct Cookies {
    secrets: [hmac::Key; 2],
    since: Instant,
}

impl Cookies {
    pub(crate) fn new(random: &RandomSource, now: Instant) -> io::Result<Self> {
        Ok(Self { secrets: [secret(random)?, secret(random)?], since: now })
    }

    /// Changes the secret if it is due.
    pub(crate) fn update(&mut self, random: &RandomSource, now: Instant) -> io::Result<()> {
        if now - self.since >= LIFETIME {
            self.secrets.swap(0, 1);
            self.secrets[0] = secret(random)?;
            self.since = now;
        }
        Ok(())
    }

    /// Returns the cookie of an address.
    pub(crate) fn of(&self, address: SocketAddr) -> [u8; COOKIE] {
        tag(&self.secrets[0], &text(address))
    }

    pub(crate) fn is_valid(&self, cookie: &[u8; COOKIE], address: SocketAddr) -> bool {
        let text = text(address);
        self.secrets.iter().any(|secret| hmac::verify(secret, &text, cookie).is_ok())
    }
}

fn secret(random: &RandomSource) -> io::Result<hmac::Key> {
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &random.bytes::<32>()?))
}

fn text(address: SocketAddr) -> [u8; 18] {
    let ip = match address.ip() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    let port = address.port().to_be_bytes();
    std::array::from_fn(|index| if index < 16 { ip[index] } else { port[index - 16] })
}

/// Returns a MAC of HMAC-SHA256 (RFC 2104).
pub(crate) fn tag(key: &hmac::Key, text: &[u8]) -> [u8; 32] {
    let tag = hmac::sign(key, text);
    std::array::from_fn(|index| tag.as_ref()[index])
}

/// Returns the key that encrypts the cookies for one initiation: only who made it, or knows the key of both, can read them.
fn reply_cipher(key: &Key, ephemeral: &[u8; 32]) -> Option<Cipher> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key.0);
    let mut text = b"earlybird cookie".to_vec();
    text.extend(ephemeral);
    Cipher::new(&tag(&key, &text))
}

/// Returns the datagram that carries a cookie to a caller.
pub(crate) fn reply(
    key: &Key,
    ephemeral: &[u8; 32],
    to: KeyId,
    mut cookie: [u8; COOKIE],
    nonce: [u8; NONCE_LEN],
) -> Option<Vec<u8>> {
    let header = header(Kind::Cookie, to);
    let tag = reply_cipher(key, ephemeral)?.seal_with(nonce, &header, &mut cookie)?;
    Some([&header[..], &nonce, &cookie, &tag].concat())
}

/// Reads such a datagram.
pub(crate) fn read_reply(key: &Key, ephemeral: &[u8; 32], datagram: &[u8]) -> Option<[u8; COOKIE]> {
    let datagram: &[u8; DATAGRAM] = datagram.try_into().ok()?;
    let (header, rest) = datagram.split_first_chunk::<HEADER>()?;
    let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>()?;
    let mut sealed = sealed.to_vec();
    let is_authentic = reply_cipher(key, ephemeral)?.open_with(*nonce, header, &mut sealed);
    sealed.first_chunk().copied().filter(|_| is_authentic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_valid_for_one_address_and_at_most_four_minutes() {
        let mut number = 0;
        let random = RandomSource::new(move |bytes| {
            number += 1;
            bytes.fill(number);
            Ok(())
        });
        let after = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut cookies = Cookies::new(&random, Instant::ZERO).expect("random bytes");
        let [here, there] = [1, 2].map(|port| SocketAddr::from(([192, 0, 2, 1], port)));
        let cookie = cookies.of(here);
        let mut is_valid = |seconds, address| {
            cookies.update(&random, after(seconds)).expect("random bytes");
            cookies.is_valid(&cookie, address)
        };
        assert!(is_valid(0, here) && !is_valid(0, there) && is_valid(120, here) && is_valid(239, here));
        assert!(!is_valid(240, here));
    }

    #[test]
    fn only_the_caller_can_read_a_cookie() {
        let key = Key::new([1; 32]);
        let datagram = reply(&key, &[2; 32], KeyId(3), [4; 32], [5; 12]).expect("it is short");
        assert_eq!(read_reply(&key, &[2; 32], &datagram), Some([4; 32]));
        assert_eq!(read_reply(&key, &[9; 32], &datagram), None);
        assert_eq!(read_reply(&Key::new([9; 32]), &[2; 32], &datagram), None);
    }
}
