//! Times, rates and shares: exact in, exact and short out.

use earlybird_transport::{Fraction, Rate, Time};
use rstest::rstest;

#[rstest]
#[case("0s", 0, "0s")]
#[case("0min", 0, "0s")]
#[case("1500ns", 1_500, "1.5us")]
#[case("100us", 100_000, "100us")]
#[case("26.7ms", 26_700_000, "26.7ms")]
#[case("0.1ms", 100_000, "100us")]
#[case("100ms", 100_000_000, "100ms")]
#[case("0.003395772s", 3_395_772, "3.395772ms")]
#[case("1.000000001s", 1_000_000_001, "1.000000001s")]
#[case("50s", 50_000_000_000, "50s")]
#[case("50.000s", 50_000_000_000, "50s")]
#[case("2min", 120_000_000_000, "120s")]
#[case("0.5min", 30_000_000_000, "30s")]
#[case("18446744073709551615ns", u64::MAX, "18446744073.709551615s")]
#[case("10 ms", 10_000_000, "10ms")]
#[case(" 10ms ", 10_000_000, "10ms")]
#[case("5 \u{b5}s", 5_000, "5us")]
#[case("5\u{3bc}s", 5_000, "5us")]
#[case("1.5 h", 5_400_000_000_000, "5400s")]
fn times(#[case] text: &str, #[case] nanos: u64, #[case] canonical: &str) {
    let time: Time = text.parse().unwrap();
    assert_eq!(time.duration().as_nanos(), nanos);
    assert_eq!(time.to_string(), canonical);
    assert_eq!(canonical.parse::<Time>().unwrap(), time);
}

#[rstest]
#[case("1b/s", 1, "1b/s")]
#[case("64000b/s", 64_000, "64kb/s")]
#[case("300kb/s", 300_000, "300kb/s")]
#[case("800kb/s", 800_000, "800kb/s")]
#[case("1.5Mb/s", 1_500_000, "1.5Mb/s")]
#[case("25Mb/s", 25_000_000, "25Mb/s")]
#[case("0.1Gb/s", 100_000_000, "100Mb/s")]
#[case("1Gb/s", 1_000_000_000, "1Gb/s")]
#[case("5 Mb/s", 5_000_000, "5Mb/s")]
#[case("16Mbit/s", 16_000_000, "16Mb/s")]
#[case("16 Mbps", 16_000_000, "16Mb/s")]
#[case("16mbit", 16_000_000, "16Mb/s")]
#[case("64 kbps", 64_000, "64kb/s")]
fn rates(#[case] text: &str, #[case] bits: u64, #[case] canonical: &str) {
    let rate: Rate = text.parse().unwrap();
    assert_eq!(rate.rate().bits_per_second(), bits);
    assert_eq!(rate.to_string(), canonical);
    assert_eq!(canonical.parse::<Rate>().unwrap(), rate);
}

const TIMES: &str = "a number with one of the units ns, us, ms, s, min, h, such as 26.7ms or 50s";

#[rstest]
#[case("", "is not a duration", "")]
#[case("s", "`s` is not a duration", "")]
#[case("ten ms", "`ten ms` is not a duration", "")]
#[case("1.ms", "`1.ms` is not a duration", "")]
#[case(".5s", "`.5s` is not a duration", "")]
#[case("1.2.3s", "`1.2.3s` is not a duration", "")]
#[case("10", "`10` has no unit", " hint: did you mean `10s`?")]
#[case("10 ", "`10 ` has no unit", " hint: did you mean `10s`?")]
#[case("-5ms", "`-5ms` is negative", "")]
#[case("5MS", "`5MS` is not a duration: `MS` is not a unit", " hint: did you mean `5ms`?")]
#[case("1e3ms", "`1e3ms` is not a duration", "")]
#[case("5parsecs", "`5parsecs` is not a duration: `parsecs` is not a unit", "")]
#[case("0.5ns", "`0.5ns` is not a whole number of ns", "")]
#[case("0.003395772ms", "`0.003395772ms` is not a whole number of ns", "")]
#[case("0.0000000000000000000000001s", "`0.0000000000000000000000001s` is not a whole number of ns", "")]
#[case("18446744073709551616ns", "`18446744073709551616ns` is too large", "")]
#[case("18446744074s", "`18446744074s` is too large", "")]
#[case("99999999999999999999s", "`99999999999999999999s` is too large", "")]
fn wrong_times(#[case] text: &str, #[case] problem: &str, #[case] hint: &str) {
    let error = text.parse::<Time>().unwrap_err();
    assert_eq!(error.to_string(), format!("{problem}; allowed: {TIMES}.{hint}"));
}

#[test]
fn a_delay_without_a_unit_is_taken_for_milliseconds() {
    let error = Time::parse_delay("50").unwrap_err().to_string();
    assert_eq!(error, format!("`50` has no unit; allowed: {TIMES}. hint: did you mean `50ms`?"));
    assert_eq!(Time::parse_delay("0.05s").unwrap(), Time::from_millis(50));
}

const RATES: &str = "a number above 0 with one of the units b/s, kb/s, Mb/s, Gb/s (bits, not bytes; also kbit/s or kbps), \
                     such as 300kb/s or 25Mb/s";

#[rstest]
#[case("10", "`10` has no unit", " hint: did you mean `10Mb/s`?")]
#[case("fast", "`fast` is not a rate", "")]
#[case("5000000", "`5000000` has no unit", " hint: did you mean `5Mb/s`?")]
#[case("25 MB/s", "`25 MB/s` is not a rate: `MB/s` is not a unit", " hint: did you mean `200Mb/s`?")]
#[case("300kB/s", "`300kB/s` is not a rate: `kB/s` is not a unit", " hint: did you mean `2.4Mb/s`?")]
#[case("25Mb", "`25Mb` is not a rate: `Mb` is not a unit", "")]
#[case("25ms", "`25ms` is not a rate: `ms` is not a unit", "")]
#[case("0b/s", "`0b/s` is zero", "")]
#[case("0", "`0` is zero", "")]
#[case("0.0", "`0.0` is zero", "")]
#[case("0.0Mb/s", "`0.0Mb/s` is zero", "")]
#[case("-25Mb/s", "`-25Mb/s` is negative", "")]
#[case("1.5b/s", "`1.5b/s` is not a whole number of b/s", "")]
fn wrong_rates(#[case] text: &str, #[case] problem: &str, #[case] hint: &str) {
    let error = text.parse::<Rate>().unwrap_err();
    assert_eq!(error.to_string(), format!("{problem}; allowed: {RATES}.{hint}"));
}

const SHARES: &str = "a number from 0 to 1, or in percent, such as 0.01 or 1%";

#[rstest]
#[case("0", 0.0)]
#[case("0.01", 0.01)]
#[case("1", 1.0)]
#[case("1%", 0.01)]
#[case("0.5 %", 0.005)]
#[case(" 100% ", 1.0)]
fn shares(#[case] text: &str, #[case] share: f64) {
    assert!((text.parse::<Fraction>().unwrap().value() - share).abs() < f64::EPSILON);
}

#[rstest]
#[case("-0.1", "")]
#[case("1.1", " hint: did you mean `1.1%`?")]
#[case("5", " hint: did you mean `5%`?")]
#[case("500", "")]
#[case("NaN", "")]
#[case("-1%", "")]
#[case("101%", "")]
#[case("NaN%", "")]
#[case("%", "")]
#[case("one", "")]
fn wrong_shares(#[case] text: &str, #[case] hint: &str) {
    let error = text.parse::<Fraction>().unwrap_err();
    assert_eq!(error.to_string(), format!("`{text}` is not a share; allowed: {SHARES}.{hint}"));
}
