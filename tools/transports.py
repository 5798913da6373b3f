"""Write docs/transports.md, the transports and loss recoveries, from the table that `earlybird transports` prints."""

import sys
import tomllib

from earlybird.transports import Parameter, TransportInfo, recoveries, transports
from generated import REPOSITORY, row, write_or_check

HEAD = """\
# Transports

Written by `make docs` from the data that `earlybird transports` prints. A transport is chosen by name, for all
flows (`endpoint.transport`) or for a group (`flows.NAME.transport`); its parameters are keys of `endpoint`. A name may
have suffixes: `-er` adds early retransmission, `-rack` selects RACK-TLP, and `-fg` the fine-grained retransmission
timer.
"""

NOTES: dict[str, str] = tomllib.loads((REPOSITORY / "tools" / "transport_notes.toml").read_text(encoding="utf-8"))
"""Notes beside the tables of parameters."""


def main() -> int:
    """Write or check the page."""
    sections = [HEAD, overview(transports()), *(section(one) for one in transports()), recovery_section()]
    return write_or_check(REPOSITORY / "docs" / "transports.md", "\n".join(sections), "make docs")


def overview(every: list[TransportInfo]) -> str:
    """Return the table of all transports."""
    rows = [f"| {', '.join(f'`{name}`' for name in one.names)} | {one.title} | {one.source} |" for one in every]
    return "\n".join(["| names | description | source |", "|---|---|---|", *rows]) + "\n"


def section(one: TransportInfo) -> str:
    """Return the section of a transport: its parameters and notes."""
    if not one.parameters:
        return f"## {one.name}\n\n{one.title}. No parameters of its own.\n"
    notes = [NOTES[one.name]] if one.name in NOTES else []
    head = [f"## {one.name}\n", f"{one.title}.\n", *notes, "| parameter | allowed | meaning |", "|---|---|---|"]
    return "\n".join([*head, *map(line, one.parameters)]) + "\n"


def line(parameter: Parameter) -> str:
    """Return a parameter's line."""
    return row(f"`{parameter.key}`", parameter.allowed, parameter.meaning)


def recovery_section() -> str:
    """Return the loss recoveries."""
    rows = [f"| `{one.name}` | {one.meaning} |" for one in recoveries()]
    head = ["## Loss recovery\n", "Values of `endpoint.recovery`; left out, profile and transport choose.\n"]
    return "\n".join([*head, "| value | what it is |", "|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
