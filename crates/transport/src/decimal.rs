//! Decimal numbers with a unit, read and written without rounding.

use crate::did_you_mean::{did_you_mean, nearest};
use crate::error::ScenarioError;

/// A kind of quantity: the units it is written in, as multiples of the smallest one.
pub(crate) struct Dimension {
    /// The quantity with its article, as in "is not a duration".
    pub(crate) name: &'static str,
    /// The units that may be read; the first has size 1.
    pub(crate) units: &'static [(&'static str, u64)],
    /// The units that are written (sizes are powers of ten), smallest first.
    pub(crate) written: &'static [(&'static str, u64)],
    /// The unit a number without one most likely has; also that of zero.
    pub(crate) usual: &'static str,
    /// Whether zero is refused.
    pub(crate) is_positive: bool,
    /// From here on a number without a unit most likely counts the smallest unit, as programs write it.
    pub(crate) plain_from: u64,
    /// Units of something else that is often written instead of these, as multiples of the smallest unit.
    pub(crate) mistaken: &'static [(&'static str, u64)],
    /// The allowed texts, in words.
    pub(crate) allowed: &'static str,
}

impl Dimension {
    /// Reads a quantity as a whole number of the smallest unit; space may stand around it and before the unit.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, ScenarioError> {
        // Said apart: that it is no duration would hide that only the sign is wrong.
        if text.starts_with('-') {
            return Err(self.error(text, "is negative"));
        }
        let (number, unit) = split(text.trim());
        // Digits behind the unit, as in `1s500ms`: a message about the unit would miss the point.
        if !is_decimal(number) || unit.contains(|letter: char| letter.is_ascii_digit()) {
            return Err(self.error(text, format!("is not {}", self.name)));
        }
        let size = self.size_of(unit).ok_or_else(|| self.unit_error(text, number, unit))?;
        scaled(number, size).map_err(|fault| self.error(text, self.describe(fault)))
    }

    /// Writes a quantity in the largest unit of which it is at least one.
    pub(crate) fn format(&self, value: u64) -> String {
        let fitting = self.written.iter().rev().find(|(_, size)| *size <= value);
        let Some((unit, size)) = fitting else { return format!("{value}{}", self.usual) };
        // With leading zeros: 1,050,000 ns are 1.05 ms, not 1.5.
        let digits = format!("{:0width$}", value % size, width = size.ilog10() as usize);
        match digits.trim_end_matches('0') {
            _ if value.is_multiple_of(*size) => format!("{}{unit}", value / size),
            fraction => format!("{}.{fraction}{unit}", value / size),
        }
    }

    fn size_of(&self, unit: &str) -> Option<u64> {
        self.units.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
    }

    fn unit_error(&self, text: &str, number: &str, unit: &str) -> ScenarioError {
        // Said first: with a unit it would be refused all the same.
        let is_zero = number.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        if self.is_positive && is_zero {
            return self.error(text, "is zero");
        }
        let problem = if unit.is_empty() {
            "has no unit".to_owned()
        } else {
            format!("is not {}: `{unit}` is not a unit", self.name)
        };
        let meant = self.probably_meant(number, unit);
        self.error(text, problem).hint(did_you_mean(meant.as_deref()))
    }

    /// Returns the quantity that a number with an unknown unit, or none, most likely stands for.
    fn probably_meant(&self, number: &str, unit: &str) -> Option<String> {
        // Before similar units: `MB/s` is nearest to `Mb/s`, which is another rate.
        if let Some((_, size)) = self.mistaken.iter().find(|(name, _)| *name == unit) {
            return Some(self.format(scaled(number, *size).ok()?));
        }
        if unit.is_empty() {
            let plain = scaled(number, 1).ok().filter(|value| *value >= self.plain_from);
            return Some(plain.map_or_else(|| format!("{number}{}", self.usual), |value| self.format(value)));
        }
        nearest(unit, self.written.iter().map(|(name, _)| *name)).map(|unit| format!("{number}{unit}"))
    }

    fn describe(&self, fault: Fault) -> String {
        match fault {
            Fault::TooFine => format!("is not a whole number of {}", self.units[0].0),
            Fault::TooLarge => "is too large".to_owned(),
        }
    }

    pub(crate) fn error(&self, text: &str, problem: impl Into<String>) -> ScenarioError {
        ScenarioError::new("", problem).text(text).allowed(self.allowed)
    }
}

#[derive(Clone, Copy)]
enum Fault {
    TooFine,
    TooLarge,
}

/// Splits a quantity where its number ends.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (number, unit.trim_start())
}

fn is_decimal(number: &str) -> bool {
    let is_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    number.split_once('.').map_or(is_digits(number), |(whole, fraction)| is_digits(whole) && is_digits(fraction))
}

/// Multiplies a decimal number by `size`; the product must be whole.
fn scaled(number: &str, size: u64) -> Result<u64, Fault> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().map_err(|_| Fault::TooLarge)?;
    let parts = fraction_of(fraction.trim_end_matches('0'), size)?;
    whole.checked_mul(size).and_then(|units| units.checked_add(parts)).ok_or(Fault::TooLarge)
}

/// Returns `size` times the decimal fraction 0.`digits`.
fn fraction_of(digits: &str, size: u64) -> Result<u64, Fault> {
    if digits.is_empty() {
        return Ok(0);
    }
    // An hour has 3.6·10¹² ns, with 13 factors of 2 and 11 of 5, so that more digits than these are never whole.
    if digits.len() > 18 {
        return Err(Fault::TooFine);
    }
    // 18 digits times such a size do not fit into 64 bits.
    let numerator = digits.parse::<u128>().map_err(|_| Fault::TooFine)? * u128::from(size);
    let denominator = 10_u128.pow(digits.len() as u32);
    if numerator % denominator == 0 { Ok((numerator / denominator) as u64) } else { Err(Fault::TooFine) }
}
