#![no_main]

use earlybird_adversarial::Totals;

libfuzzer_sys::fuzz_target!(|data: &[u8]| earlybird_adversarial::conversation(data, &mut Totals::default()));
