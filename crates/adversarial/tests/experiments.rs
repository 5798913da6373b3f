//! All experiments with the corpus of the fuzzers, and with random inputs.

use earlybird_adversarial::{TARGETS, Target, Totals};
use proptest::collection::vec;
use proptest::prelude::*;
use std::path::Path;

fn kept(name: &str) -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let files = std::fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    files.map(|file| std::fs::read(file.expect("it is listed").path()).expect("it can be read")).collect()
}

#[test]
fn the_corpus_passes() {
    let mut totals = Totals::default();
    for (name, target) in TARGETS {
        let inputs = kept(name);
        assert!(!inputs.is_empty(), "the corpus of {name} is empty");
        for input in &inputs {
            target(input, &mut totals);
        }
    }
    assert!(totals.answers > 0 && totals.kept > 0, "{totals}");
}

/// Bytes that print on one line when a test fails.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:02x?}", self.0)
    }
}

fn bytes(most: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..most).prop_map(Bytes)
}

fn with(target: Target, data: &Bytes) {
    target(&data.0, &mut Totals::default());
}

proptest! {
    // Failing inputs are added to the corpus by hand.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_packet(data in bytes(200)) {
        with(earlybird_adversarial::parse, &data);
    }

    #[test]
    fn any_options(data in bytes(42)) {
        with(earlybird_adversarial::options, &data);
    }

    #[test]
    fn any_report(data in bytes(200)) {
        with(earlybird_adversarial::icmp, &data);
    }

    #[test]
    fn any_attack_on_a_connection(data in bytes(4000)) {
        with(earlybird_adversarial::connection, &data);
    }

    #[test]
    fn any_network_between_two_connections(data in bytes(1000)) {
        with(earlybird_adversarial::conversation, &data);
    }

    #[test]
    fn any_flood_of_a_port(data in bytes(2000)) {
        with(earlybird_adversarial::listener, &data);
    }
}
