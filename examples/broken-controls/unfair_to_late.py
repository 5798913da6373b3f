"""A control with a fault: what it yields at a loss shrinks with its age, so that flows that begin later get little."""


class UnfairToLate:
    """Reno in its first five seconds; an older flow gives up a twentieth of its window at a loss."""

    def __init__(self, setup):
        self.cwnd = setup.initial_window
        self.ssthresh = float("inf")
        self.begun = None

    def on_ack(self, sample):
        self.begun = sample.now if self.begun is None else self.begun
        self.cwnd += sample.growth if self.cwnd < self.ssthresh else sample.growth / self.cwnd

    def on_loss(self, event):
        is_young = self.begun is None or event.now - self.begun < 5
        self.cwnd = self.ssthresh = max(min(event.in_flight, self.cwnd) * (0.5 if is_young else 0.95), 2)

    def on_rto(self):
        self.ssthresh, self.cwnd = max(self.cwnd / 2, 2), 1
