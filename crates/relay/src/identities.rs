//! Callers with keys of their own, and what each of them may do: the file of `keys=`.

use crate::key_file::{self, read_bounded};
use crate::message::Direction;
use earlybird_seal::{Identities, Key, KeyError};
use serde::Deserialize;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// A caller that is known by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) name: String,
    /// The streams that it may send or receive; `None` for all.
    streams: Option<Vec<String>>,
    may_send: bool,
    may_receive: bool,
}

/// The callers of a listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct Callers {
    all: Vec<Identity>,
    /// The number of the caller of each address.
    numbers: Identities,
}

impl Callers {
    pub(crate) fn new(all: Vec<Identity>, numbers: Identities) -> Self {
        Self { all, numbers }
    }

    /// Returns the caller at an address; `None` if callers have no keys of their own.
    pub(crate) fn at(&self, address: SocketAddr) -> Option<&Identity> {
        self.all.get(self.numbers.of(address)?)
    }
}

/// The contents of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    caller: Vec<Entry>,
}

/// A caller in the file. It has one of three forms of a key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    passphrase: Option<String>,
    key: Option<String>,
    keyfile: Option<PathBuf>,
    streamids: Option<Vec<String>>,
    directions: Option<Vec<Permitted>>,
}

/// A direction, as the caller sees it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Permitted {
    Send,
    Receive,
}

/// The most callers in a file: each of them costs a MAC for every initiation of a stranger.
const MOST: usize = 64;
/// The largest file: 1 KiB for each caller.
const MOST_BYTES: u64 = 64 << 10;

impl Identity {
    /// Returns whether the caller may send or receive a stream; `direction` is the caller's.
    pub(crate) fn may(&self, direction: Direction, stream: &str) -> bool {
        let is_permitted = match direction {
            Direction::Push => self.may_send,
            Direction::Pull => self.may_receive,
        };
        is_permitted && self.streams.as_ref().is_none_or(|streams| streams.iter().any(|name| name == stream))
    }
}

/// Reads the keys of callers and what they may do, in the same order.
///
/// # Errors
///
/// If the file cannot be read, or is not valid: the error names file, caller and what is allowed.
pub(crate) fn read(path: &Path) -> io::Result<(Vec<Key>, Vec<Identity>)> {
    let explain = |kind, problem: String| io::Error::new(kind, format!("keys={}: {problem}", path.display()));
    let contents = read_bounded(path, MOST_BYTES).map_err(|error| explain(error.kind(), error.to_string()))?;
    let text = str::from_utf8(&contents).map_err(|error| explain(io::ErrorKind::InvalidData, error.to_string()))?;
    parse(text).map_err(|problem| explain(io::ErrorKind::InvalidData, problem))
}

fn parse(text: &str) -> Result<(Vec<Key>, Vec<Identity>), String> {
    let contents: Contents = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        format!("line {line}: {}", error.message().replace('\n', " "))
    })?;
    if contents.caller.is_empty() || contents.caller.len() > MOST {
        return Err(format!("has {} tables [[caller]]; allowed: 1 to {MOST}", contents.caller.len()));
    }
    let (mut keys, mut identities) = (Vec::<Key>::new(), Vec::<Identity>::new());
    for entry in contents.caller {
        let key = entry.key().map_err(|problem| format!("caller `{}` {problem}", entry.name))?;
        if let Some(other) = keys.iter().position(|known| *known == key) {
            return Err(format!("the callers `{}` and `{}` have the same key", identities[other].name, entry.name));
        }
        if identities.iter().any(|known| known.name == entry.name) {
            return Err(format!("two callers have the name `{}`", entry.name));
        }
        keys.push(key);
        identities.push(entry.identity());
    }
    Ok((keys, identities))
}

impl Entry {
    fn key(&self) -> Result<Key, String> {
        let explain = |problem: KeyError| format!("has a key that {problem}");
        match (&self.passphrase, &self.key, &self.keyfile) {
            (Some(passphrase), None, None) => {
                Key::from_passphrase(passphrase).map_err(|problem| format!("has a passphrase that {problem}"))
            }
            (None, Some(digits), None) => Key::from_file(digits.as_bytes()).map_err(explain),
            (None, None, Some(file)) => {
                let contents = read_bounded(file, key_file::MOST_BYTES);
                let contents = contents.map_err(|error| format!("has keyfile {}: {error}", file.display()))?;
                Key::from_file(&contents).map_err(explain)
            }
            _ => Err("needs one of passphrase, key (64 hexadecimal digits) and keyfile".to_owned()),
        }
    }

    fn identity(self) -> Identity {
        let may = |direction| self.directions.as_ref().is_none_or(|allowed| allowed.contains(&direction));
        let [may_send, may_receive] = [Permitted::Send, Permitted::Receive].map(may);
        Identity { name: self.name, streams: self.streamids, may_send, may_receive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    #[test]
    fn a_caller_may_do_what_its_table_permits() {
        let text = format!(
            "[[caller]]\nname = 'studio'\nkey = '{DIGITS}'\nstreamids = ['news', 'sport']\ndirections = ['send']\n\
             [[caller]]\nname = 'anybody'\npassphrase = 'correct horse'\n"
        );
        let (keys, identities) = parse(&text).expect("valid");
        assert_eq!(
            keys,
            [Key::from_file(DIGITS.as_bytes()), Key::from_passphrase("correct horse")].map(Result::unwrap)
        );
        let [studio, anybody] = &*identities else { panic!("{identities:?}") };
        assert!(studio.may(Direction::Push, "news") && studio.may(Direction::Push, "sport"));
        assert!(!studio.may(Direction::Pull, "news") && !studio.may(Direction::Push, "new"));
        assert!(anybody.may(Direction::Pull, "") && anybody.may(Direction::Push, "news"));
    }

    #[test]
    fn errors_name_line_caller_and_what_is_allowed() {
        let key = format!("key = '{DIGITS}'");
        for (text, words) in [
            (String::new(), "has 0 tables [[caller]]; allowed: 1 to 64"),
            ("\n[[caller]]\nnam = 'a'\n".to_owned(), "line 3: unknown field `nam`"),
            ("[[caller]]\nname = 'a'\n".to_owned(), "caller `a` needs one of passphrase"),
            (format!("[[caller]]\nname = 'a'\npassphrase = 'correct horse'\n{key}\n"), "caller `a` needs one of"),
            ("[[caller]]\nname = 'a'\nkey = '00'\n".to_owned(), "caller `a` has a key that is no key; allowed: 32"),
            ("[[caller]]\nname = 'a'\npassphrase = 'short'\n".to_owned(), "that has 5 characters; allowed: 10 to 79"),
            ("[[caller]]\nname = 'a'\nkeyfile = '/nonexistent'\n".to_owned(), "has keyfile /nonexistent: No such file"),
            ("[[caller]]\nname = 'a'\nkeyfile = '/dev/zero'\n".to_owned(), "/dev/zero: has more than 1024 bytes"),
            (format!("[[caller]]\nname = 'a'\n{key}\ndirections = ['both']\n"), "line 4: unknown variant `both`"),
            (
                format!("[[caller]]\nname = 'a'\n{key}\n[[caller]]\nname = 'b'\n{key}\n"),
                "`a` and `b` have the same key",
            ),
        ] {
            let problem = parse(&text).expect_err(&text);
            assert!(problem.contains(words) && !problem.contains('\n'), "{problem}");
        }
        assert!(
            read(Path::new("/nonexistent")).expect_err("no file").to_string().contains("keys=/nonexistent: No such")
        );
    }
}
