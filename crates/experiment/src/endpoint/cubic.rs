//! CUBIC's parameters.

use earlybird_scenario as scenario;
use earlybird_scenario::Endpoint;
use earlybird_tcp::{CubicConfig, SlowStartRule};

pub(super) fn config(endpoint: &Endpoint) -> CubicConfig {
    let cubic = &endpoint.cubic;
    let version = match cubic.version {
        scenario::CubicVersion::Rfc9438 => CubicConfig::RFC9438,
        scenario::CubicVersion::V21 => CubicConfig::V21,
        scenario::CubicVersion::V23 => CubicConfig::V23,
    };
    CubicConfig {
        fast_convergence: cubic.fast_convergence.unwrap_or(version.fast_convergence),
        slow_start: cubic.slow_start.map_or(version.slow_start, slow_start),
        ..version
    }
}

fn slow_start(rule: scenario::SlowStart) -> SlowStartRule {
    match rule {
        scenario::SlowStart::Standard => SlowStartRule::Standard,
        scenario::SlowStart::Hystart => SlowStartRule::Hystart,
        scenario::SlowStart::HystartPlusPlus => SlowStartRule::HystartPlusPlus,
    }
}
