//! Conflicts between policies, as errors of a scenario: the key to change, its value, and the allowed values.

use crate::error::{ScenarioError, join};
use crate::profile::Profile;
use crate::settings::{EcnMode, Endpoint, Recovery, Undo};
use earlybird_tcp::{self as tcp, Config, ConfigError};

/// An error in the value of a key.
struct Refusal {
    key: &'static str,
    value: String,
    problem: String,
    allowed: String,
    hint: String,
}

impl Refusal {
    fn new(key: &'static str, value: &str, problem: &str, allowed: &str, hint: &str) -> Self {
        let [value, problem, allowed, hint] = [value, problem, allowed, hint].map(str::to_owned);
        Self { key, value, problem, allowed, hint }
    }
}

/// Returns the error of policies that exclude each other, in terms of the keys of `endpoint`.
pub(super) fn refusal_of(error: ConfigError, endpoint: &Endpoint, config: &Config, path: &str) -> ScenarioError {
    let refusal = match error {
        ConfigError::RecoveryCannotPace => forgets_waiting(endpoint, config, path),
        ConfigError::AccurateEcnNeedsRfcRules
        | ConfigError::ControlNeedsAccurateEcn
        | ConfigError::ControlIgnoresMarks
        | ConfigError::EcnNeedsSack
        | ConfigError::EcnNeedsRfcRules => marks(error, endpoint, config, path),
        ConfigError::ControlSetsRecoveryWindow | ConfigError::ReductionNeedsFlight => window_reduction(error, config),
        ConfigError::VegasTimer | ConfigError::DupthreshNeedsDuplicates => early_retransmit(error, endpoint),
        ConfigError::NoUndo
        | ConfigError::TahoeNoUndo
        | ConfigError::NoTimestamps
        | ConfigError::NoDsack
        | ConfigError::NoSack => undo(error, endpoint),
        ConfigError::RecoveryNeedsOwnControl | ConfigError::ControlNeedsOwnRecovery => {
            recovery(error, endpoint, config)
        }
        // No key stands for the others: the configuration's own words must do.
        _ => return ScenarioError::new(path, format!("does not go together: {error}")),
    };
    ScenarioError::new(&join(path, refusal.key), refusal.problem)
        .text(&refusal.value)
        .allowed(refusal.allowed)
        .hint(refusal.hint)
}

/// The transport itself is wrong if it sends at a rate of its own, else the key that makes it.
fn forgets_waiting(endpoint: &Endpoint, config: &Config, path: &str) -> Refusal {
    let recovery = name_of(config.recovery.scheme);
    let problem = format!("does not go with recovery `{recovery}`, which forgets a retransmission that has to wait");
    let hint = format!("`{path}.recovery = \"rfc6675\"` can wait.");
    let (key, value, allowed) = if config.control.factory().needs(config.recovery.rules).has_rate {
        ("transport", endpoint.transport.to_string(), format!("what is compatible with recovery `{recovery}`"))
    } else {
        ("pacing", "true".to_owned(), "false".to_owned())
    };
    Refusal { key, value, problem, allowed, hint }
}

fn marks(error: ConfigError, endpoint: &Endpoint, config: &Config, path: &str) -> Refusal {
    let name = config.control.factory().name();
    let classic = |problem: &str, hint: &str| Refusal::new("ecn", "classic", problem, "off", hint);
    match error {
        ConfigError::AccurateEcnNeedsRfcRules => Refusal::new(
            "transport",
            &endpoint.transport.to_string(),
            "does not go with the ns2 profile, whose receivers count no marks",
            "what is compatible with profile `ns2`",
            &format!("`{path}.profile = \"rfc\"` follows RFC 9768."),
        ),
        ConfigError::ControlIgnoresMarks => {
            let value = if endpoint.ecn == Some(EcnMode::Accurate) { "accurate" } else { "classic" };
            let problem = format!("does not go with {name}, whose model answers no marks");
            Refusal::new("ecn", value, &problem, "off", "")
        }
        ConfigError::EcnNeedsSack => {
            classic("needs a recovery with SACK, which does not move the window that a mark has reduced", "")
        }
        _ => classic(
            "does not go with the ns2 profile: ns-2's sender lets marks change when it may repair a loss",
            &format!("`{path}.profile = \"rfc\"` follows RFC 3168."),
        ),
    }
}

fn window_reduction(error: ConfigError, config: &Config) -> Refusal {
    let problem = if error == ConfigError::ControlSetsRecoveryWindow {
        format!("does not go with `{}`, which has a window of its own in recovery", config.control.factory().name())
    } else {
        "needs a recovery that estimates the pipe (RFC 6675)".to_owned()
    };
    let hint = "recovery `rfc6675` or `rack-tlp` does.";
    Refusal::new("window-reduction", "prr", &problem, "immediate", hint)
}

fn early_retransmit(error: ConfigError, endpoint: &Endpoint) -> Refusal {
    let (problem, hint) = if error == ConfigError::VegasTimer {
        ("does not go with ns-2's Vegas, which has a fine timer of its own", "profile `rfc` repairs by SACK.")
    } else {
        ("does not go with `rack-tlp`, which counts no duplicate ACKs", "it is early itself.")
    };
    // A key is given up more easily than a transport, and so is named first.
    for (key, is_asked) in
        [("early-retransmit", endpoint.early_retransmit), ("thin-duplicates", endpoint.thin_duplicates)]
    {
        if is_asked {
            return Refusal::new(key, "true", problem, "false", hint);
        }
    }
    let transport = endpoint.transport.to_string();
    Refusal::new("transport", &transport, problem, "a name without `-er`", hint)
}

/// F-RTO and the signs of a needless retransmission alike take a reduction back.
fn undo(error: ConfigError, endpoint: &Endpoint) -> Refusal {
    let value = match endpoint.undo {
        None | Some(Undo::None) => "none",
        Some(Undo::Eifel) => "eifel",
        Some(Undo::Dsack) => "dsack",
        Some(Undo::Either) => "either",
    };
    let sign = |problem, allowed, hint| Refusal::new("undo", value, problem, allowed, hint);
    let (problem, hint) = match error {
        // DSACKs alone would do for "either": that timestamps are missed means that there are none.
        ConfigError::NoTimestamps if endpoint.undo == Some(Undo::Either) => {
            return sign("has no sign: there are neither timestamps nor DSACKs", "none", "set `timestamps = true`.");
        }
        ConfigError::NoTimestamps => {
            return sign("reads timestamps, which are off", "none, dsack", "set `timestamps = true`.");
        }
        ConfigError::NoDsack if endpoint.profile == Profile::Ns2 => {
            let problem = "reads DSACKs, which ns-2's receivers do not send";
            return sign(problem, "none, eifel", "the `rfc` profile's do.");
        }
        ConfigError::NoDsack | ConfigError::NoSack => {
            return sign("reads DSACKs, which need SACK", "none, eifel", "transport `sack` enables it.");
        }
        ConfigError::TahoeNoUndo => {
            ("does not go with `tahoe`, which begins again after every loss", "transport `newreno` can do it.")
        }
        _ => ("does not go with ns-2's senders, which take nothing back", "set `recovery` to `rfc6675` or `rack-tlp`."),
    };
    // Only if it was asked for: what a profile brings is left out where it cannot be.
    if endpoint.spurious_rto_detection == Some(true) {
        return Refusal::new("spurious-rto-detection", "true", problem, "false", hint);
    }
    sign(problem, "none", hint)
}

fn recovery(error: ConfigError, endpoint: &Endpoint, config: &Config) -> Refusal {
    let problem = if error == ConfigError::RecoveryNeedsOwnControl {
        "belongs to another congestion control, and works with that alone"
    } else {
        "is not the one that this congestion control works with"
    };
    let allowed = format!("what is compatible with transport `{}`", endpoint.transport);
    Refusal::new("recovery", name_of(config.recovery.scheme), problem, &allowed, "leave the recovery out.")
}

impl Recovery {
    /// Returns its name in a scenario.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sack1 => "sack1",
            Self::Rfc6675 => "rfc6675",
            Self::RackTlp => "rack-tlp",
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::Newreno => "newreno",
        }
    }
}

/// Returns the name by which a scenario speaks of a recovery; Vegas' own has none but its control's.
const fn name_of(recovery: tcp::Recovery) -> &'static str {
    match recovery {
        tcp::Recovery::Sack1 => Recovery::Sack1.name(),
        tcp::Recovery::Rfc6675 => Recovery::Rfc6675.name(),
        tcp::Recovery::Rack => Recovery::RackTlp.name(),
        tcp::Recovery::Tahoe => Recovery::Tahoe.name(),
        tcp::Recovery::Reno { .. } => Recovery::Reno.name(),
        tcp::Recovery::NewReno(_) => Recovery::Newreno.name(),
        tcp::Recovery::Vegas => "vegas",
    }
}
