use crate::decimal::Dimension;
use crate::error::ScenarioError;
use earlybird_units::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

pub(crate) const TIME: Dimension = Dimension {
    name: "a duration",
    units: &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000)],
    written: &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)],
    usual: "s",
    allowed: "a number with one of the units ns, us, ms, s, min and no space between, such as 26.7ms or 50s",
};

pub(crate) const RATE: Dimension = Dimension {
    name: "a rate",
    units: &[("b/s", 1), ("kb/s", 1_000), ("Mb/s", 1_000_000), ("Gb/s", 1_000_000_000)],
    written: &[("b/s", 1), ("kb/s", 1_000), ("Mb/s", 1_000_000), ("Gb/s", 1_000_000_000)],
    usual: "Mb/s",
    allowed: "a number above 0 with one of the units b/s, kb/s, Mb/s, Gb/s (bits, not bytes) and no space between, \
              such as 300kb/s or 25Mb/s",
};

/// A span of time, written with its unit: `"26.7ms"`, `"50s"`, `"2min"`. Never negative; whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(Duration);

/// A data rate, written with its unit: `"300kb/s"`, `"25Mb/s"`. Above zero; whole bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate(earlybird_units::Rate);

/// A share from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Fraction(f64);

impl Time {
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

    /// Gives the span in the simulator's form.
    pub const fn duration(self) -> Duration {
        self.0
    }

    /// Tells whether the span is of no length.
    pub fn is_zero(self) -> bool {
        self.0 == Duration::ZERO
    }
}

impl Rate {
    /// Gives the rate in the simulator's form.
    pub const fn rate(self) -> earlybird_units::Rate {
        self.0
    }
}

impl Fraction {
    /// Everything.
    pub const ONE: Self = Self(1.0);

    /// Makes a share, which must lie between 0 and 1.
    pub(crate) const fn of(share: f64) -> Self {
        Self(share)
    }

    /// Gives what is missing to one.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(1.0 - self.0)
    }

    /// Gives the share as a number from 0 to 1.
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
        let error =
            || ScenarioError::new("", "is not a share").text(&share.to_string()).allowed("a number from 0 to 1");
        if (0.0..=1.0).contains(&share) { Ok(Self(share)) } else { Err(error()) }
    }
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
            "pattern": r"^[0-9]+(\.[0-9]+)?(ns|us|ms|s|min)$",
            "description": "A span of time with its unit: ns, us, ms, s or min.",
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
            "pattern": r"^[0-9]+(\.[0-9]+)?(b|kb|Mb|Gb)/s$",
            "description": "A data rate above zero with its unit: b/s, kb/s, Mb/s or Gb/s.",
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
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "A share from 0 to 1.",
            "examples": [0.01],
        })
    }
}
