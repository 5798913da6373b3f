//! One `with_` method for each field of the groups.

use super::Config;
use super::groups::{Dsack, IdleRto, InitialSsthresh};
use crate::policy::acking::Acking;
use crate::policy::buffer::ReceiveBuffer;
use crate::policy::control::Control;
use crate::policy::dupthresh::Dupthresh;
use crate::policy::ecn::EcnMode;
use crate::policy::lifetimes::Lifetimes;
use crate::policy::recovery::choice::Recovery;
use crate::policy::recovery::dupack_common::RecoveryRules;
use crate::policy::recovery::rack::RackConfig;
use crate::policy::reduction::WindowReduction;
use crate::policy::rto::{RtoConfig, RtoRestart};
use crate::policy::segmentation::{IpVersion, Segmentation};
use crate::policy::spurious::SpuriousDetection;
use crate::policy::window_probe::WindowProbe;
use crate::real_time::RealTime;
use earlybird_units::Duration;

macro_rules! setters {
    ($($(#[$doc:meta])* $method:ident($value:ty) => $($field:ident).+;)*) => {
        impl Config {
            $(
                #[doc = concat!("Sets `", stringify!($($field).+), "`.")]
                $(#[$doc])*
                #[must_use]
                pub const fn $method(mut self, value: $value) -> Self {
                    self.$($field).+ = value;
                    self
                }
            )*
        }
    };
}

setters! {
    with_mss(u16) => segments.mss;
    with_segmentation(Segmentation) => segments.segmentation;
    with_ip(IpVersion) => segments.ip;
    with_nagle(bool) => segments.nagle;
    with_pmtu_black_hole_detection(bool) => segments.pmtu_black_hole_detection;
    with_send_buffer(Option<u64>) => buffers.send;
    with_unsent_limit(Option<u64>) => buffers.unsent_limit;
    with_receive_buffer(ReceiveBuffer) => buffers.receive;
    with_max_window(u32) => window.max;
    with_initial_window(u32) => window.initial;
    with_initial_ssthresh(InitialSsthresh) => window.initial_ssthresh;
    with_precise_halving(bool) => window.precise_halving;
    with_integer_cwnd(bool) => window.integer_cwnd;
    with_cwnd_validation(bool) => growth.cwnd_validation;
    with_byte_counting(bool) => growth.byte_counting;
    with_slow_start_after_idle(bool) => growth.slow_start_after_idle;
    /// [`Self::with_control`] also chooses the recovery and the feedback that the control needs.
    with_control_only(Control) => control;
    with_pacing(bool) => pacing;
    with_ecn(EcnMode) => ecn;
    with_timestamps(bool) => timestamps.enabled;
    with_required_timestamps(bool) => timestamps.required;
    with_tsecr_validation(bool) => timestamps.validate_tsecr;
    with_acking(Acking) => acks.policy;
    with_sack_blocks(usize) => acks.sack_blocks;
    with_dsack(Dsack) => acks.dsack;
    with_challenge_interval(Duration) => acks.challenge_interval;
    /// [`Self::with_recovery`] also turns off what does not go with the scheme.
    with_recovery_only(Recovery) => recovery.scheme;
    with_rules(RecoveryRules) => recovery.rules;
    with_limited_transmit(bool) => recovery.limited_transmit;
    with_sack1_hold_new_data(bool) => recovery.sack1_hold_new_data;
    with_window_reduction(WindowReduction) => recovery.window_reduction;
    with_spurious(SpuriousDetection) => recovery.spurious;
    with_rack(RackConfig) => recovery.rack;
    with_dupthresh(Dupthresh) => recovery.dupthresh;
    with_rto(RtoConfig) => timers.rto;
    with_rto_restart(RtoRestart) => timers.restart;
    with_idle_rto(IdleRto) => timers.idle;
    with_window_probe(WindowProbe) => timers.window_probe;
    with_lifetimes(Lifetimes) => lifetimes;
    with_real_time(RealTime) => real_time;
}
