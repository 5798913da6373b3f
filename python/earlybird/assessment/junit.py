"""An assessment as JUnit XML, which services for continuous integration show: a test case for each criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

from earlybird.assessment.register import excluded
from earlybird.assessment.view import interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.assessment.outcome import Assessment, Row
    from earlybird.assessment.thresholds import Check


def document(found: Assessment, checks: Sequence[Check]) -> str:
    """Write the file: a threshold that does not hold is a failure, what is not measured is skipped."""
    suite = Xml.Element("testsuite", name=f"earlybird assess {found.control}")
    by_name = {check.name: check for check in checks}
    for row in found.rows:
        _add_case(suite, row, by_name.get(row.criterion.name))
    for one in excluded():
        case = Xml.SubElement(suite, "testcase", name=one.name, classname=f"RFC 9743 section {one.section}")
        Xml.SubElement(case, "skipped", message=one.reason)
    for key, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(key, str(sum(1 for _ in suite.iter(tag))))
    Xml.indent(suite)
    return Xml.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _add_case(suite: Xml.Element, row: Row, check: Check | None) -> None:
    one = row.criterion
    case = Xml.SubElement(suite, "testcase", name=one.name, classname=f"RFC 9743 section {one.section}")
    if check and not check.holds:
        Xml.SubElement(case, "failure", message=check.sentence)
    elif row.control in row.reasons:
        Xml.SubElement(case, "skipped", message=row.reasons[row.control])
    others = ", ".join(f"{name} {number(row.figure(name).mean)}" for name in row.others)
    text = f"{one.title}: {interval(row.figure(row.control))} {one.unit} ({row.comparison or 'not compared'}; {others})"
    Xml.SubElement(case, "system-out").text = text
