"""
The search for a setting under which all that a paper states is met at once.

A study's ``search.toml`` names what the paper leaves open, the runs of one evaluation, and the statements, which it
takes from the study's items and tables. An optimiser tries settings; the distance to the paper is its objective.
"""
