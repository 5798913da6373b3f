"""A control with a fault: it grows by one segment for each ACK, whatever the ACK acknowledges and in recovery, too."""


class PerAck:
    """Halves its window at a loss; each ACK that arrives adds a segment again, so that divided ACKs add more."""

    def __init__(self, setup):
        self.cwnd = setup.initial_window
        self.largest = setup.largest_window

    def on_ack(self, sample):
        self.cwnd = min(self.cwnd + 1, self.largest)

    def on_loss(self, event):
        self.cwnd = max(min(event.in_flight, self.cwnd) / 2, 2)

    def on_rto(self):
        self.cwnd = 1
