#![no_main]

use earlybird_adversarial::Counts;

libfuzzer_sys::fuzz_target!(|data: &[u8]| earlybird_adversarial::connection(data, &mut Counts::default()));
