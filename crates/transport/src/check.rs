//! Checks of an endpoint's settings. The configuration itself knows which policies go together; here are the reasons in terms of
//! keys, and what the name of a transport rules out.

mod policies;

use crate::error::{ScenarioError, join};
use crate::name::{Detection, Kind, Preset, Repair};
use crate::profile::Profile;
use crate::quantity::positive;
use crate::settings::{Backlog, EcnMode, Endpoint, RealTime, Recovery, Srt};
use earlybird_units::Duration;
use policies::refusal_of;

/// Returns the error unless the condition holds.
fn ensure(holds: bool, error: impl FnOnce() -> ScenarioError) -> Result<(), ScenarioError> {
    if holds { Ok(()) } else { Err(error()) }
}

impl Endpoint {
    /// Checks that the settings go together; `path` is the key of the table, such as `endpoint`.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self, path: &str) -> Result<(), ScenarioError> {
        // Keys that contradict the transport's name come first: the error of the configuration would name a policy that the
        // user has not set.
        check_feedback(self, path)?;
        check_rate(self, path)?;
        check_name(self, path)?;
        check_end(self, path)?;
        self.controls.check(self.profile, path)?;
        check_timer(self, &join(path, "rto"))?;
        check_policies(self, path)
    }
}

impl RealTime {
    /// Checks that the settings go together; `path` is the key of the table.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn check(&self, path: &str) -> Result<(), ScenarioError> {
        let lifetime = match self.backlog {
            Some(Backlog::DiscardPastDeadline(time)) => Some((time, "discard-past-deadline")),
            Some(Backlog::DiscardHopeless(time)) => Some((time, "discard-hopeless")),
            _ => None,
        };
        let Some((time, key)) = lifetime else { return Ok(()) };
        positive(time, &join(path, &format!("backlog.{key}")))?;
        let error = || ScenarioError::new(&join(path, "send-limit"), "has no effect where only age decides");
        ensure(self.send_limit.is_none(), || error().allowed("nothing, or another `backlog`"))
    }
}

impl Srt {
    /// Checks that the latency is given in one way only; `path` is the key of the table.
    ///
    /// # Errors
    /// If it is given in two.
    pub fn check(&self, path: &str) -> Result<(), ScenarioError> {
        let given = [
            ("latency", self.latency.is_some()),
            ("latency-round-trips", self.latency_round_trips.is_some()),
            ("fit-playback-delay", self.fit_playback_delay),
        ];
        let mut given = given.into_iter().filter_map(|(key, is_given)| is_given.then_some(key));
        let (Some(first), Some(second)) = (given.next(), given.next()) else { return Ok(()) };
        let problem = format!("stands beside `{first}`, which says the same in another way");
        Err(ScenarioError::new(&join(path, second), problem).allowed("one of the two"))
    }
}

/// A flow of datagrams has no policies of TCP.
fn check_policies(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    if endpoint.transport.kind.is_datagram() {
        return Ok(());
    }
    // The deadline of frames does not affect which policies are compatible.
    let config = endpoint.config(Duration::from_secs(1));
    config.check().map_err(|error| refusal_of(error, endpoint, &config, path))
}

/// Shares of marks are for a control that answers them, and it needs them.
fn check_feedback(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let control = &endpoint.transport;
    let answers_shares = endpoint.config(Duration::ZERO).ecn == earlybird_tcp::EcnMode::Accurate;
    let (value, problem, allowed) = match (answers_shares, endpoint.ecn) {
        // Whoever is not heard at all is told so first.
        (true, _) if endpoint.profile == Profile::Ns2 => return Ok(()),
        (true, Some(EcnMode::Off)) => ("off", format!("leaves {control} without the marks that it needs"), "accurate"),
        (true, Some(EcnMode::Classic)) => {
            ("classic", format!("tells {control} of one mark per round trip only"), "accurate")
        }
        (false, Some(EcnMode::Accurate)) => {
            ("accurate", "is read by prague only, which answers shares of marks".to_owned(), "off, classic")
        }
        _ => return Ok(()),
    };
    Err(ScenarioError::new(&join(path, "ecn"), problem).text(value).allowed(allowed))
}

/// A control with a rate of its own always sends at that.
fn check_rate(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let config = endpoint.config(Duration::ZERO);
    let has_rate = config.control.factory().needs(config.recovery.rules).has_rate;
    ensure(!has_rate || endpoint.pacing != Some(false), || {
        let problem = format!("does not go with `{}`, which always sends at a rate of its own", endpoint.transport);
        ScenarioError::new(&join(path, "pacing"), problem).text("false").allowed("true")
    })
}

/// A recovery that is a transport of its own goes with no other one of that kind; `sack` is that with SACK.
fn check_name(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let Some(recovery) = endpoint.recovery else { return Ok(()) };
    let named = match endpoint.transport.kind {
        Kind::Repair(Repair::Tahoe) => Some(Recovery::Tahoe),
        Kind::Repair(Repair::Reno) => Some(Recovery::Reno),
        Kind::Repair(Repair::NewReno) | Kind::RealTime(Preset::TcpRtm) => Some(Recovery::Newreno),
        _ => None,
    };
    let is_sack = endpoint.transport.kind == Kind::Repair(Repair::Sack);
    let reason = match (named, recovery) {
        (Some(named), _) if named == recovery => "",
        (Some(_), _) => "is not the recovery that this transport is named after",
        (None, Recovery::Tahoe) => "needs a window that begins again at one segment after every loss",
        (None, Recovery::Reno | Recovery::Newreno) if is_sack => "does without SACK",
        (None, _) => "",
    };
    ensure(reason.is_empty(), || {
        ScenarioError::new(&join(path, "recovery"), reason)
            .text(recovery.name())
            .allowed(format!("what is compatible with transport `{}`", endpoint.transport))
            .hint("name the transport after the recovery, or leave the recovery out.")
    })
}

/// The name's end must not contradict the keys.
fn check_end(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let is_early = endpoint.transport.detection == Detection::EarlyRetransmission;
    for (key, is_asked) in
        [("early-retransmit", endpoint.early_retransmit), ("thin-duplicates", endpoint.thin_duplicates)]
    {
        ensure(!(is_asked && is_early), || {
            let error = ScenarioError::new(&join(path, key), "is another rule than the one that `-er` selects");
            error.text("true").allowed("false").hint("leave out `-er`, or the key.")
        })?;
    }
    ensure(!(endpoint.early_retransmit && endpoint.thin_duplicates), || {
        let error = ScenarioError::new(&join(path, "thin-duplicates"), "is another rule than `early-retransmit`");
        error.text("true").allowed("false").hint("leave out one of the two.")
    })?;
    let Some(recovery) = endpoint.recovery else { return Ok(()) };
    let (problem, allowed, hint) = match (endpoint.transport.detection, recovery) {
        (Detection::Rack, Recovery::RackTlp) => return Ok(()),
        (Detection::Rack, _) => ("is not what the transport's name says", "rack-tlp", "leave out `-rack`, or the key."),
        (Detection::EarlyRetransmission, Recovery::RackTlp) => (
            "counts no duplicate ACKs, which early retransmission needs",
            "sack1, rfc6675",
            "leave out `-er`: RACK-TLP itself is early.",
        ),
        _ => return Ok(()),
    };
    Err(ScenarioError::new(&join(path, "recovery"), problem).text(recovery.name()).allowed(allowed).hint(hint))
}

fn check_timer(endpoint: &Endpoint, path: &str) -> Result<(), ScenarioError> {
    let rto = &endpoint.rto;
    // A floor of 0 is legal: the timeout then is what the estimator says.
    for (time, key) in [(rto.tick, "tick"), (rto.ceiling, "ceiling"), (rto.initial, "initial")] {
        time.map_or(Ok(()), |time| positive(time, &join(path, key)))?;
    }
    let ceiling = rto.ceiling.unwrap_or_else(|| endpoint.config(Duration::ZERO).timers.rto.ceiling.into());
    let Some(floor) = rto.floor.filter(|floor| *floor > ceiling) else { return Ok(()) };
    let error = ScenarioError::new(&join(path, "floor"), "is above the largest timeout").text(&floor.to_string());
    Err(error.allowed(format!("a duration up to {ceiling}")).hint(format!("raise `{path}.ceiling`.")))
}
