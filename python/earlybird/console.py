"""Output on the terminal of texts that others wrote: names in scenarios, archives and measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich.console

from earlybird.formatting import visible

if TYPE_CHECKING:
    from rich.text import Text


class Console(rich.console.Console):
    """A console on which a text is shown as it is: it has no markup, and its control characters are written out."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401, those of rich
        super().__init__(markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401
        """Turn a text, such as a cell of a table, into one that can be shown."""
        return super().render_str(visible(text), **options)
