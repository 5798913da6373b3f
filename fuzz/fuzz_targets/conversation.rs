#![no_main]

use earlybird_hostile::Counts;

libfuzzer_sys::fuzz_target!(|data: &[u8]| earlybird_hostile::conversation(data, &mut Counts::default()));
