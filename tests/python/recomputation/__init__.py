"""A second computation of the tables of a run, from the packets alone.

It reads what `earlybird run` writes for its users (the capture, the packet trace and the link trace) and the scenario's
file, and computes the columns anew by their definitions in the register of metrics. It imports nothing of the package
`earlybird`, so that an error in the package cannot be in both.
"""
