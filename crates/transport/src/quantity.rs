use crate::decimal::Dimension;
use crate::did_you_mean::did_you_mean;
use crate::error::ScenarioError;
use earlybird_units::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

pub(crate) const TIME: Dimension = Dimension {
    name: "a duration",
    units: &[
        ("ns", 1),
        ("us", MICROSECOND),
        // Two code points look like µ: U+00B5 (micro sign) and U+03BC (Greek letter); keyboards differ.
        ("\u{b5}s", MICROSECOND),
        ("\u{3bc}s", MICROSECOND),
        ("usec", MICROSECOND),
        ("ms", MILLISECOND),
        ("msec", MILLISECOND),
        ("s", SECOND),
        ("sec", SECOND),
        ("min", 60 * SECOND),
        ("h", 3_600 * SECOND),
    ],
    written: &[("ns", 1), ("us", MICROSECOND), ("ms", MILLISECOND), ("s", SECOND)],
    usual: "s",
    is_positive: false,
    // However large, a number is likelier to be meant in seconds.
    plain_from: u64::MAX,
    mistaken: &[],
    allowed: "a number with one of the units ns, us, ms, s, min, h, such as 26.7ms or 50s",
};

/// Delays of networks, of which a number without a unit counts milliseconds.
const DELAY: Dimension = Dimension { usual: "ms", ..TIME };

const KILOBIT: u64 = 1_000;
const MEGABIT: u64 = 1_000_000;
const GIGABIT: u64 = 1_000_000_000;

/// The units of rates: those of papers, of the field, and of `tc`, where `mbit` is a rate. `tc` calls bytes per second
/// `mbps`, which everyone else writes with a capital and means bits; small it is not read.
pub(crate) const RATE: Dimension = Dimension {
    name: "a rate",
    units: &[
        ("b/s", 1),
        ("bit/s", 1),
        ("bps", 1),
        ("bit", 1),
        ("kb/s", KILOBIT),
        ("kbit/s", KILOBIT),
        ("kbps", KILOBIT),
        ("kbit", KILOBIT),
        ("Mb/s", MEGABIT),
        ("Mbit/s", MEGABIT),
        ("Mbps", MEGABIT),
        ("Mbit", MEGABIT),
        ("mbit", MEGABIT),
        ("Gb/s", GIGABIT),
        ("Gbit/s", GIGABIT),
        ("Gbps", GIGABIT),
        ("Gbit", GIGABIT),
        ("gbit", GIGABIT),
    ],
    written: &[("b/s", 1), ("kb/s", KILOBIT), ("Mb/s", MEGABIT), ("Gb/s", GIGABIT)],
    usual: "Mb/s",
    is_positive: true,
    // Smaller numbers are likelier to be meant in Mb/s.
    plain_from: 10 * KILOBIT,
    // Bytes per second: refused with the value in bits, as a factor of 8 passes unnoticed.
    mistaken: &[("B/s", 8), ("kB/s", 8 * KILOBIT), ("KB/s", 8 * KILOBIT), ("MB/s", 8 * MEGABIT), ("GB/s", 8 * GIGABIT)],
    allowed: "a number above 0 with one of the units b/s, kb/s, Mb/s, Gb/s (bits, not bytes; also kbit/s or kbps), such \
              as 300kb/s or 25Mb/s",
};

const SHARES: &str = "a number from 0 to 1, or in percent, such as 0.01 or 1%";

/// A span of time, written with its unit: `"26.7ms"`, `"50s"`, `"2min"`. Never negative; whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(Duration);

/// A data rate, written with its unit: `"300kb/s"`, `"25Mb/s"`. Above zero; whole bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate(earlybird_units::Rate);

/// A share from 0 to 1, written as a number or in percent: `0.01` or `"1%"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "WrittenShare", into = "f64")]
pub struct Fraction(f64);

/// The forms of a share.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenShare {
    Number(f64),
    Text(String),
}

impl Time {
    /// The allowed texts, in words.
    pub const EXPECTED: &str = TIME.allowed;

    /// Makes a time from whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Makes a time from whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// Makes a time from whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(Duration::from_micros(micros))
    }

    /// Reads a delay of a network: as any time, but of a number without a unit the hint is that in milliseconds.
    ///
    /// # Errors
    /// If it is no time.
    pub fn parse_delay(text: &str) -> Result<Self, ScenarioError> {
        DELAY.parse(text).map(|nanos| Self(Duration::from_nanos(nanos)))
    }

    /// Returns the span in the simulator's form.
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// Returns whether the span is zero.
    pub fn is_zero(self) -> bool {
        self.0 == Duration::ZERO
    }
}

impl Rate {
    /// The allowed texts, in words.
    pub const EXPECTED: &str = RATE.allowed;

    /// Returns the rate in the simulator's form.
    pub const fn rate(self) -> earlybird_units::Rate {
        self.0
    }
}

impl Fraction {
    /// The allowed numbers and texts, in words.
    pub const EXPECTED: &str = SHARES;

    /// Everything.
    pub const ONE: Self = Self(1.0);

    /// Makes a share, which must lie between 0 and 1.
    pub const fn of(share: f64) -> Self {
        Self(share)
    }

    /// Returns what is missing to one.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(1.0 - self.0)
    }

    /// Returns the share as a number from 0 to 1.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl From<Duration> for Time {
    fn from(span: Duration) -> Self {
        Self(span)
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl From<earlybird_units::Rate> for Rate {
    fn from(rate: earlybird_units::Rate) -> Self {
        Self(rate)
    }
}

impl From<Rate> for earlybird_units::Rate {
    fn from(rate: Rate) -> Self {
        rate.0
    }
}

impl FromStr for Time {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        TIME.parse(text).map(|nanos| Self(Duration::from_nanos(nanos)))
    }
}

impl FromStr for Rate {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let rate = earlybird_units::Rate::from_bits_per_second(RATE.parse(text)?);
        // A link of rate 0 would hold its first packet for ever.
        rate.map(Self).ok_or_else(|| RATE.error(text, "is zero"))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&TIME.format(self.0.as_nanos()))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&RATE.format(self.0.bits_per_second()))
    }
}

impl TryFrom<String> for Time {
    type Error = ScenarioError;

    fn try_from(text: String) -> Result<Self, ScenarioError> {
        text.parse()
    }
}

impl TryFrom<String> for Rate {
    type Error = ScenarioError;

    fn try_from(text: String) -> Result<Self, ScenarioError> {
        text.parse()
    }
}

impl TryFrom<f64> for Fraction {
    type Error = ScenarioError;

    fn try_from(share: f64) -> Result<Self, ScenarioError> {
        if (0.0..=1.0).contains(&share) {
            return Ok(Self(share));
        }
        // Above 1 a number is meant in percent, or not at all.
        let percent = (1.0..=100.0).contains(&share).then(|| format!("{share}%"));
        Err(not_a_share(&share.to_string()).hint(did_you_mean(percent.as_deref())))
    }
}

impl FromStr for Fraction {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Self, ScenarioError> {
        let percent = text.trim().strip_suffix('%');
        let number = percent.unwrap_or(text).trim();
        let share: f64 = number.parse().map_err(|_| not_a_share(text))?;
        if percent.is_none() {
            return share.try_into();
        }
        // Without the hint of the number, which `150%` is not.
        Self::try_from(share / 100.0).map_err(|_| not_a_share(text))
    }
}

impl TryFrom<WrittenShare> for Fraction {
    type Error = ScenarioError;

    fn try_from(written: WrittenShare) -> Result<Self, ScenarioError> {
        match written {
            WrittenShare::Number(share) => share.try_into(),
            WrittenShare::Text(text) => text.parse(),
        }
    }
}

fn not_a_share(text: &str) -> ScenarioError {
    ScenarioError::new("", "is not a share").text(text).allowed(SHARES)
}

impl From<Time> for String {
    fn from(time: Time) -> Self {
        time.to_string()
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

impl From<Fraction> for f64 {
    fn from(share: Fraction) -> Self {
        share.0
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "time-with-unit",
            "pattern": pattern(&TIME),
            "description": "A span of time with its unit: ns, us, ms, s, min or h.",
            "examples": ["26.7ms", "50s", "100us", "1500ns", "2min"],
        })
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "rate-with-unit",
            "pattern": pattern(&RATE),
            "description": "A data rate above zero with its unit: b/s, kb/s, Mb/s or Gb/s (also bit/s or bps).",
            "examples": ["25Mb/s", "300kb/s", "1Gb/s", "64000b/s"],
        })
    }
}

impl JsonSchema for Fraction {
    fn schema_name() -> Cow<'static, str> {
        "Fraction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "format": "share",
            // The pattern judges texts and the bounds numbers: each keyword ignores other types.
            "pattern": r"^[0-9]+(\.[0-9]+)? *%$",
            "minimum": 0,
            "maximum": 1,
            "description": "A share from 0 to 1, as a number or in percent: `0.01` or `\"1%\"`.",
            "examples": [0.01, "1%"],
        })
    }
}

/// Returns the regular expression of a dimension's quantities, for editors.
fn pattern(dimension: &Dimension) -> String {
    let units: Vec<_> = dimension.units.iter().map(|(name, _)| *name).collect();
    format!(r"^[0-9]+(\.[0-9]+)? *({})$", units.join("|"))
}

/// Checks that a time is not zero.
///
/// # Errors
/// If it is, at `path`.
pub fn positive(time: Time, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(path, "is no time at all").text(&time.to_string());
    if time.is_zero() { Err(error().allowed("a duration above 0s")) } else { Ok(()) }
}
