#![no_main]

use earlybird_adversarial::Totals;

libfuzzer_sys::fuzz_target!(|data: &[u8]| earlybird_adversarial::parse(data, &mut Totals::default()));
