//! Which options of loss recovery go together.

use super::endpoint::recovery_of;
use crate::document::join;
use crate::error::ScenarioError;
use crate::model::{Endpoint, Profile, Recovery, Undo, WindowReduction};
use crate::transport::{Control, Detection};

pub(super) fn check(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let refusals = [recovery, window_reduction, early_retransmit, forward_rto, undo];
    let refusal = refusals.into_iter().find_map(|check| check(endpoint));
    refusal.map_or(Ok(()), |refusal| {
        let error = ScenarioError::new(&join(path, refusal.key), refusal.problem).text(refusal.value);
        Err(error.allowed(refusal.allowed).hint(refusal.hint.to_owned()))
    })
}

/// What is wrong with the value of a key.
struct Refusal {
    key: &'static str,
    value: &'static str,
    problem: &'static str,
    allowed: &'static str,
    hint: &'static str,
}

/// The name's end must not contradict the key, and RACK-TLP needs none of the rules about duplicate ACKs.
fn recovery(endpoint: &Endpoint) -> Option<Refusal> {
    let recovery = endpoint.recovery?;
    let (problem, allowed, hint) = match (endpoint.transport.detection, recovery) {
        (Detection::Rack, Recovery::RackTlp) => return None,
        (Detection::Rack, _) => ("is not what the transport's name says", "rack-tlp", "leave out `-rack`, or the key."),
        (Detection::EarlyRetransmission, Recovery::RackTlp) => (
            "counts no duplicate ACKs, which early retransmission needs",
            "sack1, rfc6675",
            "leave out `-er`: RACK-TLP itself is early.",
        ),
        _ => return None,
    };
    Some(Refusal { key: "recovery", value: name_of(recovery), problem, allowed, hint })
}

/// Proportional reduction needs to know what is in the network.
fn window_reduction(endpoint: &Endpoint) -> Option<Refusal> {
    let problem = match (endpoint.transport.control, recovery_of(endpoint)) {
        (Control::Bbr, _) => "does not go with `bbr`, which has a window of its own in recovery",
        (_, Recovery::Rfc6675 | Recovery::RackTlp) => return None,
        _ => "needs a recovery that knows what is in the network",
    };
    let hint = "recovery `rfc6675` or `rack-tlp` knows.";
    let refusal = Refusal { key: "window-reduction", value: "prr", problem, allowed: "immediate", hint };
    (endpoint.window_reduction == Some(WindowReduction::Prr)).then_some(refusal)
}

fn early_retransmit(endpoint: &Endpoint) -> Option<Refusal> {
    let (problem, hint) = match (endpoint.transport.detection, recovery_of(endpoint)) {
        (_, Recovery::Sack1) if endpoint.transport.control == Control::Vegas && endpoint.recovery.is_none() => {
            ("does not go with ns-2's Vegas, which has a fine timer of its own", "profile `rfc` repairs by SACK.")
        }
        (_, Recovery::RackTlp) => {
            ("does not go with `rack-tlp`, which counts no duplicate ACKs", "it is early itself.")
        }
        (Detection::EarlyRetransmission, _) => {
            ("is another rule than the one that `-er` selects", "leave out `-er`, or the key.")
        }
        _ => return None,
    };
    let refusal = Refusal { key: "early-retransmit", value: "true", problem, allowed: "false", hint };
    endpoint.early_retransmit.then_some(refusal)
}

fn forward_rto(endpoint: &Endpoint) -> Option<Refusal> {
    let (problem, hint) = keeps_reductions(endpoint)?;
    let refusal = Refusal { key: "spurious-rto-detection", value: "true", problem, allowed: "false", hint };
    (endpoint.spurious_rto_detection == Some(true)).then_some(refusal)
}

fn undo(endpoint: &Endpoint) -> Option<Refusal> {
    let has_timestamps = endpoint.timestamps.unwrap_or(endpoint.profile == Profile::Rfc);
    let refusal = |value, problem, allowed, hint| Refusal { key: "undo", value, problem, allowed, hint };
    let value = match endpoint.undo {
        Undo::None => return None,
        Undo::Eifel => "eifel",
        Undo::Dsack => "dsack",
    };
    if let Some((problem, hint)) = keeps_reductions(endpoint) {
        return Some(refusal(value, problem, "none", hint));
    }
    match endpoint.undo {
        Undo::Eifel if !has_timestamps => {
            Some(refusal(value, "reads timestamps, which are off", "none, dsack", "set `timestamps = true`."))
        }
        Undo::Dsack if endpoint.profile == Profile::Ns2 => Some(refusal(
            value,
            "reads DSACKs, which ns-2's receivers do not send",
            "none, eifel",
            "the `rfc` profile's do.",
        )),
        Undo::Dsack if matches!(recovery_of(endpoint), Recovery::Reno | Recovery::Newreno) => {
            Some(refusal(value, "reads DSACKs, which need SACK", "none, eifel", "transport `sack` asks for it."))
        }
        _ => None,
    }
}

/// Says why a sender cannot take a reduction back, if so.
fn keeps_reductions(endpoint: &Endpoint) -> Option<(&'static str, &'static str)> {
    match (endpoint.transport.control, recovery_of(endpoint), endpoint.profile) {
        (_, Recovery::Sack1, _) | (_, Recovery::Reno | Recovery::Newreno, Profile::Ns2) => Some((
            "does not go with ns-2's senders, which take nothing back",
            "set `recovery` to `rfc6675` or `rack-tlp`.",
        )),
        (_, Recovery::Tahoe, _) => {
            Some(("does not go with `tahoe`, which begins again after every loss", "transport `newreno` can do it."))
        }
        _ => None,
    }
}

pub(super) const fn name_of(recovery: Recovery) -> &'static str {
    match recovery {
        Recovery::Sack1 => "sack1",
        Recovery::Rfc6675 => "rfc6675",
        Recovery::RackTlp => "rack-tlp",
        Recovery::Tahoe => "tahoe",
        Recovery::Reno => "reno",
        Recovery::Newreno => "newreno",
    }
}
