"""The command line; one file per sub-command."""

from earlybird.cli.application import application


def main() -> None:
    """Run the command line; the entry point of the program `earlybird`."""
    application()
