"""`earlybird assess`: a congestion control by the criteria of RFC 9743."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.cli.arguments import Jobs, Json, Output, Settings, examples, overrides
from earlybird.cli.output import echo, echo_status, show_json
from earlybird.errors import InputError
from earlybird.lazy import LateModule
from earlybird.outputs import check_outputs
from earlybird.paths import RESULTS
from earlybird.quantities import parse_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.assessment import examination, junit, page, register, thresholds, view
    from earlybird.assessment.outcome import Assessment
    from earlybird.assessment.thresholds import Check
    from earlybird.cli import display
else:
    display = LateModule("earlybird.cli.display")
    examination = LateModule("earlybird.assessment.examination")
    junit = LateModule("earlybird.assessment.junit")
    page = LateModule("earlybird.assessment.page")
    register = LateModule("earlybird.assessment.register")
    thresholds = LateModule("earlybird.assessment.thresholds")
    view = LateModule("earlybird.assessment.view")

NAME = "assess"
BROKEN = 1  # exit code if a threshold does not hold
EXAMPLES = examples(
    "earlybird assess bbr1-rack --html bbr1.html",
    "earlybird assess copa --criterion 5.1.2 --criterion jain_index --against cubic --against bbr3",
    "earlybird assess cubic-rack --thresholds assess.toml --junit assess.xml",
    "earlybird assess pert --set endpoint.profile=linux --budget 5min --json",
)


def command(
    control: Annotated[
        str, typer.Argument(metavar="CONTROL", help="A name of `earlybird transports`.", show_default=False)
    ],
    *,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A criterion, or a section such as 5.1. May be given several times.",
            show_default="all",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A transport to compare it with; the first decides what is better. May be given several times.",
            show_default="cubic, sack (Reno), bbr1, bbr3 with the loss recovery of CONTROL",
        ),
    ] = None,
    settings: Settings = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Processor time of all runs, as estimated from the scenarios, so that no clock decides: it allows "
            "further seeds where the comparison is open. Three seeds are run in any case.",
        ),
    ] = "2min",
    limits: Annotated[
        Path | None,
        typer.Option("--thresholds", metavar="FILE.toml", help="Thresholds: the exit code is 1 if one does not hold."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write a page with a picture for each criterion.")
    ] = None,
    junit_file: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE.xml", help="Write JUnit XML: a test case for each criterion."),
    ] = None,
    scenarios: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the scenarios, to open and run.", show_default="beside the page"),
    ] = None,
    jobs: Jobs = None,
    output: Output = RESULTS,
    json: Json = False,
) -> None:
    """
    Measure a congestion control by the criteria of RFC 9743, beside CUBIC, Reno, BBR v1 and BBR v3.

    Each line has a figure with its interval, those of the others, and
    whether it is better, like or worse than CUBIC's beyond chance.
    """
    check_outputs({"html": html, "junit": junit_file}, {"thresholds": limits})
    required = thresholds.read_thresholds(limits) if limits else {}
    folder = scenarios or (html and html.with_name(f"{html.stem}-scenarios"))
    if folder:
        page.write_scenarios(folder, register.chosen(criterion or ()))
    found = examination.assess(
        control,
        criteria=criterion or (),
        against=against,
        overrides=overrides(settings),
        budget=_seconds(budget),
        jobs=jobs,
        output=output,
        progress=not json,
    )
    checks = thresholds.checked(found, required)
    _write(found, checks, html, junit_file, folder)
    if json:
        show_json({**found.to_dict(), "thresholds": [_entry(check) for check in checks]})
    else:
        display.show(view.render(found, checks))
        for file in filter(None, (html, junit_file, scenarios)):
            echo(f"Written: {file}")
    if len(checks) < len(required):
        echo_status(f"Not tested: {len(required) - len(checks)} thresholds of criteria that were left out.")
    if not all(check.holds for check in checks):
        raise typer.Exit(BROKEN)


def _write(
    found: "Assessment", checks: "Sequence[Check]", html: Path | None, junit_file: Path | None, folder: Path | None
) -> None:
    if html and folder:
        line = shlex.join(["earlybird", *sys.argv[1:]])
        html.write_text(page.page(found, checks, html, folder, line), encoding="utf-8")
    if junit_file:
        junit_file.write_text(junit.document(found, checks), encoding="utf-8")


def _entry(check: "Check") -> dict[str, object]:
    return {"criterion": check.name, "holds": check.holds, "fault": check.fault or None}


def _seconds(budget: str) -> float:
    seconds = parse_duration(budget)
    if seconds is None:
        raise InputError(f"budget = {budget}: a time with its unit, such as 60s or 5min.")
    return seconds
