"""`earlybird demo`: what the program is about, in a minute."""

from earlybird.cli import compare, study
from earlybird.cli.arguments import Jobs, examples
from earlybird.cli.output import say
from earlybird.paths import shipped_file

NAME = "demo"
EXAMPLES = examples("earlybird demo")
STUDY = "early-retransmission"


def command(*, jobs: Jobs = None) -> None:
    """
    Repeat the first study at its smallest scale, then compare transports on a film.

    Both come with the program. Results and reports go to the folders results and reports below the working folder; a
    second time nothing is made again.
    """
    study.run_command([STUDY], jobs=jobs)
    study.report_command([STUDY])
    compare.command(media=[shipped_file("media", "test-clip.mp4")], jobs=jobs)
    say("Next: the same with your own film: earlybird compare --media FILM; your own network: earlybird new")
