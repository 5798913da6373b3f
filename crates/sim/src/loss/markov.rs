//! Channels whose state decides about losses and changes with every packet.

use earlybird_units::Random;

/// The channel of Gilbert (1960) and Elliott (1963), with the parameters and in the order of Linux's netem.
///
/// The state in which a packet finds the channel decides whether it is lost; the state may then change for the next one.
/// The channel is good at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability p of turning bad after a packet.
    pub to_bad: f64,
    /// Probability r of turning good again.
    pub to_good: f64,
    /// Probability 1 − h of losing a packet while bad.
    pub loss_in_bad: f64,
    /// Probability 1 − k of losing a packet while good.
    pub loss_in_good: f64,
    is_bad: bool,
}

impl GilbertElliott {
    /// Makes a good channel from p, r, 1 − h and 1 − k.
    pub const fn new(to_bad: f64, to_good: f64, loss_in_bad: f64, loss_in_good: f64) -> Self {
        Self { to_bad, to_good, loss_in_bad, loss_in_good, is_bad: false }
    }

    /// Makes the channel of Gilbert (k = 1, h = 0) that loses `ratio` of the packets, below 1, in bursts of
    /// `mean_burst`, at least 1: r = 1/L and p = rP/(1 − P), since the share of bad states is p/(p + r).
    pub fn with_bursts(ratio: f64, mean_burst: f64) -> Self {
        let to_good = 1.0 / mean_burst;
        Self::new(to_good * ratio / (1.0 - ratio), to_good, 1.0, 0.0)
    }

    /// Returns the share of packets lost in the long run; NaN if the state never changes.
    pub fn loss_ratio(&self) -> f64 {
        let bad = self.to_bad / (self.to_bad + self.to_good);
        self.loss_in_good * (1.0 - bad) + self.loss_in_bad * bad
    }

    /// Returns the mean burst length over that of independent losses (ITU-T G.107) where all bad packets and no others are
    /// lost.
    pub fn burst_ratio(&self) -> f64 {
        1.0 / (self.to_bad + self.to_good)
    }

    pub(super) fn is_lost(&mut self, random: &mut Random) -> bool {
        let (leave, loss) =
            if self.is_bad { (self.to_good, self.loss_in_bad) } else { (self.to_bad, self.loss_in_good) };
        // netem draws the transition first and the loss second; the loss uses the state before the transition.
        self.is_bad ^= random.unit() < leave;
        random.unit() < loss
    }
}

/// The four-state channel of Salsano, Ludovici and Ordine (2009), with the states and names of Linux's netem.
///
/// The state changes with every packet, and the new state decides about it. The channel starts in a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FourState {
    /// From received in a gap (1) to lost in a burst (3).
    pub p13: f64,
    /// From lost in a burst (3) to received in a gap (1).
    pub p31: f64,
    /// From lost in a burst (3) to received in a burst (2).
    pub p32: f64,
    /// From received in a burst (2) to lost in a burst (3).
    pub p23: f64,
    /// From received in a gap (1) to lost alone (4), which always leads back to (1).
    pub p14: f64,
    state: State,
}

/// The states of the four-state channel, numbered as in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// 1
    ReceivedInGap,
    /// 2
    ReceivedInBurst,
    /// 3
    LostInBurst,
    /// 4
    LostInGap,
}

impl FourState {
    /// Makes a channel in a gap from its probabilities of changing from state to state, in netem's order.
    pub const fn new(p13: f64, p31: f64, p32: f64, p23: f64, p14: f64) -> Self {
        Self { p13, p31, p32, p23, p14, state: State::ReceivedInGap }
    }

    /// Returns the share of packets lost in the long run, from the balance between the states; NaN if it never loses.
    pub fn loss_ratio(&self) -> f64 {
        // Shares of the states in units of that of state 3, from the balance of transitions.
        let gap = self.p31 / self.p13;
        let received_in_burst = if self.p32 > 0.0 { self.p32 / self.p23 } else { 0.0 };
        let lost_in_gap = self.p14 * gap;
        (1.0 + lost_in_gap) / (1.0 + lost_in_gap + gap + received_in_burst)
    }

    pub(super) fn is_lost(&mut self, random: &mut Random) -> bool {
        let draw = random.unit();
        self.state = match self.state {
            // One draw decides among all transitions, in the order of netem's `loss_4state`.
            State::ReceivedInGap if draw < self.p14 => State::LostInGap,
            State::ReceivedInGap if draw < self.p14 + self.p13 => State::LostInBurst,
            State::ReceivedInBurst if draw < self.p23 => State::LostInBurst,
            State::LostInBurst if draw < self.p32 => State::ReceivedInBurst,
            State::LostInBurst if draw < self.p32 + self.p31 => State::ReceivedInGap,
            State::LostInGap => State::ReceivedInGap,
            unchanged => unchanged,
        };
        matches!(self.state, State::LostInBurst | State::LostInGap)
    }
}
