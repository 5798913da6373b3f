"""Figures: pure functions from a tidy table to a matplotlib figure, and one look for all of them."""
