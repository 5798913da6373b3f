"""`earlybird demo`: what the program is about, in a minute."""

import math
from typing import TYPE_CHECKING, Final

from earlybird.cli.arguments import Jobs, Json, examples
from earlybird.cli.output import echo, show_json
from earlybird.lazy import LateModule
from earlybird.paths import REPORTS

if TYPE_CHECKING:
    from earlybird.planning import answer, planner
    from earlybird.planning.planner import CandidateResult, Plan
    from earlybird.planning.watch import Watched
else:
    answer = LateModule("earlybird.planning.answer")
    planner = LateModule("earlybird.planning.planner")

NAME = "demo"
EXAMPLES = examples("earlybird demo")
PICTURE = REPORTS / "demo.gif"

SESSIONS: Final = 10
SECONDS: Final = 60
PICTURE_SECONDS: Final = 12.0

QUESTION: Final = f"""\
A server sends a video of 4 Mb/s over TCP. The line carries 20 Mb/s, has a round
trip of 60 ms, and loses 1 % of the packets. Can viewers watch without stalls?

Simulating {SESSIONS} viewers for {SECONDS} s each, with two congestion controls of Linux:
CUBIC, which most servers use, and BBR.
"""
NEXT: Final = """\
Next:    the same for your video and your line:
         earlybird plan FILM.mp4 --rate 20Mb/s --rtt 60ms --loss 1%"""


def command(*, jobs: Jobs = None, json: Json = False) -> None:
    """
    Show with an example whether viewers can watch a video over TCP, and draw what they see.

    It simulates ten viewers over a line that loses packets, once with CUBIC
    and once with BBR, and ends with an answer, a picture and the next command.
    The picture is written to the folder reports below the working folder.
    """
    if not json:
        echo(QUESTION)
    request = planner.PlanRequest(
        bitrate="4Mb/s",
        rate="20Mb/s",
        rtt="60ms",
        loss="1%",
        beside="none",
        transports=["bbr"],
        duration=f"{SECONDS}s",
        seeds=range(1, SESSIONS + 1),
    )
    found = planner.plan(request, jobs=jobs, progress=not json)
    REPORTS.mkdir(exist_ok=True)
    seen = found.watch(PICTURE, seconds=PICTURE_SECONDS, progress=not json)
    if json:
        show_json(found.to_dict() | {"watch": seen.to_dict()})
    else:
        echo("\n".join([*map(playback, found.results), "", conclusion(found), drawn(seen), NEXT]))


def playback(result: "CandidateResult") -> str:
    """Return how a sender's viewers can watch, in a line."""
    needs = [session.delay_needed for session in result.sessions]
    never = sum(map(math.isinf, needs))
    name = f"  {result.candidate.name.upper():<8}"
    if never:
        return f"{name} {never} of {len(needs)} viewers have stalls, however long they wait at the start."
    return f"{name} all viewers can watch without stalls if they wait {answer.delay_text(max(needs))} at the start."


def conclusion(plan: "Plan") -> str:
    """Return the choice in a sentence."""
    name = plan.choice.candidate.name.upper()
    needed = max(session.delay_needed for session in plan.choice.sessions)
    return f"Answer:  use {name} on the server, and buffer {answer.delay_text(needed)} before the video plays."


def drawn(seen: "Watched") -> str:
    """Return the file of the picture, and what it shows."""
    return f"Picture: {seen.path} ({PICTURE_SECONDS:.0f} s of the video with each; open it in a browser)"
