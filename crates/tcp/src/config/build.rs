//! Sizes that follow from a configuration, and the policies that are made from it.

use super::Config;
use super::groups::InitialSsthresh;
use crate::policy::buffer::BufferSize;
use crate::policy::control::CongestionControl;
use crate::policy::control::factory::ControlSetup;
use crate::policy::control::factory::Halved;
use crate::policy::recovery::choice::{Recovery, RecoverySetup};
use crate::policy::recovery::scheme::Scheme;
use crate::policy::segmentation::{Segmentation, TIMESTAMPS};
use alloc::boxed::Box;
use earlybird_units::SeedTree;

impl Config {
    /// Returns the payload of a full segment, without the options that every segment has (RFC 6691 §2).
    pub fn payload(&self) -> u16 {
        let is_stamped = self.segments.segmentation == Segmentation::Real && self.timestamps.enabled;
        let options = if is_stamped { TIMESTAMPS } else { 0 };
        // Timestamps are on every segment after the handshake, SACK blocks only on some.
        self.segments.mss.saturating_sub(options as u16).max(1)
    }

    /// Returns the size of the receive buffer at first and at most.
    pub(crate) fn receive_buffer_sizes(&self) -> [BufferSize; 2] {
        self.buffers.receive.sizes(u64::from(self.window.max) * u64::from(self.segments.mss))
    }

    /// Returns the largest window that is offered, in full segments.
    pub(crate) fn largest_offer(&self) -> u64 {
        self.receive_buffer_sizes()[1].offered().div_ceil(u64::from(self.segments.mss))
    }

    /// Returns what the congestion control of such a connection is made from.
    pub fn control_setup(&self, seeds: SeedTree) -> ControlSetup {
        let largest_window = self.window.max;
        ControlSetup {
            mss: self.segments.mss,
            largest_window,
            initial_window: self.window.initial,
            // A control takes infinity as "none": any window is below it.
            ssthresh: match self.window.initial_ssthresh {
                InitialSsthresh::MaxWindow => f64::from(largest_window),
                InitialSsthresh::Unbounded => f64::INFINITY,
            },
            halved: self.halved(),
            recovery: self.recovery.scheme,
            seeds,
            parameters: self.control.custom_parameters(),
        }
    }

    /// Returns what a loss halves.
    pub(super) fn halved(&self) -> Halved {
        let window = &self.window;
        match (self.recovery.scheme.halves_flight(self.recovery.rules), window.integer_cwnd, window.precise_halving) {
            // An integer window matters only where the RFCs halve the flight; Linux halves the window instead.
            (true, true, _) => Halved::Segments,
            (true, false, _) => Halved::Flight,
            (false, _, true) => Halved::Window,
            (false, _, false) => Halved::WholeWindow,
        }
    }

    /// Builds the congestion control.
    pub(crate) fn build_control(&self, seeds: SeedTree) -> Box<dyn CongestionControl> {
        self.control.factory().build(&self.control_setup(seeds))
    }

    /// Builds a scheme of recovery: the chosen one, or its substitute for a peer without SACK.
    pub(crate) fn build_recovery(&self, recovery: Recovery) -> Scheme {
        recovery.build(&RecoverySetup {
            limited_transmit: self.recovery.limited_transmit,
            hold_new_data: self.recovery.sack1_hold_new_data,
            largest_window: self.window.max,
            rules: self.recovery.rules,
            rack: self.recovery.rack,
        })
    }
}
