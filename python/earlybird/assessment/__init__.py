"""
Congestion controls by the criteria of RFC 9743 (BCP 133, "Specifying New Congestion Control Algorithms", March 2025).

`criteria.toml` declares what is measured, `scenarios/` has the runs.
"""

from earlybird.assessment.examination import assess
from earlybird.assessment.outcome import Assessment, Row

__all__ = ["Assessment", "Row", "assess"]
