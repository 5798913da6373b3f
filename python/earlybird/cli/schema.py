"""`earlybird schema`: the JSON schema of scenarios."""

from earlybird import _core
from earlybird.cli.arguments import Json, examples
from earlybird.cli.output import echo

NAME = "schema"
EXAMPLES = examples("earlybird schema > scenario.schema.json")


def command(*, json: Json = True) -> None:
    """Print the JSON schema of scenarios, from which editors complete and check keys."""
    echo(_core.schema())
