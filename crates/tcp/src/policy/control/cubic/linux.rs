//! CUBIC of Linux, in integers: the window grows by one segment after `cnt` ACKs.
//!
//! v2.1 is `tcp_cubic.c` of kernel 2.6.22, v2.3 that of 2.6.38. Kernels since 4.0 count acknowledged segments instead of ACKs, because
//! of stretch ACKs (`tcp_cong_avoid_ai`). Names are those of `struct bictcp`. Only the cube root is more exact here.

use super::CubicConfig;
use super::root::cube_root;
use crate::policy::control::slow_start::SlowStart;
use crate::policy::control::{CongestionControl, Flight, Progress, Window, trace_syn_ack};
use crate::trace::Cx;
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant};

/// The differences between the versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinuxVersion {
    /// β in 1024ths.
    beta: u32,
    /// Above the plateau: the largest growth in segments per 100 ms of the smallest RTT.
    max_increment: Option<u32>,
    /// `cnt` before the first loss (`bictcp_update`).
    first_epoch: u32,
    /// Whether that is exact, or an upper bound.
    first_epoch_is_fixed: bool,
    /// Whether acknowledged segments count, not ACKs; then slow start ends at its threshold, not one segment beyond.
    counts_acked: bool,
}

/// Linux 2.6.22.
pub(super) const V21: LinuxVersion = LinuxVersion {
    beta: 819,
    max_increment: Some(16),
    first_epoch: 50,
    first_epoch_is_fixed: true,
    counts_acked: false,
};
/// Linux 2.6.38.
pub(super) const V23: LinuxVersion =
    LinuxVersion { beta: 717, max_increment: None, first_epoch: 20, first_epoch_is_fixed: false, counts_acked: false };
/// Linux 6.18.
pub(super) const V6: LinuxVersion = LinuxVersion { counts_acked: true, ..V23 };

/// Scale of β.
const BETA_SCALE: u32 = 1024;
/// C in 1024ths and per 100 ms of round trip: 41 · 10.
const SCALED_C: u64 = 410;
/// The curve's clock: 2¹⁰ ticks per second.
const TICKS_SHIFT: u32 = 10;
/// C is in 1024ths and the cube of a time in 2³⁰ths.
const CUBE_SHIFT: u32 = 10 + 3 * TICKS_SHIFT;
/// The kernel's clock: milliseconds.
const CLOCK: u64 = 1000;
/// The target is updated after this many milliseconds (`HZ/32`), or when the window has changed.
const UPDATE_INTERVAL: u64 = CLOCK / 32;
/// Segments per ACK are averaged in 16ths.
const ACK_RATIO_SHIFT: u32 = 4;
/// If the curve is below the window, it grows by one segment per this many windows (`bictcp_update`).
const SLOW_GROWTH: u32 = 100;
/// The smallest `cnt` if segments count: growth by one per two segments (`bictcp_update` since Linux 4.0).
const MIN_CNT: u32 = 2;
/// The smallest slow-start threshold.
const SMALLEST_SSTHRESH: u32 = 2;

impl LinuxVersion {
    /// Returns the ACKs per segment of growth for Reno with this β, in eighths (`beta_scale`).
    const fn reno_scale(self) -> u32 {
        8 * (BETA_SCALE + self.beta) / 3 / (BETA_SCALE - self.beta)
    }
}

#[derive(Debug)]
pub(super) struct LinuxCubic {
    version: LinuxVersion,
    fast_convergence: bool,
    slow_start: Box<dyn SlowStart>,
    cwnd: u32,
    ssthresh: u32,
    /// ACKs, or segments, since the window grew (`snd_cwnd_cnt`).
    cwnd_cnt: u32,
    bictcp: BicTcp,
}

/// The state that a timeout resets (`struct bictcp`).
#[derive(Clone, Copy, Debug)]
struct BicTcp {
    /// ACKs for one segment of growth.
    cnt: u32,
    last_max_cwnd: u32,
    had_loss: bool,
    /// The window and the time of the last computation.
    computed: Option<(u32, u64)>,
    epoch: Option<Epoch>,
    /// Smallest RTT in milliseconds.
    delay_min: Option<u64>,
    /// Segments per ACK in 16ths.
    delayed_ack: u32,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Start in milliseconds.
    start: u64,
    origin_point: u32,
    /// Ticks from the start to the plateau.
    bic_k: u64,
    /// ACKs that are not yet part of `tcp_cwnd` (`ack_cnt`).
    acks: u32,
    /// The estimated window of Reno.
    tcp_cwnd: u32,
}

impl Default for BicTcp {
    fn default() -> Self {
        Self {
            cnt: 0,
            last_max_cwnd: 0,
            had_loss: false,
            computed: None,
            epoch: None,
            delay_min: None,
            delayed_ack: 2 << ACK_RATIO_SHIFT,
        }
    }
}

impl Epoch {
    fn new(now: u64, cwnd: u32, last_max_cwnd: u32, acks: u32) -> Self {
        let below = u64::from(last_max_cwnd.saturating_sub(cwnd));
        let bic_k = cube_root((1 << CUBE_SHIFT) / SCALED_C * below);
        Self { start: now, origin_point: last_max_cwnd.max(cwnd), bic_k, acks, tcp_cwnd: cwnd }
    }

    fn ticks(&self, now: u64) -> u64 {
        ((now - self.start) << TICKS_SHIFT) / CLOCK
    }

    /// Returns the window on the curve after `ticks`.
    fn target(&self, ticks: u64) -> u32 {
        let distance = ticks.abs_diff(self.bic_k);
        let cube = distance.saturating_mul(distance).saturating_mul(distance).saturating_mul(SCALED_C);
        // The shifted value is below 2²⁴ and fits.
        let offset = (cube >> CUBE_SHIFT) as u32;
        if ticks < self.bic_k { self.origin_point.saturating_sub(offset) } else { self.origin_point + offset }
    }

    fn update_tcp_cwnd(&mut self, cnt: u32) {
        while self.acks > cnt {
            self.acks -= cnt;
            self.tcp_cwnd += 1;
        }
    }
}

impl BicTcp {
    fn on_rtt(&mut self, now: u64, rtt: Duration) {
        // Linux discards samples of the first second of an epoch, right after recovery (`cubictcp_acked`).
        if self.epoch.is_some_and(|epoch| now - epoch.start < CLOCK) {
            return;
        }
        let rtt = as_millis(rtt).max(1);
        self.delay_min = Some(self.delay_min.map_or(rtt, |smallest| smallest.min(rtt)));
    }

    fn on_acked(&mut self, segments: u64) {
        self.delayed_ack =
            self.delayed_ack - (self.delayed_ack >> ACK_RATIO_SHIFT) + segments.min(u64::from(u16::MAX)) as u32;
    }

    /// Computes after how many ACKs, or segments, the window grows; at most every 1/32 s while it stays the same. `counted` came
    /// now.
    fn update(&mut self, version: LinuxVersion, now: u64, cwnd: u32, cwnd_cnt: u32) {
        if let Some(epoch) = &mut self.epoch {
            epoch.acks += cwnd_cnt;
        }
        if self.computed.is_some_and(|(window, at)| window == cwnd && now - at <= UPDATE_INTERVAL) {
            return;
        }
        self.computed = Some((cwnd, now));
        let epoch = *self.epoch.get_or_insert(Epoch::new(now, cwnd, self.last_max_cwnd, cwnd_cnt));
        let cubic = self.cubic_cnt(version, &epoch, now, cwnd);
        let acks = self.reno_cnt(version, cubic, cwnd);
        self.cnt = if version.counts_acked {
            acks.max(MIN_CNT)
        } else {
            ((acks << ACK_RATIO_SHIFT) / self.delayed_ack).max(1)
        };
    }

    fn cubic_cnt(&self, version: LinuxVersion, epoch: &Epoch, now: u64, cwnd: u32) -> u32 {
        let ticks = epoch.ticks(now + self.delay_min.unwrap_or(0));
        // The curve one RTT ahead, as the target of RFC 9438 §4.2.
        let target = epoch.target(ticks);
        let mut acks = if target > cwnd { cwnd / (target - cwnd) } else { SLOW_GROWTH * cwnd };
        if let (Some(largest), Some(rtt)) = (version.max_increment, self.delay_min)
            && ticks >= epoch.bic_k
        {
            // Per 100 ms of RTT.
            acks = acks.max((u64::from(cwnd) * CLOCK / (10 * u64::from(largest) * rtt)) as u32);
        }
        match (self.had_loss, version.first_epoch_is_fixed) {
            (true, _) => acks,
            (false, true) => version.first_epoch,
            (false, false) => acks.min(version.first_epoch),
        }
    }

    fn reno_cnt(&mut self, version: LinuxVersion, acks: u32, cwnd: u32) -> u32 {
        let Some(epoch) = &mut self.epoch else { return acks };
        epoch.update_tcp_cwnd((cwnd * version.reno_scale()) >> 3);
        // The Reno-friendly region: at least as fast as Reno would be.
        if epoch.tcp_cwnd > cwnd { acks.min(cwnd / (epoch.tcp_cwnd - cwnd)) } else { acks }
    }
}

fn as_millis(span: Duration) -> u64 {
    span.as_nanos() / 1_000_000
}

impl LinuxCubic {
    pub(super) fn new(version: LinuxVersion, config: CubicConfig, ssthresh: f64) -> Self {
        Self {
            version,
            fast_convergence: config.fast_convergence,
            slow_start: config.slow_start.policy(),
            cwnd: 1,
            // The cast turns infinity into the largest number.
            ssthresh: ssthresh as u32,
            cwnd_cnt: 0,
            bictcp: BicTcp::default(),
        }
    }

    fn is_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh || (self.cwnd == self.ssthresh && !self.version.counts_acked)
    }

    /// Grows in slow start, and returns the rest for congestion avoidance.
    fn grow_in_slow_start(&mut self, now: Instant, progress: &Progress, may_grow: bool) -> u32 {
        let step = self.slow_start.on_progress(now, progress, f64::from(self.cwnd));
        if step.is_over {
            self.ssthresh = self.cwnd.max(SMALLEST_SSTHRESH);
        }
        if !may_grow {
            return 0;
        }
        let growth = step.growth as u32;
        // Old kernels compare with `<=` and are in slow start at the threshold once more.
        let least = u32::from(!self.version.counts_acked);
        let grown = growth.min(self.ssthresh.saturating_sub(self.cwnd).max(least));
        self.cwnd += grown;
        if self.version.counts_acked { growth - grown } else { 0 }
    }

    fn congestion_avoidance(&mut self, now: u64, segments: u32) {
        if self.version.counts_acked {
            return self.cong_avoid_ai(now, segments);
        }
        self.bictcp.update(self.version, now, self.cwnd, 1);
        if self.cwnd_cnt >= self.bictcp.cnt {
            self.cwnd += 1;
            self.cwnd_cnt = 0;
        } else {
            self.cwnd_cnt += 1;
        }
    }

    /// Grows as `tcp_cong_avoid_ai` of Linux 4.0 and later.
    fn cong_avoid_ai(&mut self, now: u64, segments: u32) {
        self.bictcp.update(self.version, now, self.cwnd, segments);
        let each = self.bictcp.cnt;
        if self.cwnd_cnt >= each {
            self.cwnd_cnt = 0;
            self.cwnd += 1;
        }
        self.cwnd_cnt += segments;
        self.cwnd += self.cwnd_cnt / each;
        self.cwnd_cnt %= each;
    }

    fn ssthresh_after_loss(&self) -> u32 {
        (self.cwnd * self.version.beta / BETA_SCALE).max(SMALLEST_SSTHRESH)
    }

    fn next_last_max_cwnd(&self) -> u32 {
        if self.fast_convergence && self.cwnd < self.bictcp.last_max_cwnd {
            // Fast convergence (RFC 9438 §4.7).
            self.cwnd * (BETA_SCALE + self.version.beta) / (2 * BETA_SCALE)
        } else {
            self.cwnd
        }
    }
}

impl CongestionControl for LinuxCubic {
    fn cwnd(&self) -> f64 {
        f64::from(self.cwnd)
    }

    fn ssthresh(&self) -> f64 {
        if self.ssthresh == u32::MAX { f64::INFINITY } else { f64::from(self.ssthresh) }
    }

    fn on_established(&mut self, cx: &mut Cx<'_>, initial_window: f64) {
        trace_syn_ack(cx, self);
        self.cwnd = initial_window as u32;
    }

    fn on_progress(&mut self, cx: &mut Cx<'_>, progress: &Progress) {
        let now = cx.now.as_nanos() / 1_000_000;
        self.bictcp.on_acked(progress.acked);
        if let Some(rtt) = progress.rtt {
            self.bictcp.on_rtt(now, rtt);
        }
        let may_grow = progress.is_cwnd_used(self.cwnd());
        let mut segments = progress.growth as u32;
        if self.is_slow_start() {
            segments = self.grow_in_slow_start(cx.now, progress, may_grow);
        }
        if may_grow && segments > 0 {
            self.congestion_avoidance(now, segments);
        }
    }

    fn on_loss(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.bictcp.last_max_cwnd = self.next_last_max_cwnd();
        self.bictcp.had_loss = true;
        self.bictcp.epoch = None;
        self.ssthresh = self.ssthresh_after_loss();
        self.cwnd = self.ssthresh;
        self.cwnd_cnt = 0;
        self.slow_start.on_loss();
    }

    fn on_timeout(&mut self, _cx: &mut Cx<'_>, _flight: &Flight) {
        self.ssthresh = self.ssthresh_after_loss();
        self.cwnd = 1;
        self.cwnd_cnt = 0;
        self.bictcp = BicTcp::default();
        self.slow_start.on_timeout();
    }

    fn deflate(&mut self, _cx: &mut Cx<'_>, segments: f64) {
        self.cwnd = self.cwnd.saturating_sub(segments as u32).max(1);
    }

    fn undo(&mut self, window: &Window) {
        self.cwnd = self.cwnd.max(window.cwnd as u32);
        self.ssthresh = self.ssthresh.max(window.ssthresh as u32);
    }

    fn on_idle(&mut self, window: &Window) {
        (self.cwnd, self.ssthresh) = (window.cwnd as u32, window.ssthresh as u32);
        self.cwnd_cnt = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::control::cubic::CubicVersion;
    use crate::policy::control::slow_start::SlowStartRule;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    /// A path with an ACK per segment, a loss every so many, and the windows of the kernel's code on it.
    struct Case {
        rtt: u64,
        first_window: u32,
        loss_every: u32,
        ssthresh: u32,
        /// 24 windows, two per loss: in the middle of the interval, and after the reduction.
        kernel: [u32; 24],
    }

    fn windows(config: CubicConfig, case: &Case) -> Vec<u32> {
        let version = if config.version == CubicVersion::V21 { V21 } else { V23 };
        let mut cubic = LinuxCubic::new(version, config, f64::from(case.ssthresh));
        cubic.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, f64::from(case.first_window));
        let mut micros = 10_000_000;
        let mut windows = Vec::new();
        for ack in 1..=12 * case.loss_every {
            let flight = cubic.cwnd() as u64;
            micros += case.rtt * 1000 / flight;
            // The kernel's clock stands still within a millisecond.
            let mut cx = Cx { now: Instant::from_nanos(micros / 1000 * 1_000_000), trace: &mut () };
            if ack % case.loss_every == 0 {
                cubic.on_loss(&mut cx, &Flight::new(flight));
            } else {
                let rtt = Some(Duration::from_millis(case.rtt));
                cubic.on_progress(&mut cx, &Progress { una: 0, ..Progress::new(1, flight, rtt) });
            }
            if ack % (case.loss_every / 2) == 0 {
                windows.push(cubic.cwnd() as u32);
            }
        }
        windows
    }

    /// Asserts that no window is off by more than one segment, and gives how many are equal.
    fn equal_windows(config: CubicConfig, cases: &[Case]) -> usize {
        let mut equal = 0;
        for case in cases {
            let windows = windows(config, case);
            assert_eq!(windows.len(), case.kernel.len());
            for (window, kernel) in windows.into_iter().zip(case.kernel) {
                assert!(window.abs_diff(kernel) <= 1, "{window}, not {kernel}");
                equal += usize::from(window == kernel);
            }
        }
        equal
    }

    const KERNEL_V21: [Case; 3] = [
        Case {
            rtt: 100,
            first_window: 2,
            loss_every: 10000,
            ssthresh: 64,
            kernel: [
                254, 357, 406, 343, 373, 307, 336, 275, 303, 247, 293, 245, 272, 220, 265, 220, 265, 220, 265, 220,
                265, 220, 265, 220,
            ],
        },
        Case {
            rtt: 20,
            first_window: 2,
            loss_every: 5000,
            ssthresh: 64,
            kernel: [
                158, 203, 212, 173, 179, 146, 152, 126, 133, 111, 119, 100, 109, 92, 101, 87, 97, 83, 93, 81, 91, 79,
                90, 79,
            ],
        },
        Case {
            rtt: 200,
            first_window: 50,
            loss_every: 10000,
            ssthresh: 30,
            kernel: [
                242, 347, 420, 347, 420, 347, 420, 347, 420, 347, 420, 347, 420, 347, 420, 347, 420, 347, 420, 347,
                420, 347, 420, 347,
            ],
        },
    ];

    const KERNEL_V23: [Case; 3] = [
        Case {
            rtt: 100,
            first_window: 2,
            loss_every: 10000,
            ssthresh: 64,
            kernel: [
                513, 677, 744, 555, 598, 438, 481, 354, 397, 292, 335, 245, 286, 207, 246, 176, 238, 176, 238, 176,
                238, 176, 238, 176,
            ],
        },
        Case {
            rtt: 20,
            first_window: 2,
            loss_every: 5000,
            ssthresh: 64,
            kernel: [
                286, 359, 369, 263, 271, 192, 200, 144, 153, 113, 124, 93, 107, 83, 97, 77, 93, 74, 90, 72, 89, 72, 89,
                72,
            ],
        },
        Case {
            rtt: 200,
            first_window: 50,
            loss_every: 10000,
            ssthresh: 30,
            kernel: [
                504, 671, 790, 601, 674, 497, 568, 416, 484, 352, 417, 299, 403, 298, 358, 253, 350, 253, 350, 253,
                350, 253, 350, 253,
            ],
        },
    ];

    #[test]
    fn v21_has_the_windows_of_linux_2_6_22() {
        assert_eq!(equal_windows(CubicConfig::V21, &KERNEL_V21), 68);
        conforms(
            Area::Control,
            "cubic v21",
            "Linux 2.6.22 tcp_cubic.c, as in ns-2.35",
            "72 windows along 3 paths (RTT 20, 100, 200 ms) with regular losses, against the kernel's code fed the same ACKs",
            "68 of 72 equal, 4 off by one segment (a more exact cube root)",
        );
    }

    #[test]
    fn v23_has_the_windows_of_linux_2_6_38() {
        let config = CubicConfig { slow_start: SlowStartRule::Standard, ..CubicConfig::V23 };
        assert_eq!(equal_windows(config, &KERNEL_V23), 66);
        conforms(
            Area::Control,
            "cubic v23",
            "Linux 2.6.38 tcp_cubic.c",
            "72 windows along 3 paths (RTT 20, 100, 200 ms) with regular losses, against the 2.6.22 code with v2.3's constants",
            "66 of 72 equal, 6 off by one segment (a more exact cube root)",
        );
    }

    /// Linux's own roots, from its code.
    #[test]
    fn the_time_to_the_plateau_is_within_0_1_percent_of_the_kernels() {
        for (below, kernel) in
            [(1, 1388), (3, 2003), (10, 2991), (50, 5120), (100, 6451), (1000, 13_897), (10_000, 29_930)]
        {
            let bic_k = Epoch::new(0, 10, 10 + below, 1).bic_k;
            assert!(bic_k.abs_diff(kernel) * 1000 <= kernel, "{below}: {bic_k}, not {kernel}");
        }
    }

    /// A loss every 100 segments of a path of 10 ms, and what the window is just before them, from the sixth on.
    fn peaks(version: CubicVersion, segments_per_ack: u64) -> Vec<u32> {
        let config = CubicConfig { version, slow_start: SlowStartRule::Standard, ..CubicConfig::V23 };
        let mut cubic = LinuxCubic::new(if version == CubicVersion::V23 { V23 } else { V6 }, config, 8.0);
        cubic.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 8.0);
        let (mut micros, mut peaks) = (10_000_000, Vec::new());
        for ack in 1..=1200 / segments_per_ack {
            let flight = cubic.cwnd() as u64;
            micros += 10_000 * segments_per_ack / flight;
            let mut cx = Cx { now: Instant::from_nanos(micros * 1000), trace: &mut () };
            if ack % (100 / segments_per_ack) == 0 {
                peaks.push(cubic.cwnd() as u32);
                cubic.on_loss(&mut cx, &Flight::new(flight));
            } else {
                let rtt = Some(Duration::from_millis(10));
                cubic.on_progress(&mut cx, &Progress { una: 0, ..Progress::new(segments_per_ack, flight, rtt) });
            }
        }
        peaks.split_off(6)
    }

    /// 2.6.38 grows Reno's share with each ACK; since 4.0 it does with each segment.
    #[test]
    fn linux_6_grows_by_segments_however_many_an_ack_covers() {
        assert_eq!(peaks(CubicVersion::Linux, 1), peaks(CubicVersion::Linux, 2));
        assert!(peaks(CubicVersion::V23, 2) < peaks(CubicVersion::V23, 1));
    }

    /// The ACK that ends slow start by delay does not grow the window; older kernels are in slow start once more.
    #[test]
    fn linux_6_leaves_slow_start_with_the_window_that_it_has() {
        for (version, config, beyond) in [(V23, CubicConfig::V23, 1), (V6, CubicConfig::LINUX, 0)] {
            let mut cubic = LinuxCubic::new(version, config, f64::INFINITY);
            cubic.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 20.0);
            let (mut una, mut snd_max, mut now) = (1, 21, Instant::ZERO);
            while cubic.ssthresh().is_infinite() {
                let rtt = Duration::from_millis(if una < 21 { 50 } else { 90 });
                (una, now) = (una + 1, now + Duration::from_millis(3));
                let progress = Progress { una, snd_max, ..Progress::new(1, snd_max - una + 1, Some(rtt)) };
                cubic.on_progress(&mut Cx { now, trace: &mut () }, &progress);
                snd_max = una + cubic.cwnd() as u64;
            }
            assert_eq!(cubic.cwnd - cubic.ssthresh, beyond);
        }
    }

    /// 2·8·1843/3/205 and 8·1741/3/307, in eighths: 2.9 and 1.9 windows.
    #[test]
    fn reno_grows_once_in_2_9_or_1_9_windows() {
        assert_eq!([V21.reno_scale(), V23.reno_scale()], [23, 15]);
    }

    #[test]
    fn a_timeout_forgets_everything() {
        let mut cubic = LinuxCubic::new(V21, CubicConfig::V21, 10.0);
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        cubic.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 100.0);
        cubic.on_loss(cx, &Flight::new(100));
        assert_eq!((cubic.cwnd, cubic.ssthresh, cubic.bictcp.last_max_cwnd), (79, 79, 100));
        cubic.on_timeout(cx, &Flight::new(79));
        assert_eq!((cubic.cwnd, cubic.ssthresh, cubic.bictcp.last_max_cwnd), (1, 63, 0));
    }

    #[test]
    fn fast_convergence_lowers_the_plateau_below_the_window() {
        for (fast_convergence, last_max_cwnd) in [(true, 71), (false, 79)] {
            let config = CubicConfig { fast_convergence, ..CubicConfig::V21 };
            let mut cubic = LinuxCubic::new(V21, config, 10.0);
            let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
            cubic.on_established(&mut Cx { now: Instant::ZERO, trace: &mut () }, 100.0);
            cubic.on_loss(cx, &Flight::new(100));
            cubic.on_loss(cx, &Flight::new(79));
            assert_eq!(cubic.bictcp.last_max_cwnd, last_max_cwnd);
        }
    }
}
