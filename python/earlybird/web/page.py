"""Fills the templates of the page."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import TYPE_CHECKING, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from earlybird.web.fields import ALL, GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earlybird.web.fields import Group
    from earlybird.web.jobs import Job

EXAMPLE: Final = {"bitrate": "4Mb/s", "rate": "20Mb/s", "rtt": "60ms", "loss": "1%"}

HTMX: Final = {
    "allowEval": False,
    "historyCacheSize": 0,
    "includeIndicatorStyles": False,
    "refreshOnHistoryMiss": True,
    "responseHandling": [{"code": "204", "swap": False}, {"code": "...", "swap": True}],
    "selfRequestsOnly": True,
}
"""Answers with errors are shown too; nothing is evaluated or kept in the browser, as the policy of the page demands."""


@dataclasses.dataclass(frozen=True)
class View:
    """The contents of the page: the values of the form, errors by field, and a plan."""

    values: Mapping[str, str] = dataclasses.field(default_factory=dict)
    errors: Mapping[str, str] = dataclasses.field(default_factory=dict)
    job: Job | None = None
    ahead: int = 0  # plans that are computed before

    def unfolds(self, group: Group) -> bool:
        """Return whether the folded fields of a group have a value or an error."""
        return any(self.values.get(field.name) or field.name in self.errors for field in group.folded)

    def page(self) -> str:
        """Write the whole page."""
        return self._rendered("page.html.j2")

    def form_answer(self) -> str:
        """Write what changes when the form was sent: the result, and the errors of all fields."""
        return self._rendered("form-answer.html.j2")

    def progress(self) -> str:
        """Write the progress of a plan, or its result."""
        ended = self.job is None or self.job.is_ended
        return self._rendered("result-answer.html.j2" if ended else "progress.html.j2")

    def _rendered(self, template: str) -> str:
        shown = {"view": self, "groups": GROUPS, "fields": ALL, "example": EXAMPLE, "htmx": json.dumps(HTMX)}
        return _environment().get_template(template).render(shown, home="/")


@cache
def _environment() -> Environment:
    """Return the templates of the page, and of reports, whose frame is the same."""
    return Environment(
        loader=ChoiceLoader([PackageLoader("earlybird.web"), PackageLoader("earlybird.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
