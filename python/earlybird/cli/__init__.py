"""The command line; one file per sub-command."""

from earlybird.cli.application import application
from earlybird.cli.signals import end_on_request
from earlybird.cli.streams import make_streams_safe


def main() -> None:
    """Run the command line; the entry point of the program `earlybird`."""
    make_streams_safe()
    end_on_request()
    application()
