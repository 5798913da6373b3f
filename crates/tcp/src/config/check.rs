//! Compatibility of policies, for drivers on real networks and for scenarios.

use super::Config;
use super::groups::Dsack;
use crate::policy::control::Control;
use crate::policy::control::factory::{MarkAnswer, Needs};
use crate::policy::dupthresh::Dupthresh;
use crate::policy::ecn::EcnMode;
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::policy::reduction::WindowReduction;
use crate::policy::spurious::{SpuriousDetection, Undo};
use core::fmt;

/// The reason why the policies of a configuration are incompatible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The segment size, the window or the initial window is zero.
    Empty,
    /// The smallest RTO exceeds the largest.
    TimerBounds,
    /// The control works with its own recovery only.
    ControlNeedsOwnRecovery,
    /// The recovery works with its own control only.
    RecoveryNeedsOwnControl,
    /// With pacing the recovery would lose a deferred retransmission.
    RecoveryCannotPace,
    /// Accurate ECN needs a receiver that counts marks; ns-2's does not.
    AccurateEcnNeedsRfcRules,
    /// The control responds to the share of marks; classic ECN reports at most one mark per RTT.
    ControlNeedsAccurateEcn,
    /// The control ignores marks.
    ControlIgnoresMarks,
    /// Without SACK the recovery would change the window that a mark has reduced.
    EcnNeedsSack,
    /// In ns-2's sender a mark affects when a loss may be repaired.
    EcnNeedsRfcRules,
    /// The control sets the window during recovery, which excludes a proportional reduction.
    ControlSetsRecoveryWindow,
    /// A proportional reduction needs a recovery that tracks the flight.
    ReductionNeedsFlight,
    /// Early retransmission needs a recovery that counts duplicate ACKs.
    DupthreshNeedsDuplicates,
    /// ns-2's Vegas has a fine-grained timer, which excludes early retransmission.
    VegasTimer,
    /// ns-2's senders cannot undo a reduction.
    NoUndo,
    /// Tahoe restarts with one segment after every loss and cannot undo that.
    TahoeNoUndo,
    /// Eifel needs timestamps.
    NoTimestamps,
    /// An undo by DSACK needs DSACK.
    NoDsack,
    /// DSACK needs SACK.
    NoSack,
}

impl ConfigError {
    const fn text(self) -> &'static str {
        match self {
            Self::Empty => "segment size, window and initial window are at least 1",
            Self::TimerBounds => "the smallest timeout is above the largest",
            Self::ControlNeedsOwnRecovery => "the control works with a recovery of its own only",
            Self::RecoveryNeedsOwnControl => "the recovery works with the control that it belongs to only",
            Self::RecoveryCannotPace => "the recovery forgets a retransmission that has to wait, as it may at a rate",
            Self::AccurateEcnNeedsRfcRules => {
                "accurate feedback does not go with ns-2's receivers, which count no marks"
            }
            Self::ControlNeedsAccurateEcn => "the control answers shares of marks, which accurate feedback alone tells",
            Self::ControlIgnoresMarks => "the control answers no marks",
            Self::EcnNeedsSack => "the recovery moves the window that a mark has reduced",
            Self::EcnNeedsRfcRules => "ns-2's sender lets marks change when it may repair a loss",
            Self::ControlSetsRecoveryWindow => "the control has a window of its own in recovery",
            Self::ReductionNeedsFlight => {
                "a proportional reduction needs a recovery that estimates the pipe (RFC 6675)"
            }
            Self::DupthreshNeedsDuplicates => "the recovery counts no duplicate ACKs, which the trigger needs",
            Self::VegasTimer => "ns-2's Vegas has a fine timer of its own",
            Self::NoUndo => "ns-2's senders take no reduction back",
            Self::TahoeNoUndo => "what begins again after every loss takes no reduction back",
            Self::NoTimestamps => "timestamps are off, which tell a needless retransmission",
            Self::NoDsack => "DSACKs are off, which tell a needless retransmission",
            Self::NoSack => "DSACKs need a recovery that uses SACK",
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

impl core::error::Error for ConfigError {}

/// The result of a rule: an error if it is violated.
type CheckResult = Result<(), ConfigError>;

const fn reject_if(broken: bool, reason: ConfigError) -> CheckResult {
    if broken { Err(reason) } else { Ok(()) }
}

/// Most SACK blocks in an ACK beside timestamps (RFC 2018 §3).
pub(super) const SACK_BLOCKS: usize = 3;

impl Config {
    /// Sets a congestion control, with the recovery and the ECN mode that it needs.
    #[must_use]
    pub fn with_control(self, control: Control) -> Self {
        let needs = control.factory().needs(self.recovery.rules);
        let ecn = if needs.marks == MarkAnswer::ByShare { EcnMode::Accurate } else { self.ecn };
        self.with_control_only(control).with_ecn(ecn).with_recovery(needs.recovery.unwrap_or(self.recovery.scheme))
    }

    /// Sets the scheme of recovery. A sender without SACK does not offer it. A proportional reduction, F-RTO or undo that is
    /// incompatible with the scheme is turned off.
    #[must_use]
    pub fn with_recovery(self, recovery: Recovery) -> Self {
        // SACK is offered exactly if the scheme uses it; a chosen number of blocks stays.
        let sack_blocks = match self.acks.sack_blocks {
            _ if !recovery.uses_sack() => 0,
            0 => SACK_BLOCKS,
            blocks => blocks,
        };
        self.with_recovery_only(recovery).with_sack_blocks(sack_blocks).without_incompatible_options()
    }

    fn without_incompatible_options(self) -> Self {
        let is_compatible = self.check_reduction(self.control.factory().needs(self.recovery.rules)).is_ok();
        let window_reduction = if is_compatible { self.recovery.window_reduction } else { WindowReduction::Immediate };
        let SpuriousDetection { forward_rto, undo } = self.recovery.spurious;
        // The signal first: F-RTO may stay without an undo, but not the other way round.
        let undo = if self.check_undo_signal(undo).is_ok() { undo } else { Undo::None };
        let supports_undo = self.check_undo_support().is_ok();
        let spurious =
            if supports_undo { SpuriousDetection { forward_rto, undo } } else { SpuriousDetection::default() };
        self.with_window_reduction(window_reduction).with_spurious(spurious)
    }

    /// Checks that the policies are compatible.
    ///
    /// # Errors
    /// The first rule that is violated. A connection with such a configuration works, but may stall.
    pub fn check(&self) -> Result<(), ConfigError> {
        let needs = self.control.factory().needs(self.recovery.rules);
        // Most basic first: the first error is the one that a user sees.
        self.check_numbers()?;
        self.check_recovery(needs)?;
        self.check_feedback(needs)?;
        self.check_rate(needs)?;
        self.check_marks(needs)?;
        self.check_reduction(needs)?;
        self.check_trigger()?;
        self.check_undo()
    }

    fn check_numbers(&self) -> CheckResult {
        reject_if(self.segments.mss == 0 || self.window.max == 0 || self.window.initial == 0, ConfigError::Empty)?;
        reject_if(self.timers.rto.floor > self.timers.rto.ceiling, ConfigError::TimerBounds)
    }

    fn check_recovery(&self, needs: Needs) -> CheckResult {
        let is_own = needs.recovery == Some(self.recovery.scheme);
        reject_if(needs.insists && !is_own, ConfigError::ControlNeedsOwnRecovery)?;
        reject_if(self.recovery.scheme.belongs_to_control() && !is_own, ConfigError::RecoveryNeedsOwnControl)
    }

    fn check_rate(&self, needs: Needs) -> CheckResult {
        // A paced retransmission may be overtaken by the next ACK, which classic schemes treat as a new event.
        let waits = self.pacing || needs.has_rate;
        reject_if(waits && !self.recovery.scheme.can_defer(), ConfigError::RecoveryCannotPace)
    }

    fn check_feedback(&self, needs: Needs) -> CheckResult {
        let is_accurate = self.ecn == EcnMode::Accurate;
        reject_if(is_accurate && self.recovery.rules == RecoveryRules::Ns2, ConfigError::AccurateEcnNeedsRfcRules)?;
        reject_if(!is_accurate && needs.marks == MarkAnswer::ByShare, ConfigError::ControlNeedsAccurateEcn)
    }

    fn check_marks(&self, needs: Needs) -> CheckResult {
        if self.ecn == EcnMode::Off {
            return Ok(());
        }
        reject_if(needs.marks == MarkAnswer::None, ConfigError::ControlIgnoresMarks)?;
        reject_if(!self.recovery.scheme.uses_sack(), ConfigError::EcnNeedsSack)?;
        reject_if(self.recovery.rules == RecoveryRules::Ns2, ConfigError::EcnNeedsRfcRules)
    }

    fn check_reduction(&self, needs: Needs) -> CheckResult {
        if self.recovery.window_reduction == WindowReduction::Immediate {
            return Ok(());
        }
        reject_if(needs.shapes_recovery, ConfigError::ControlSetsRecoveryWindow)?;
        reject_if(!self.recovery.scheme.can_defer(), ConfigError::ReductionNeedsFlight)
    }

    fn check_trigger(&self) -> CheckResult {
        // RACK-TLP counts no duplicates; the timer of Vegas is earlier than any rule.
        let is_early = self.recovery.dupthresh != Dupthresh::ThreeDuplicates;
        reject_if(is_early && self.recovery.scheme == Recovery::Vegas, ConfigError::VegasTimer)?;
        reject_if(is_early && self.recovery.scheme == Recovery::Rack, ConfigError::DupthreshNeedsDuplicates)
    }

    fn check_undo(&self) -> CheckResult {
        let SpuriousDetection { forward_rto, undo } = self.recovery.spurious;
        if forward_rto || undo != Undo::None {
            self.check_undo_support()?;
        }
        self.check_undo_signal(undo)
    }

    fn check_undo_signal(&self, undo: Undo) -> CheckResult {
        match undo {
            Undo::None => Ok(()),
            Undo::Eifel => reject_if(!self.timestamps.enabled, ConfigError::NoTimestamps),
            Undo::Either => {
                let has_signal =
                    self.timestamps.enabled || (self.acks.dsack != Dsack::Off && self.recovery.scheme.uses_sack());
                reject_if(!has_signal, ConfigError::NoTimestamps)
            }
            Undo::DuplicateSack => {
                reject_if(self.acks.dsack == Dsack::Off, ConfigError::NoDsack)?;
                reject_if(!self.recovery.scheme.uses_sack(), ConfigError::NoSack)
            }
        }
    }

    fn check_undo_support(&self) -> CheckResult {
        match self.recovery.scheme {
            Recovery::Tahoe => Err(ConfigError::TahoeNoUndo),
            Recovery::Sack1 | Recovery::Vegas => Err(ConfigError::NoUndo),
            Recovery::Reno { .. } | Recovery::NewReno(_) => {
                reject_if(self.recovery.rules == RecoveryRules::Ns2, ConfigError::NoUndo)
            }
            Recovery::Rfc6675 | Recovery::Rack => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::control::bbr::BbrParameters;
    use crate::policy::control::prague::PragueParameters;
    use crate::policy::control::vegas::VegasParameters;
    use crate::policy::recovery::newreno::NewRenoFlags;
    use earlybird_units::Duration;

    #[test]
    fn every_profile_is_compatible() {
        for config in [Config::ns2(), Config::rfc(), Config::linux(), Config::earlybird_rt(Duration::from_millis(250))]
        {
            assert_eq!(config.check(), Ok(()));
        }
    }

    #[test]
    fn a_control_sets_the_recovery_and_the_ecn_mode_that_it_needs() {
        let vegas = Control::Vegas(VegasParameters::NS2);
        assert_eq!(Config::ns2().with_control(vegas).recovery.scheme, Recovery::Vegas);
        assert_eq!(Config::ns2().with_control(vegas).acks.sack_blocks, 0, "ns-2's Vegas has no SACK");
        assert_eq!(Config::rfc().with_control(vegas).recovery.scheme, Recovery::Rfc6675);
        assert_eq!(Config::rfc().with_control(Control::Tahoe).recovery.scheme, Recovery::Tahoe);
        let prague = Config::rfc().with_control(Control::Prague(PragueParameters::DEFAULT));
        assert_eq!((prague.ecn, prague.check()), (EcnMode::Accurate, Ok(())));
    }

    #[test]
    fn incompatible_options_of_a_profile_are_turned_off() {
        let linux = Config::linux();
        for chosen in [
            linux.with_control(Control::Tahoe),
            linux.with_control(Control::Bbr(BbrParameters::DEFAULT)),
            linux.with_recovery(Recovery::Sack1),
            linux.with_recovery(Recovery::NewReno(NewRenoFlags::default())),
            linux.with_timestamps(false).with_recovery(Recovery::NewReno(NewRenoFlags::default())),
        ] {
            assert_eq!(
                (chosen.check(), chosen.recovery.window_reduction),
                (Ok(()), WindowReduction::Immediate),
                "{chosen:?}"
            );
        }
        let plain = linux.with_recovery(Recovery::Rfc6675);
        assert_eq!(
            (plain.recovery.window_reduction, plain.recovery.spurious),
            (linux.recovery.window_reduction, linux.recovery.spurious)
        );
    }

    #[test]
    fn sack_blocks_return_with_a_recovery_that_uses_them() {
        let without = Config::rfc().with_recovery(Recovery::Tahoe);
        assert_eq!((without.acks.sack_blocks, without.with_recovery(Recovery::Rack).acks.sack_blocks), (0, 3));
    }

    #[test]
    fn incompatible_policies_are_reported() {
        let (ns2, rfc) = (Config::ns2(), Config::rfc());
        let bbr = Control::Bbr(BbrParameters::DEFAULT);
        let eifel = SpuriousDetection { forward_rto: false, undo: Undo::Eifel };
        let proportional = WindowReduction::Proportional;
        let cases = [
            (rfc.with_mss(0), ConfigError::Empty),
            (rfc.with_control_only(Control::Tahoe), ConfigError::ControlNeedsOwnRecovery),
            (rfc.with_recovery(Recovery::Tahoe), ConfigError::RecoveryNeedsOwnControl),
            (rfc.with_recovery(Recovery::Vegas), ConfigError::RecoveryNeedsOwnControl),
            (ns2.with_pacing(true), ConfigError::RecoveryCannotPace),
            (ns2.with_control(bbr), ConfigError::RecoveryCannotPace),
            (rfc.with_control(bbr).with_ecn(EcnMode::Classic), ConfigError::ControlIgnoresMarks),
            (ns2.with_ecn(EcnMode::Classic), ConfigError::EcnNeedsRfcRules),
            (ns2.with_ecn(EcnMode::Accurate), ConfigError::AccurateEcnNeedsRfcRules),
            (ns2.with_window_reduction(proportional), ConfigError::ReductionNeedsFlight),
            (rfc.with_control(bbr).with_window_reduction(proportional), ConfigError::ControlSetsRecoveryWindow),
            (
                rfc.with_recovery(Recovery::Rack).with_dupthresh(Dupthresh::FewOutstanding),
                ConfigError::DupthreshNeedsDuplicates,
            ),
            (rfc.with_spurious(eifel).with_timestamps(false), ConfigError::NoTimestamps),
            (ns2.with_spurious(eifel), ConfigError::NoUndo),
        ];
        for (config, reason) in cases {
            assert_eq!(config.check(), Err(reason), "{config:?}");
        }
    }
}
