"""Measurements of other programs: a module for each, whose `read` returns `Measurements`."""
