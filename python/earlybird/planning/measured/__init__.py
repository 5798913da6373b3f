"""What other programs have measured of a line: a module for each, whose `read` gives `Findings`."""
