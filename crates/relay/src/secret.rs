//! The passphrase or key file of an address.

use crate::identities::{self, Identity};
use crate::key_file::{self, read_bounded};
use earlybird_seal::{Key, KeyError};
use std::fmt;
use std::io;
use std::path::PathBuf;
use url::form_urlencoded;

/// The origin of the key that two relays share.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// A passphrase, as in SRT.
    Passphrase(String),
    /// A file with the key.
    File(PathBuf),
    /// A file with the keys of all callers, for a listener.
    Callers(PathBuf),
}

// A passphrase must not appear in logs.
impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passphrase(_) => formatter.write_str("Passphrase"),
            Self::File(path) => formatter.debug_tuple("File").field(path).finish(),
            Self::Callers(path) => formatter.debug_tuple("Callers").field(path).finish(),
        }
    }
}

/// The option of a passphrase, up to its value.
const PASSPHRASE: &str = "passphrase=";

impl Secret {
    /// Reads the passphrase of a query. A `+` is a plus sign, which form encoding would read as a space: passphrases of addresses and of the
    /// environment must be the same.
    pub(crate) fn passphrase_in(query: &str) -> Option<String> {
        let value = query.split('&').find_map(|option| option.strip_prefix(PASSPHRASE))?;
        let pair = format!("{PASSPHRASE}{}", value.replace('+', "%2B"));
        form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned())
    }

    /// Checks the length of a passphrase.
    pub(crate) fn check(&self) -> Result<(), KeyError> {
        match self {
            Self::Passphrase(passphrase) => Key::check_passphrase(passphrase),
            Self::File(_) | Self::Callers(_) => Ok(()),
        }
    }

    /// Returns the keys: one, or those of all callers and what these may do.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no key.
    pub(crate) fn keys(&self) -> io::Result<(Vec<Key>, Vec<Identity>)> {
        let key = match self {
            Self::Callers(path) => return identities::read(path),
            Self::Passphrase(passphrase) => Key::from_passphrase(passphrase).map_err(io::Error::other),
            Self::File(path) => read_bounded(path, key_file::MOST_BYTES)
                .and_then(|contents| Key::from_file(&contents).map_err(io::Error::other))
                .map_err(|error| io::Error::new(error.kind(), format!("keyfile={}: {error}", path.display()))),
        };
        Ok((vec![key?], Vec::new()))
    }
}

/// Returns an address without its passphrase or stream key, for messages.
pub(crate) fn redacted(address: &str) -> String {
    if let [scheme @ "rtmp:", "", host, application, _] = address.splitn(5, '/').collect::<Vec<_>>()[..] {
        return format!("{scheme}//{host}/{application}/…");
    }
    let Some((before, rest)) = address.split_once(PASSPHRASE) else { return address.to_owned() };
    let after = rest.find('&').map_or("", |end| &rest[end..]);
    format!("{before}{PASSPHRASE}…{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrases_are_percent_encoded_and_plus_is_plus() {
        let read = |query| Secret::passphrase_in(query);
        assert_eq!(read("latency=3&passphrase=a+b%20c%26d&via=udp").as_deref(), Some("a+b c&d"));
        assert_eq!(read("streamid=passphrase=x"), None);
    }

    #[test]
    fn messages_do_not_contain_the_passphrase() {
        for (address, expected) in [
            ("eb://:1?passphrase=hidden", "eb://:1?passphrase=…"),
            ("eb://:1?passphrase=hid#den&latency=3", "eb://:1?passphrase=…&latency=3"),
            ("eb://:1?latency=3", "eb://:1?latency=3"),
            ("rtmp://:1935/live/hid/den", "rtmp://:1935/live/…"),
        ] {
            assert_eq!(redacted(address), expected);
        }
        assert_eq!(format!("{:?}", Secret::Passphrase("hidden".to_owned())), "Passphrase");
    }

    #[test]
    fn an_unusable_key_file_is_named() {
        let missing = Secret::File("/nonexistent/key".into()).keys().expect_err("it does not exist");
        assert!(missing.kind() == io::ErrorKind::NotFound && missing.to_string().contains("/nonexistent/key"));
        let wrong = Secret::File("/proc/version".into()).keys().expect_err("it is no key").to_string();
        assert!(wrong.contains("64 hexadecimal digits"), "{wrong}");
    }

    /// The symptom: `keys=/dev/zero` was read until no memory was left.
    #[test]
    fn files_of_keys_without_an_end_are_refused() {
        let zero = PathBuf::from("/dev/zero");
        for (secret, words) in [
            (Secret::File(zero.clone()), "keyfile=/dev/zero: has more than 1024 bytes; allowed: up to 1024"),
            (Secret::Callers(zero), "keys=/dev/zero: has more than 65536 bytes; allowed: up to 65536"),
        ] {
            assert_eq!(secret.keys().expect_err("it has no end").to_string(), words);
        }
    }

    #[test]
    fn a_key_file_that_is_too_long_is_named_with_its_size() {
        let path = std::env::temp_dir().join(format!("earlybird-long-key-{}", std::process::id()));
        std::fs::write(&path, [b'0'; 2000]).expect("a temporary file");
        let problem = Secret::File(path.clone()).keys().expect_err("it is too long").to_string();
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(problem, format!("keyfile={}: has 2000 bytes; allowed: up to 1024", path.display()));
    }
}
