//! Which policies go together: the one place that says so, for drivers on real networks as for scenarios.

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

/// Why the policies of a configuration do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A segment, a window or the initial window is empty.
    Empty,
    /// The smallest timeout is above the largest.
    TimerBounds,
    /// The control has a recovery of its own, and works with no other.
    ForeignRecovery,
    /// The recovery works with the control that it belongs to, and with no other.
    ForeignControl,
    /// Segments leave at a rate, and the recovery forgets a retransmission that has to wait.
    ForgetsWaiting,
    /// ns-2's receivers count no marks.
    UncountedMarks,
    /// The control answers shares of marks, and hears of no more than one mark per round trip.
    CoarseFeedback,
    /// The control answers no marks.
    UnansweredMarks,
    /// The recovery would move the window that a mark has reduced.
    MovesMarkedWindow,
    /// ns-2's sender lets marks change when it may repair a loss.
    MarksChangeRecovery,
    /// The control has a window of its own in recovery, which leaves no place for a proportional reduction.
    SecondReduction,
    /// A proportional reduction needs a recovery that knows what is in the network.
    UnknownFlight,
    /// Early retransmission needs a recovery that counts duplicate ACKs.
    CountsNoDuplicates,
    /// ns-2's Vegas has a fine timer of its own, beside which no other rule is early.
    FineTimer,
    /// ns-2's senders take no reduction back.
    KeepsReductions,
    /// What begins again with one segment after every loss takes no reduction back.
    BeginsAgain,
    /// Timestamps are off, which tell a needless retransmission.
    NoTimestamps,
    /// ns-2's receivers send no DSACK, which tells a needless retransmission.
    NoDuplicateSack,
    /// DSACKs need SACK.
    NoSack,
}

impl ConfigError {
    const fn text(self) -> &'static str {
        match self {
            Self::Empty => "segment size, window and initial window are at least 1",
            Self::TimerBounds => "the smallest timeout is above the largest",
            Self::ForeignRecovery => "the control works with a recovery of its own only",
            Self::ForeignControl => "the recovery works with the control that it belongs to only",
            Self::ForgetsWaiting => "the recovery forgets a retransmission that has to wait, as it may at a rate",
            Self::UncountedMarks => "accurate feedback does not go with ns-2's receivers, which count no marks",
            Self::CoarseFeedback => "the control answers shares of marks, which accurate feedback alone tells",
            Self::UnansweredMarks => "the control answers no marks",
            Self::MovesMarkedWindow => "the recovery moves the window that a mark has reduced",
            Self::MarksChangeRecovery => "ns-2's sender lets marks change when it may repair a loss",
            Self::SecondReduction => "the control has a window of its own in recovery",
            Self::UnknownFlight => "a proportional reduction needs a recovery that knows what is in the network",
            Self::CountsNoDuplicates => "the recovery counts no duplicate ACKs, which the trigger needs",
            Self::FineTimer => "ns-2's Vegas has a fine timer of its own",
            Self::KeepsReductions => "ns-2's senders take no reduction back",
            Self::BeginsAgain => "what begins again after every loss takes no reduction back",
            Self::NoTimestamps => "timestamps are off, which tell a needless retransmission",
            Self::NoDuplicateSack => "DSACKs are off, which tell a needless retransmission",
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

/// A rule: the reason if it is broken.
type Verdict = Result<(), ConfigError>;

const fn refuse_if(broken: bool, reason: ConfigError) -> Verdict {
    if broken { Err(reason) } else { Ok(()) }
}

/// Most SACK blocks in an ACK beside timestamps (RFC 2018 §3).
pub(super) const SACK_BLOCKS: usize = 3;

impl Config {
    /// Chooses a congestion control, with the recovery and the feedback that come with it.
    #[must_use]
    pub fn with_control(self, control: Control) -> Self {
        let needs = control.factory().needs(self.recovery.rules);
        let ecn = if needs.marks == MarkAnswer::ByShare { EcnMode::Accurate } else { self.ecn };
        self.with_control_only(control).with_ecn(ecn).with_recovery(needs.recovery.unwrap_or(self.recovery.scheme))
    }

    /// Chooses how losses are repaired. A sender without SACK asks its peer for none, and how the window falls and rises again is
    /// as plain as the recovery needs it: no proportional reduction, F-RTO or undo that does not go with it.
    #[must_use]
    pub fn with_recovery(self, recovery: Recovery) -> Self {
        let sack_blocks = match self.acks.sack_blocks {
            _ if !recovery.uses_sack() => 0,
            0 => SACK_BLOCKS,
            blocks => blocks,
        };
        self.with_recovery_only(recovery).with_sack_blocks(sack_blocks).without_what_does_not_fit()
    }

    fn without_what_does_not_fit(self) -> Self {
        let is_fitting = self.check_reduction(self.control.factory().needs(self.recovery.rules)).is_ok();
        let window_reduction = if is_fitting { self.recovery.window_reduction } else { WindowReduction::Immediate };
        let SpuriousDetection { forward_rto, undo } = self.recovery.spurious;
        let undo = if self.check_sign(undo).is_ok() { undo } else { Undo::None };
        let takes_back = self.check_takes_back().is_ok();
        let spurious = if takes_back { SpuriousDetection { forward_rto, undo } } else { SpuriousDetection::default() };
        self.with_window_reduction(window_reduction).with_spurious(spurious)
    }

    /// Checks that the policies go together.
    ///
    /// # Errors
    /// The first rule that is broken. A connection of such a configuration runs all the same, and may stall.
    pub fn check(&self) -> Result<(), ConfigError> {
        let needs = self.control.factory().needs(self.recovery.rules);
        self.check_numbers()?;
        self.check_pair(needs)?;
        self.check_feedback(needs)?;
        self.check_rate(needs)?;
        self.check_marks(needs)?;
        self.check_reduction(needs)?;
        self.check_trigger()?;
        self.check_undo()
    }

    fn check_numbers(&self) -> Verdict {
        refuse_if(self.segments.mss == 0 || self.window.max == 0 || self.window.initial == 0, ConfigError::Empty)?;
        refuse_if(self.timers.rto.floor > self.timers.rto.ceiling, ConfigError::TimerBounds)
    }

    fn check_pair(&self, needs: Needs) -> Verdict {
        let is_own = needs.recovery == Some(self.recovery.scheme);
        refuse_if(needs.insists && !is_own, ConfigError::ForeignRecovery)?;
        refuse_if(self.recovery.scheme.belongs_to_control() && !is_own, ConfigError::ForeignControl)
    }

    fn check_rate(&self, needs: Needs) -> Verdict {
        let waits = self.pacing || needs.has_rate;
        refuse_if(waits && !self.recovery.scheme.can_defer(), ConfigError::ForgetsWaiting)
    }

    fn check_feedback(&self, needs: Needs) -> Verdict {
        let is_accurate = self.ecn == EcnMode::Accurate;
        refuse_if(is_accurate && self.recovery.rules == RecoveryRules::Ns2, ConfigError::UncountedMarks)?;
        refuse_if(!is_accurate && needs.marks == MarkAnswer::ByShare, ConfigError::CoarseFeedback)
    }

    fn check_marks(&self, needs: Needs) -> Verdict {
        if self.ecn == EcnMode::Off {
            return Ok(());
        }
        refuse_if(needs.marks == MarkAnswer::None, ConfigError::UnansweredMarks)?;
        refuse_if(!self.recovery.scheme.uses_sack(), ConfigError::MovesMarkedWindow)?;
        refuse_if(self.recovery.rules == RecoveryRules::Ns2, ConfigError::MarksChangeRecovery)
    }

    fn check_reduction(&self, needs: Needs) -> Verdict {
        if self.recovery.window_reduction == WindowReduction::Immediate {
            return Ok(());
        }
        refuse_if(needs.shapes_recovery, ConfigError::SecondReduction)?;
        refuse_if(!self.recovery.scheme.can_defer(), ConfigError::UnknownFlight)
    }

    fn check_trigger(&self) -> Verdict {
        let is_early = self.recovery.dupthresh != Dupthresh::ThreeDuplicates;
        refuse_if(is_early && self.recovery.scheme == Recovery::Vegas, ConfigError::FineTimer)?;
        refuse_if(is_early && self.recovery.scheme == Recovery::Rack, ConfigError::CountsNoDuplicates)
    }

    fn check_undo(&self) -> Verdict {
        let SpuriousDetection { forward_rto, undo } = self.recovery.spurious;
        if forward_rto || undo != Undo::None {
            self.check_takes_back()?;
        }
        self.check_sign(undo)
    }

    fn check_sign(&self, undo: Undo) -> Verdict {
        match undo {
            Undo::None => Ok(()),
            Undo::Eifel => refuse_if(!self.timestamps.enabled, ConfigError::NoTimestamps),
            Undo::Either => {
                let has_sign =
                    self.timestamps.enabled || (self.acks.dsack != Dsack::Off && self.recovery.scheme.uses_sack());
                refuse_if(!has_sign, ConfigError::NoTimestamps)
            }
            Undo::DuplicateSack => {
                refuse_if(self.acks.dsack == Dsack::Off, ConfigError::NoDuplicateSack)?;
                refuse_if(!self.recovery.scheme.uses_sack(), ConfigError::NoSack)
            }
        }
    }

    fn check_takes_back(&self) -> Verdict {
        match self.recovery.scheme {
            Recovery::Tahoe => Err(ConfigError::BeginsAgain),
            Recovery::Sack1 | Recovery::Vegas => Err(ConfigError::KeepsReductions),
            Recovery::Reno { .. } | Recovery::NewReno(_) => {
                refuse_if(self.recovery.rules == RecoveryRules::Ns2, ConfigError::KeepsReductions)
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
    fn every_profile_goes_together() {
        for config in [Config::ns2(), Config::rfc(), Config::linux(), Config::earlybird_rt(Duration::from_millis(250))]
        {
            assert_eq!(config.check(), Ok(()));
        }
    }

    #[test]
    fn a_control_brings_what_it_works_with() {
        let vegas = Control::Vegas(VegasParameters::NS2);
        assert_eq!(Config::ns2().with_control(vegas).recovery.scheme, Recovery::Vegas);
        assert_eq!(Config::ns2().with_control(vegas).acks.sack_blocks, 0, "ns-2's Vegas has no SACK");
        assert_eq!(Config::rfc().with_control(vegas).recovery.scheme, Recovery::Rfc6675);
        assert_eq!(Config::rfc().with_control(Control::Tahoe).recovery.scheme, Recovery::Tahoe);
        let prague = Config::rfc().with_control(Control::Prague(PragueParameters::DEFAULT));
        assert_eq!((prague.ecn, prague.check()), (EcnMode::Accurate, Ok(())));
    }

    #[test]
    fn what_the_profile_has_beyond_a_plain_recovery_gives_way_to_the_choice_of_one() {
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
    fn a_sender_that_gets_sack_back_asks_for_it_again() {
        let without = Config::rfc().with_recovery(Recovery::Tahoe);
        assert_eq!((without.acks.sack_blocks, without.with_recovery(Recovery::Rack).acks.sack_blocks), (0, 3));
    }

    #[test]
    fn policies_that_do_not_go_together_are_named() {
        let (ns2, rfc) = (Config::ns2(), Config::rfc());
        let bbr = Control::Bbr(BbrParameters::DEFAULT);
        let eifel = SpuriousDetection { forward_rto: false, undo: Undo::Eifel };
        let proportional = WindowReduction::Proportional;
        let cases = [
            (rfc.with_mss(0), ConfigError::Empty),
            (rfc.with_control_only(Control::Tahoe), ConfigError::ForeignRecovery),
            (rfc.with_recovery(Recovery::Tahoe), ConfigError::ForeignControl),
            (rfc.with_recovery(Recovery::Vegas), ConfigError::ForeignControl),
            (ns2.with_pacing(true), ConfigError::ForgetsWaiting),
            (ns2.with_control(bbr), ConfigError::ForgetsWaiting),
            (rfc.with_control(bbr).with_ecn(EcnMode::Classic), ConfigError::UnansweredMarks),
            (ns2.with_ecn(EcnMode::Classic), ConfigError::MarksChangeRecovery),
            (ns2.with_ecn(EcnMode::Accurate), ConfigError::UncountedMarks),
            (ns2.with_window_reduction(proportional), ConfigError::UnknownFlight),
            (rfc.with_control(bbr).with_window_reduction(proportional), ConfigError::SecondReduction),
            (
                rfc.with_recovery(Recovery::Rack).with_dupthresh(Dupthresh::FewOutstanding),
                ConfigError::CountsNoDuplicates,
            ),
            (rfc.with_spurious(eifel).with_timestamps(false), ConfigError::NoTimestamps),
            (ns2.with_spurious(eifel), ConfigError::KeepsReductions),
        ];
        for (config, reason) in cases {
            assert_eq!(config.check(), Err(reason), "{config:?}");
        }
    }
}
