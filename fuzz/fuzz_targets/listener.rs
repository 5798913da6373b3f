#![no_main]

use earlybird_hostile::Counts;

libfuzzer_sys::fuzz_target!(|data: &[u8]| earlybird_hostile::listener(data, &mut Counts::default()));
