"""Tests of statements with the numbers of the runs."""
