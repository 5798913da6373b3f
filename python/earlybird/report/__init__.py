"""Reports of studies: a page that needs no other file, and a table for the terminal."""

from earlybird.report.terminal import terminal_summary
from earlybird.report.writer import report_study, write_report

__all__ = ["report_study", "terminal_summary", "write_report"]
