"""A control with a fault: neither a loss nor a timeout reduces its window."""


class NoBackoff:
    """Grows as slow start does, and never shrinks."""

    def __init__(self, setup):
        self.cwnd = setup.initial_window
        self.largest = setup.largest_window

    def on_ack(self, sample):
        self.cwnd = min(self.cwnd + sample.growth, self.largest)

    def on_loss(self, event):
        pass

    def on_rto(self):
        pass
