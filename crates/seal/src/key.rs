//! The key that both sides know.

use argon2::{Algorithm, Argon2, Params, Version};
use std::fmt;

/// A key of 32 bytes, which both sides know.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(pub(crate) [u8; 32]);

// The key must not appear in logs.
impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key")
    }
}

/// An unusable passphrase or key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The passphrase has this number of characters.
    Length(usize),
    /// The derivation of the key needs more memory than there is.
    Memory,
    /// The contents of the file are no key.
    File,
}

impl fmt::Display for KeyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(length) => {
                let [least, most] = PASSPHRASE_LENGTHS;
                write!(formatter, "has {length} characters; allowed: {least} to {most}")
            }
            Self::Memory => formatter.write_str("cannot be used: the derivation of the key needs 64 MiB of memory"),
            Self::File => formatter
                .write_str("is no key; allowed: 32 bytes, or 64 hexadecimal digits (made by `openssl rand -hex 32`)"),
        }
    }
}

impl std::error::Error for KeyError {}

/// The lengths of a passphrase in SRT (`SRTO_PASSPHRASE`).
const PASSPHRASE_LENGTHS: [usize; 2] = [10, 79];
/// The salt of passphrases. It is fixed, as the two sides share nothing else before the first datagram.
const SALT: &[u8] = b"earlybird passphrase 1";
/// Memory in KiB, passes and lanes: the second recommended option of RFC 9106 §4, for machines with little memory.
const ARGON2_COSTS: [u32; 3] = [64 << 10, 3, 4];

impl Key {
    /// Creates a key of 32 random bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Checks the length of a passphrase: 10 to 79 characters, as in SRT.
    ///
    /// # Errors
    ///
    /// If it is shorter or longer.
    pub fn check_passphrase(passphrase: &str) -> Result<(), KeyError> {
        let length = passphrase.chars().count();
        let [least, most] = PASSPHRASE_LENGTHS;
        if (least..=most).contains(&length) { Ok(()) } else { Err(KeyError::Length(length)) }
    }

    /// Derives a key from a passphrase by Argon2id (RFC 9106).
    ///
    /// # Errors
    ///
    /// As [`Self::check_passphrase`].
    pub fn from_passphrase(passphrase: &str) -> Result<Self, KeyError> {
        Self::check_passphrase(passphrase)?;
        let [memory, passes, lanes] = ARGON2_COSTS;
        let mut bytes = [0; 32];
        Params::new(memory, passes, lanes, Some(bytes.len()))
            .map(|params| Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
            .and_then(|argon2| argon2.hash_password_into(passphrase.as_bytes(), SALT, &mut bytes))
            .map_err(|_| KeyError::Memory)?;
        Ok(Self(bytes))
    }

    /// Reads the contents of a key file: 32 bytes, or 64 hexadecimal digits and white space around them.
    ///
    /// # Errors
    ///
    /// If the contents are anything else.
    pub fn from_file(contents: &[u8]) -> Result<Self, KeyError> {
        if let Ok(bytes) = contents.try_into() {
            return Ok(Self(bytes));
        }
        let digits = contents.trim_ascii();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(KeyError::File);
        }
        let text = std::str::from_utf8(digits).map_err(|_| KeyError::File)?;
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| KeyError::File)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrases_have_the_lengths_of_srt() {
        for (length, is_allowed) in [(9, false), (10, true), (79, true), (80, false)] {
            assert_eq!(Key::from_passphrase(&"x".repeat(length)).is_ok(), is_allowed, "{length}");
        }
        let error = Key::from_passphrase("short").expect_err("five characters").to_string();
        assert_eq!(error, "has 5 characters; allowed: 10 to 79");
    }

    #[test]
    fn a_passphrase_has_one_key_and_no_other_has_it() {
        let key = |text| Key::from_passphrase(text).expect("it is long enough");
        assert_eq!(key("correct horse"), key("correct horse"));
        assert_ne!(key("correct horse"), key("correct horsf"));
        assert_eq!(format!("{:?}", key("correct horse")), "Key");
    }

    #[test]
    fn key_files_have_32_bytes_or_64_digits() {
        let key = Key::new(std::array::from_fn(|index| index as u8 * 8));
        let digits = key.0.map(|byte| format!("{byte:02X}")).concat();
        for contents in [key.0.to_vec(), digits.clone().into_bytes(), format!("{digits}\n").into_bytes()] {
            assert_eq!(Key::from_file(&contents), Ok(key.clone()));
        }
        for contents in [&key.0[..31], &digits.as_bytes()[..63], &[b'+'; 64], &[]] {
            assert_eq!(Key::from_file(contents), Err(KeyError::File));
        }
    }
}
