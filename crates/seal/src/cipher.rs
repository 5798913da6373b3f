//! ChaCha20-Poly1305 with counters as nonces.

use crate::packet::TAG;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// A key of one direction.
#[derive(Debug)]
pub(crate) struct Cipher(LessSafeKey);

/// Returns the nonce of a counter: four zeros and the counter (Noise revision 34 §12.2).
fn nonce(counter: u64) -> [u8; NONCE_LEN] {
    let bytes = counter.to_le_bytes();
    std::array::from_fn(|index| if index < 4 { 0 } else { bytes[index - 4] })
}

impl Cipher {
    /// Returns `None` if the cipher refuses the key, which has the right length.
    pub(crate) fn new(key: &[u8; 32]) -> Option<Self> {
        UnboundKey::new(&CHACHA20_POLY1305, key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    /// Encrypts `text` in place. Returns its tag.
    pub(crate) fn seal(&self, counter: u64, header: &[u8], text: &mut [u8]) -> Option<[u8; TAG]> {
        self.seal_with(nonce(counter), header, text)
    }

    /// Decrypts the ciphertext and tag in place. Returns whether they are authentic.
    #[must_use]
    pub(crate) fn open(&self, counter: u64, header: &[u8], sealed: &mut [u8]) -> bool {
        self.open_with(nonce(counter), header, sealed)
    }

    pub(crate) fn seal_with(&self, nonce: [u8; NONCE_LEN], header: &[u8], text: &mut [u8]) -> Option<[u8; TAG]> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(header), text).ok()?;
        tag.as_ref().try_into().ok()
    }

    pub(crate) fn open_with(&self, nonce: [u8; NONCE_LEN], header: &[u8], sealed: &mut [u8]) -> bool {
        self.0.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(header), sealed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: String = hex.split_whitespace().collect();
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex")).collect()
    }

    /// RFC 8439 §2.8.2.
    #[test]
    fn the_cipher_is_that_of_rfc_8439() {
        let key: [u8; 32] = std::array::from_fn(|index| 0x80 + index as u8);
        let cipher = Cipher::new(&key).expect("the length is right");
        let nonce: [u8; 12] = bytes("07000000 40414243 44454647").try_into().expect("12 bytes");
        let header = bytes("50515253c0c1c2c3c4c5c6c7");
        let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let mut sealed = text.to_vec();
        let tag = cipher.seal_with(nonce, &header, &mut sealed).expect("it is short");
        assert_eq!(
            sealed,
            bytes(
                "d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6 3dbea45e8ca9671282fafb69da92728b
                 1a71de0a9e060b2905d6a5b67ecd3b36 92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc
                 3ff4def08e4b7a9de576d26586cec64b 6116"
            )
        );
        assert_eq!(tag.to_vec(), bytes("1ae10b594f09e26a7e902ecbd0600691"));
        sealed.extend(tag);
        assert!(cipher.open_with(nonce, &header, &mut sealed) && sealed.starts_with(text));
    }

    #[test]
    fn the_nonce_is_the_counter_in_the_format_of_noise() {
        assert_eq!(nonce(0x0102), [0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    }
}
