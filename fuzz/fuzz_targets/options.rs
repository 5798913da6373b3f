#![no_main]

use earlybird_adversarial::Counts;

libfuzzer_sys::fuzz_target!(|data: &[u8]| earlybird_adversarial::options(data, &mut Counts::default()));
