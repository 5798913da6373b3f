//! PERT's flags: the preset fills what was left open.

use earlybird_scenario as scenario;
use earlybird_tcp::{AlphaRule, CurveTail, LossFactor, MaxDelay, PertFlags, PiDesign};

pub(super) fn flags(pert: &scenario::Pert) -> PertFlags {
    let preset = match pert.preset {
        scenario::PertPreset::Default => PertFlags::DEFAULT,
        scenario::PertPreset::Text => PertFlags::TEXT,
        scenario::PertPreset::Port => PertFlags::PORT,
        scenario::PertPreset::Flat => PertFlags::FLAT,
        scenario::PertPreset::H => PertFlags::HOMOGENEOUS,
        scenario::PertPreset::Pi => PertFlags::PI,
    };
    PertFlags {
        max_delay: pert.max_delay.map_or(preset.max_delay, |max_delay| match max_delay {
            scenario::MaxDelay::Smoothed => MaxDelay::Smoothed,
            scenario::MaxDelay::Raw => MaxDelay::Raw,
        }),
        curve_tail: pert.curve_tail.map_or(preset.curve_tail, |tail| match tail {
            scenario::CurveTail::Gentle => CurveTail::Gentle,
            scenario::CurveTail::Flat => CurveTail::Flat,
        }),
        alpha: pert.alpha.map_or(preset.alpha, |alpha| match alpha {
            scenario::AlphaRule::Direct => AlphaRule::Direct,
            scenario::AlphaRule::Ramped => AlphaRule::Ramped,
            scenario::AlphaRule::Literal => AlphaRule::Literal,
        }),
        growth_on_response: pert.growth_on_response.unwrap_or(preset.growth_on_response),
        loss_factor: pert.loss_factor.map_or(preset.loss_factor, |factor| match factor {
            scenario::LossFactor::Beta => LossFactor::Beta,
            scenario::LossFactor::Half => LossFactor::Half,
        }),
        is_adaptive: pert.form.map_or(preset.is_adaptive, |form| form == scenario::PertForm::Adaptive),
        pi: preset.pi.map(|design| pi_design(&pert.pi, design)),
    }
}

fn pi_design(pi: &scenario::PiDesign, base: PiDesign) -> PiDesign {
    PiDesign {
        flows: pi.flows.unwrap_or(base.flows),
        rtt: pi.rtt.map_or(base.rtt, scenario::Time::duration),
        capacity: pi.capacity.map_or(base.capacity, |rate| rate.rate().bits_per_second()),
        packet: pi.packet.unwrap_or(base.packet),
        reference: pi.reference.map_or(base.reference, scenario::Time::duration),
        frequency: pi.frequency.unwrap_or(base.frequency),
    }
}
