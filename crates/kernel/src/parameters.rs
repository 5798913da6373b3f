//! PERT's parameters: keys and values of the user, and the numbers that the eBPF program reads.

use crate::error::{Error, Result};
use earlybird_scenario::{Profile, ScenarioError, Time, resolve};
use earlybird_tcp::{AlphaRule, Control, CurveTail, LossFactor, MaxDelay, PertFlags};
use earlybird_transport::nearest;
use serde_json::{Value, json};

/// Fixed-point one of windows, shares and probabilities in the kernel: 32 fractional bits (`bpf/fixed.h`).
pub const ONE: f64 = 4_294_967_296.0;
/// A larger α could overflow the kernel's fixed-point numbers.
const MAX_ALPHA: f64 = 64.0;
/// The largest threshold, in ns.
const MAX_THRESHOLD: u64 = 10_000_000_000;

/// Validated parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The parameters that scenarios have, too.
    pub flags: PertFlags,
    /// T1 in ns.
    pub first_threshold: u64,
    /// T2 in ns.
    pub second_threshold: u64,
    /// The probability of an early response at T2.
    pub maximum_probability: f64,
    /// The largest increase per round trip.
    pub largest_alpha: f64,
}

impl From<PertFlags> for Parameters {
    fn from(flags: PertFlags) -> Self {
        Self {
            flags,
            first_threshold: PertFlags::FIRST_THRESHOLD.as_nanos(),
            second_threshold: PertFlags::SECOND_THRESHOLD.as_nanos(),
            maximum_probability: PertFlags::MAXIMUM_PROBABILITY,
            largest_alpha: PertFlags::LARGEST_ALPHA,
        }
    }
}

/// The presets: those of scenarios without the PI controller's.
pub const PRESETS: [&str; 6] = ["default", "text", "guarded", "port", "flat", "h"];

/// Keys that scenarios do not have, as the papers use one value.
const OWN_KEYS: [&str; 4] = ["first-threshold", "second-threshold", "maximum-probability", "largest-alpha"];
/// Keys of the table `pert` in scenarios.
const SCENARIO_KEYS: [&str; 8] =
    ["preset", "form", "max-delay", "curve-tail", "alpha", "growth-on-response", "loss-factor", "guards"];

impl Parameters {
    /// Parses keys and values: those of the table `pert` in scenarios, and those of the response curve.
    ///
    /// # Errors
    /// The first invalid one, with its key, value and what is allowed.
    pub fn read(settings: &[(String, String)]) -> Result<Self> {
        for (key, value) in settings {
            known(key, value)?;
        }
        let (own, shared): (Vec<_>, Vec<_>) =
            settings.iter().cloned().partition(|(key, _)| OWN_KEYS.contains(&key.as_str()));
        let mut parameters = Self::from(flags(&shared)?);
        for (key, value) in &own {
            parameters.set(key, value)?;
        }
        parameters.check()
    }

    fn set(&mut self, key: &str, value: &str) -> Result {
        match key {
            "first-threshold" => self.first_threshold = nanos(key, value)?,
            "second-threshold" => self.second_threshold = nanos(key, value)?,
            "maximum-probability" => self.maximum_probability = number(key, value, 0.0, 1.0)?,
            _ => self.largest_alpha = number(key, value, 1.0, MAX_ALPHA)?,
        }
        Ok(())
    }

    fn check(self) -> Result<Self> {
        let (first, second) = (self.first_threshold, self.second_threshold);
        // Both are divisors or differences in the kernel, which divides by T2 - T1.
        if first == 0 || first >= second {
            let (first, second) = (to_millis(first), to_millis(second));
            return Err(Error::new(format!(
                "first-threshold: `{first} ms` does not fit; allowed: above 0 and below second-threshold, {second} ms."
            )));
        }
        Ok(self)
    }

    /// Returns the numbers in the order of `bpf/parameters.h`.
    pub fn numbers(&self) -> [u64; 11] {
        let flags = self.flags;
        [
            flags.is_adaptive.into(),
            (flags.max_delay == MaxDelay::Raw).into(),
            (flags.curve_tail == CurveTail::Flat).into(),
            match flags.alpha {
                AlphaRule::Direct => 0,
                AlphaRule::Ramped => 1,
                AlphaRule::Literal => 2,
            },
            flags.growth_on_response.into(),
            (flags.loss_factor == LossFactor::Half).into(),
            flags.is_guarded.into(),
            self.first_threshold,
            self.second_threshold,
            // Saturating casts: values were checked against their ranges.
            (self.maximum_probability * ONE).round() as u64,
            (self.largest_alpha * ONE).round() as u64,
        ]
    }
}

/// Describes the numbers of a loaded program; `None` if they are of another version.
pub fn described(numbers: &[u64]) -> Option<Value> {
    let &[adaptive, raw, flat, alpha, grows, halves, guards, first, second, probability, largest] = numbers else {
        return None;
    };
    let either = |flag: u64, yes: &'static str, no: &'static str| if flag == 1 { yes } else { no };
    let alpha = ["direct", "ramped", "literal"].get(usize::try_from(alpha).ok()?)?;
    Some(json!({
        "form": either(adaptive, "adaptive", "homogeneous"),
        "max-delay": either(raw, "raw", "smoothed"),
        "curve-tail": either(flat, "flat", "gentle"),
        "alpha": alpha,
        "growth-on-response": grows == 1,
        "loss-factor": either(halves, "half", "beta"),
        "guards": guards == 1,
        "first-threshold": format!("{}ms", to_millis(first)),
        "second-threshold": format!("{}ms", to_millis(second)),
        "maximum-probability": rounded(probability as f64 / ONE),
        "largest-alpha": rounded(largest as f64 / ONE),
    }))
}

/// Rounds off the digits below the resolution of 32 fractional bits.
fn rounded(number: f64) -> f64 {
    (number * 1e8).round() / 1e8
}

fn to_millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

fn known(key: &str, value: &str) -> Result {
    let keys = || SCENARIO_KEYS.into_iter().chain(OWN_KEYS);
    // A better message than "unknown": the preset exists in scenarios.
    if value == "pi" && key == "preset" {
        let presets = PRESETS.join(", ");
        return Err(Error::new(format!("preset: `pi` exists only in the simulator; allowed: {presets}.")));
    }
    if keys().any(|known| known == key) {
        return Ok(());
    }
    let hint = nearest(key, keys()).map(|meant| format!(" hint: did you mean `{meant}`?")).unwrap_or_default();
    let allowed = keys().collect::<Vec<_>>().join(", ");
    Err(Error::new(format!("{key}: PERT has no such parameter; allowed: {allowed}.{hint}")))
}

/// A minimal scenario, to parse the table `pert` with the rules of scenarios.
const SCENARIO: &str = r#"
title = "PERT in the kernel"
duration = "1s"
endpoint = { profile = "linux", transport = "pert" }
network = { links = [{ from = "a", to = "b", rate = "1Mb/s", delay = "1ms" }] }
flows = [{ name = "flow", from = "a", to = "b", application = { bulk = {} } }]
"#;

fn flags(settings: &[(String, String)]) -> Result<PertFlags> {
    let overrides: Vec<_> =
        settings.iter().map(|(key, value)| (format!("endpoint.pert.{key}"), value.clone())).collect();
    let scenario = resolve(SCENARIO, &overrides).map_err(|error| without_prefix(&error))?;
    match scenario.endpoint.controls.control("pert", Profile::Linux) {
        Some(Control::Pert(flags)) => Ok(flags),
        other => Err(Error::new(format!("the table `pert` of scenarios makes {other:?}."))),
    }
}

fn without_prefix(error: &ScenarioError) -> Error {
    // The preset of the PI controller exists only in the simulator.
    Error::new(error.to_string().replace("endpoint.pert.", "").replace(", h, pi.", ", h."))
}

fn nanos(key: &str, value: &str) -> Result<u64> {
    let time: Time = value.parse().map_err(|error: ScenarioError| Error::new(format!("{key}: {error}")))?;
    let nanos = time.duration().as_nanos();
    if nanos > MAX_THRESHOLD {
        return Err(Error::new(format!("{key}: `{value}` is too long; allowed: up to 10s.")));
    }
    Ok(nanos)
}

fn number(key: &str, value: &str, low: f64, high: f64) -> Result<f64> {
    match value.parse::<f64>() {
        Ok(number) if (low..=high).contains(&number) => Ok(number),
        _ => Err(Error::new(format!("{key}: `{value}` does not fit; allowed: a number from {low} to {high}."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<Parameters> {
        Parameters::read(&settings.iter().map(|&(key, value)| (key.into(), value.into())).collect::<Vec<_>>())
    }

    #[test]
    fn presets_are_those_of_scenarios() {
        let flags = [
            PertFlags::DEFAULT,
            PertFlags::TEXT,
            PertFlags::GUARDED,
            PertFlags::PORT,
            PertFlags::FLAT,
            PertFlags::HOMOGENEOUS,
        ];
        for (name, flags) in PRESETS.into_iter().zip(flags) {
            assert_eq!(read(&[("preset", name)]).unwrap(), Parameters::from(flags));
        }
        assert_eq!(read(&[]).unwrap(), Parameters::from(PertFlags::DEFAULT));
    }

    #[test]
    fn a_flag_replaces_that_of_the_preset() {
        let parameters = read(&[("alpha", "ramped"), ("preset", "text"), ("first-threshold", "7.5ms")]).unwrap();
        assert_eq!(parameters.flags, PertFlags { alpha: AlphaRule::Ramped, ..PertFlags::TEXT });
        assert_eq!(parameters.first_threshold, 7_500_000);
    }

    #[test]
    fn errors_name_the_key_and_what_is_allowed() {
        for (settings, words) in [
            ([("preset", "flatt")].as_slice(), ["preset: `flatt`", "flat, h. hint: did you mean `flat`?"]),
            (&[("preset", "pi")], ["preset: `pi`", "allowed: default"]),
            (&[("aplha", "direct")], ["aplha", "did you mean `alpha`?"]),
            (&[("guards", "perhaps")], ["guards: `perhaps`", "true"]),
            (&[("first-threshold", "12ms")], ["first-threshold: `12 ms`", "below second-threshold, 10 ms"]),
            (&[("first-threshold", "5")], ["first-threshold: `5` has no unit", "26.7ms"]),
            (&[("second-threshold", "11s")], ["second-threshold: `11s`", "up to 10s"]),
            (&[("maximum-probability", "1.5")], ["maximum-probability: `1.5`", "from 0 to 1"]),
            (&[("maximum-probability", "NaN")], ["maximum-probability: `NaN`", "from 0 to 1"]),
            (&[("largest-alpha", "0.5")], ["largest-alpha: `0.5`", "from 1 to 64"]),
        ] {
            let message = read(settings).unwrap_err().to_string();
            assert!(words.iter().all(|word| message.contains(word)) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn numbers_of_a_loaded_program_are_described() {
        let words = described(&Parameters::from(PertFlags::HOMOGENEOUS).numbers()).unwrap();
        assert_eq!(words["form"], "homogeneous");
        assert_eq!(words["maximum-probability"], 0.05);
        assert_eq!(words["second-threshold"], "10ms");
        assert!(described(&[1, 2]).is_none());
    }
}
