//! TCP's throughput as a function of its losses (RFC 5348 §3.1), and the other way round.

/// Returns the rate of a TCP connection in bytes per second: X = s / (R·√(2bp/3) + `t_RTO`·3·√(3bp/8)·p·(1 + 32p²)) with one
/// packet per ACK (b = 1) and `t_RTO` = 4R.
///
/// `segment` is the mean payload of a packet in bytes, `rtt` the round-trip time in seconds, `loss_event_rate` the loss
/// events per packet; without losses the rate has no bound.
pub fn throughput(segment: f64, rtt: f64, loss_event_rate: f64) -> f64 {
    let p = loss_event_rate;
    let fast_retransmits = rtt * libm::sqrt(2.0 * p / 3.0);
    let timeouts = 4.0 * rtt * 3.0 * libm::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p);
    segment / (fast_retransmits + timeouts)
}

/// Returns the loss event rate at which [`throughput`] has this value, between 10⁻⁸ and 1 (RFC 5348 §6.3.1 requires 5 %).
pub fn loss_event_rate_for(segment: f64, rtt: f64, rate: f64) -> f64 {
    let (mut low, mut high) = (1e-8_f64, 1.0_f64);
    // Halves the logarithm's interval of 18 until it is far below the required 5 %.
    for _ in 0..40 {
        let middle = libm::sqrt(low * high);
        if throughput(segment, rtt, middle) > rate { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    #[test]
    fn v18_1000_bytes_at_100_ms_and_1_percent_give_112_332_bytes_per_second() {
        for (rtt, p, expected) in [(0.1, 0.01, 112_332.0), (0.05, 0.02, 146_498.0)] {
            let rate = throughput(1000.0, rtt, p);
            assert!((rate - expected).abs() < 0.5, "{rate} instead of {expected}");
        }
        conforms(Area::Control, "tfrc", "RFC 5348 §3.1", "throughput equation at 2 points (V18)", "2 of 2 to the byte");
    }

    #[test]
    fn the_inverse_gives_the_loss_rate_back() {
        for p in [1e-6, 1e-3, 0.01, 0.2, 0.9] {
            let found = loss_event_rate_for(1000.0, 0.1, throughput(1000.0, 0.1, p));
            assert!((found / p - 1.0).abs() < 1e-6, "{found} instead of {p}");
        }
    }

    #[test]
    fn rates_that_no_loss_rate_gives_are_met_at_the_ends() {
        assert!(loss_event_rate_for(1000.0, 0.1, 0.0) > 0.999);
        assert!(loss_event_rate_for(1000.0, 0.1, 1e15) < 1.1e-8);
    }
}
