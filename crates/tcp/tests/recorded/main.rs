//! Named and random senders over named and random paths do exactly what was recorded: each
//! segment, each decision, each window.
//!
//! Other tests say what is right; this one says that nothing changed unnoticed. A change that is meant to alter behaviour
//! records anew (`EARLYBIRD_RECORD=1 cargo test -p earlybird-tcp --test recorded`) and says in its commit which rows changed,
//! and why. `EARLYBIRD_DIARY=sender/path` prints all that a row stands for.

mod drawn;
mod ends;
mod path;
mod senders;

use earlybird_tcp::Config;
use path::Conditions;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::hash::Hasher;
use std::path::PathBuf;

/// The actions of one sender over one path, line by line.
pub(crate) type Diary = String;

fn fingerprint(diary: &str) -> u64 {
    // The standard one, of which only the result's being the same matters: SipHash-1-3 with a fixed key.
    let mut hasher = siphasher::sip::SipHasher13::new();
    hasher.write(diary.as_bytes());
    hasher.finish()
}

/// Returns what is driven over what, by name: every named sender over every named path, and what was drawn.
fn cases() -> impl Iterator<Item = (String, Config, Conditions)> {
    let named = senders::all().into_iter().chain(senders::undrawn()).flat_map(|(sender, config)| {
        path::all().into_iter().map(move |(path, conditions)| (format!("{sender}/{path}"), config, conditions))
    });
    let drawn = drawn::numbers().map(|number| {
        let (config, conditions) = drawn::draw(number);
        (format!("drawn/{number}"), config, conditions)
    });
    named.chain(drawn)
}

/// Returns a row for each case: a fingerprint of its diary, and how many lines that has.
fn rows() -> BTreeMap<String, String> {
    let shown = std::env::var("EARLYBIRD_DIARY").ok();
    let row = |(name, config, conditions): (String, Config, Conditions)| {
        let diary = ends::drive(&config, &conditions);
        assert_ne!(shown.as_ref(), Some(&name), "\n{config:#?}\n{conditions:#?}\n{diary}");
        (name, format!("{:016x} {}", fingerprint(&diary), diary.lines().count()))
    };
    cases().map(row).collect()
}

fn table(rows: &BTreeMap<String, String>) -> String {
    rows.iter().fold(String::new(), |mut text, (name, row)| {
        writeln!(text, "{name} {row}").expect("a string takes everything");
        text
    })
}

#[test]
fn nothing_changed_unnoticed() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/rows.txt");
    let rows = rows();
    if std::env::var_os("EARLYBIRD_RECORD").is_some() {
        fs::write(&path, table(&rows)).expect("the sources can be written");
    }
    let recorded = fs::read_to_string(&path).expect("the record is there");
    let recorded: BTreeMap<_, _> = recorded.lines().filter_map(|line| line.split_once(' ')).collect();
    let changed = rows.iter().filter(|(name, row)| recorded.get(name.as_str()) != Some(&row.as_str()));
    let changed: Vec<_> = changed.map(|(name, _)| name.as_str()).collect();
    assert!(changed.is_empty(), "{} of {} do something else now: {}", changed.len(), rows.len(), changed.join(", "));
    assert_eq!(rows.len(), recorded.len(), "the record has rows that are made no more");
}
