"""Reductions of runs to a few numbers about the observed flows."""
