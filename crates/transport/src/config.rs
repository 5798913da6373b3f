//! From a scenario's endpoint settings to a connection's configuration: the profile fills what was left open.

use crate::name::{Detection, Kind, Preset, Repair, Transport};
use crate::profile::Profile;
use crate::quantity::{Fraction, Time};
use crate::settings::{self, Endpoint, Rack, RetransmissionTimer};
use earlybird_tcp::{
    Acking, AgeReference, Config, Control, Dupthresh, EcnMode, IpVersion, NewRenoFlags, RackConfig, ReceiveBuffer,
    Recovery, RtoConfig, RtoRestart, Segmentation, SpuriousDetection, Undo, WindowReduction,
};
use earlybird_units::Duration;

/// ns-2's sink counts segments, standards count what fills one.
const fn delayed_acks(profile: Profile, delay: Duration) -> Acking {
    if matches!(profile, Profile::Ns2) { Acking::SecondSegment(delay) } else { Acking::Delayed(delay) }
}

impl Profile {
    /// Returns the profile's own configuration.
    pub fn config(self) -> Config {
        match self {
            Self::Ns2 => Config::ns2(),
            Self::Rfc => Config::rfc(),
            Self::Linux => Config::linux(),
        }
    }
}

/// The most that Ethernet carries in a frame, IP header included (RFC 894).
const ETHERNET: u16 = 1500;

/// Linux's default for the largest receive buffer for many years, the third number of `tcp_rmem` (`ip-sysctl.rst`): 6 MiB.
const RECEIVE_BUFFER: u32 = 6_291_456;

impl Profile {
    /// Returns the transport that the profile's senders have; `None` if it is [`Transport::default`].
    pub fn usual_transport(self) -> Option<Transport> {
        let kind = Kind::control("cubic").filter(|_| self == Self::Linux)?;
        Some(Transport { kind, ..Transport::default() })
    }
}

impl Endpoint {
    /// Returns the configuration of a connection whose frames, if it carries any, are of use for `deadline`. It has no
    /// real-time mode, except `earlybird-rt`.
    pub fn config(&self, deadline: Duration) -> Config {
        let base = self.base(deadline);
        let chosen = self.with_choices(base);
        chosen
            .with_segmentation(Segmentation::Simulated)
            .with_max_window(self.window.unwrap_or(base.window.max))
            .with_receive_buffer(
                self.receive_buffer.map_or(base.buffers.receive, |size| ReceiveBuffer::Fixed(size.into())),
            )
            .with_send_buffer(self.send_buffer.map(u64::from))
            .with_unsent_limit(self.unsent_limit.map(u64::from))
            .with_limited_transmit(self.limited_transmit.unwrap_or(base.recovery.limited_transmit))
            .with_sack1_hold_new_data(self.hold_new_data.unwrap_or(base.recovery.sack1_hold_new_data))
            .with_precise_halving(self.precise_halving.unwrap_or(base.window.precise_halving))
            .with_acking(
                self.delayed_ack.map_or(base.acks.policy, |delay| delayed_acks(self.profile, delay.duration())),
            )
            .with_rack(rack_of(&self.rack, base.recovery.rack))
            // Not from the profile: programs for media switch it off (`TCP_NODELAY`).
            .with_nagle(self.nagle.unwrap_or(false))
            .with_window_reduction(self.window_reduction.map_or(chosen.recovery.window_reduction, Into::into))
            .with_spurious(self.spurious(chosen.recovery.spurious))
            .with_pacing(self.pacing.unwrap_or(base.pacing))
            .with_dupthresh(self.trigger())
            .with_rto(self.timer(base.timers.rto))
            .with_rto_restart(self.rto.restart_on_duplicate.map_or(base.timers.restart, restart_of))
    }

    /// Returns whether it follows our own preset and not its profile.
    fn is_own(&self) -> bool {
        self.transport.kind == Kind::RealTime(Preset::EarlybirdRt)
    }

    fn base(&self, deadline: Duration) -> Config {
        let base = if self.is_own() { Config::earlybird_rt(deadline) } else { self.profile.config() };
        let base = base.with_timestamps(self.timestamps.unwrap_or(base.timestamps.enabled));
        // ns-2 states window and segment size in packets of its own; an Ethernet frame bounds the others.
        let base = if self.profile == Profile::Ns2 { base } else { self.on_ethernet(base) };
        let mss = self.mss.unwrap_or(base.segments.mss);
        let usual = match self.profile {
            // The other profiles state their initial window in segments (Linux: 10, RFC 6928).
            Profile::Rfc if !self.is_own() => rfc3390_window(mss),
            _ => base.window.initial,
        };
        base.with_mss(mss).with_initial_window(self.initial_window.unwrap_or(usual))
    }

    /// Returns packets of 1500 bytes, and a window that holds no more back than the receiver's buffer does.
    fn on_ethernet(&self, base: Config) -> Config {
        let mss = base.with_mss(IpVersion::V4.mss_within(ETHERNET)).payload();
        // The larger of both: the sender must not be what limits a flow whose receiver has a large buffer.
        let bytes = self.receive_buffer.unwrap_or_default().max(RECEIVE_BUFFER);
        base.with_mss(mss).with_max_window(bytes / u32::from(self.mss.unwrap_or(mss)))
    }

    /// Chooses control, recovery and feedback: what the keys say, else what the transport's name says, else what comes with
    /// the control.
    fn with_choices(&self, base: Config) -> Config {
        let classic = if self.uses_ecn() { EcnMode::Classic } else { EcnMode::Off };
        // ECN before the control: a control with needs of its own (Prague) replaces the mode.
        let config = base.with_ecn(classic).with_control(self.control(&base));
        // A key wins over the name, and the name over what the control brings along.
        let named = match (self.recovery, self.transport.kind, self.transport.detection) {
            (Some(recovery), ..) => Some(self.recovery_called(recovery)),
            // Without SACK, whatever the profile uses: the name is that of the repair.
            (None, Kind::Repair(Repair::Reno), _) => Some(self.recovery_called(settings::Recovery::Reno)),
            (None, Kind::Repair(Repair::NewReno) | Kind::RealTime(Preset::TcpRtm), _) => {
                Some(self.recovery_called(settings::Recovery::Newreno))
            }
            (None, _, Detection::Rack) => Some(Recovery::Rack),
            // RACK-TLP counts no duplicate ACKs, of which the rule asks for one.
            (None, _, Detection::EarlyRetransmission) if config.recovery.scheme == Recovery::Rack => {
                Some(Recovery::Rfc6675)
            }
            (None, ..) => None,
        };
        named.map_or(config, |recovery| config.with_recovery(recovery))
    }

    /// Returns the congestion control: the one that the transport is named after, or Reno's; our own preset brings its own.
    fn control(&self, base: &Config) -> Control {
        match self.transport.kind {
            Kind::Control(name) => self.controls.control(name.as_str(), self.profile).unwrap_or(base.control),
            Kind::Repair(Repair::Tahoe) => Control::Tahoe,
            Kind::RealTime(Preset::EarlybirdRt) => base.control,
            // Its authors' patch is one of Linux, whose default this is.
            Kind::RealTime(Preset::Hollywood) => self.controls.control("cubic", self.profile).unwrap_or(base.control),
            Kind::Repair(_) | Kind::Datagram(_) | Kind::Quic(_) | Kind::RealTime(_) => Control::Reno,
        }
    }

    fn recovery_called(&self, recovery: settings::Recovery) -> Recovery {
        match recovery {
            settings::Recovery::Sack1 => Recovery::Sack1,
            settings::Recovery::Rfc6675 => Recovery::Rfc6675,
            settings::Recovery::RackTlp => Recovery::Rack,
            settings::Recovery::Tahoe => Recovery::Tahoe,
            settings::Recovery::Reno => Recovery::Reno { second_fast_retransmit: self.reno.second_fast_retransmit },
            settings::Recovery::Newreno => Recovery::NewReno(NewRenoFlags {
                is_impatient: self.newreno.impatient,
                deflates: self.newreno.partial_window_deflation,
            }),
        }
    }

    /// Returns whether queues may mark its packets, and it answers as to a loss.
    pub fn uses_ecn(&self) -> bool {
        self.ecn == Some(settings::EcnMode::Classic)
    }

    fn spurious(&self, base: SpuriousDetection) -> SpuriousDetection {
        SpuriousDetection {
            forward_rto: self.spurious_rto_detection.unwrap_or(base.forward_rto),
            undo: self.undo.map_or(base.undo, Into::into),
        }
    }

    fn trigger(&self) -> Dupthresh {
        // The rules of RFC 5827 and of Linux for thin streams adjust the count; `-er` has a rule by age instead.
        if self.transport.detection != Detection::EarlyRetransmission {
            return match (self.early_retransmit, self.thin_duplicates) {
                // Only one rule can apply: RFC 5827 decides if both are set.
                (true, _) => Dupthresh::FewOutstanding,
                (false, true) => Dupthresh::ThinStream,
                (false, false) => Dupthresh::ThreeDuplicates,
            };
        }
        Dupthresh::EarlyRetransmission(match self.early_retransmission.reference {
            settings::AgeReference::Missing => AgeReference::Missing,
            settings::AgeReference::LastInOrder => AgeReference::LastInOrder,
        })
    }

    fn timer(&self, base: RtoConfig) -> RtoConfig {
        let base = if self.transport.fine_grained { base.fine_grained() } else { base };
        let RetransmissionTimer { tick, floor, ceiling, initial, clock_phase, linear_when_thin, .. } = self.rto;
        RtoConfig {
            tick: tick.map_or(base.tick, Time::duration),
            floor: floor.map_or(base.floor, Time::duration),
            ceiling: ceiling.map_or(base.ceiling, Time::duration),
            initial: initial.map_or(base.initial, Time::duration),
            // Not from the profile: without the key the simulator draws a phase for every flow.
            clock_phase: clock_phase.map(Time::duration),
            linear_when_thin: linear_when_thin.unwrap_or(base.linear_when_thin),
            ..base
        }
    }
}

impl From<settings::Undo> for Undo {
    fn from(undo: settings::Undo) -> Self {
        match undo {
            settings::Undo::None => Self::None,
            settings::Undo::Eifel => Self::Eifel,
            settings::Undo::Dsack => Self::DuplicateSack,
            settings::Undo::Either => Self::Either,
        }
    }
}

impl From<settings::WindowReduction> for WindowReduction {
    fn from(reduction: settings::WindowReduction) -> Self {
        match reduction {
            settings::WindowReduction::Immediate => Self::Immediate,
            settings::WindowReduction::Prr => Self::Proportional,
        }
    }
}

/// min(4·MSS, max(2·MSS, 4380 B)) in whole segments (RFC 3390 §1).
fn rfc3390_window(mss: u16) -> u32 {
    let mss = u32::from(mss);
    // Whole segments: the rest of a window would leave as a short one.
    (4 * mss).min((2 * mss).max(4380)) / mss
}

const fn restart_of(on_duplicate: bool) -> RtoRestart {
    if on_duplicate { RtoRestart::Duplicates } else { RtoRestart::Progress }
}

fn rack_of(rack: &Rack, base: RackConfig) -> RackConfig {
    RackConfig {
        reordering_window: rack.reordering_window.map_or(base.reordering_window, Fraction::value),
        expects_reordering: rack.expect_reordering.unwrap_or(base.expects_reordering),
        adapts_window: rack.adapt_window.unwrap_or(base.adapts_window),
        window_persistence: rack.window_persistence.unwrap_or(base.window_persistence),
        probes_tail: rack.tail_loss_probe.unwrap_or(base.probes_tail),
        longest_ack_delay: rack.longest_ack_delay.map_or(base.longest_ack_delay, Time::duration),
        ..base
    }
}
