"""Values over time, one line per name: weighted shares, use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.notebook.tables import Table, extra

Points = Sequence[tuple[float, float | None]]  # seconds, value until the next


class Lines:
    """Steps over time: each value holds until the next one. Times are in seconds."""

    def __init__(self, title: str, lines: Mapping[str, Points]) -> None:
        self.title = title
        self.lines = {name: list(points) for name, points in lines.items()}

    def __repr__(self) -> str:
        return f"<{self.title} of {', '.join(self.lines) or 'nothing'}>"

    def table(self) -> Table:
        """Return a row per instant at which a value changes, a column per line."""
        instants = sorted({at for points in self.lines.values() for at, _ in points})
        rows: list[dict[str, Any]] = [{"seconds": at} for at in instants]
        for name, points in self.lines.items():
            changes, value = dict(points), None
            for row in rows:
                value = changes.get(row["seconds"], value)
                row[name] = value
        return Table(rows)

    def frame(self) -> Any:
        """Return a pandas DataFrame with the seconds as its index."""
        return self.table().frame().set_index("seconds")

    def plot(self, **options: Any) -> Any:
        """Draw the steps with matplotlib; return its axes. Options go to pandas."""
        extra("matplotlib")
        drawn = {"drawstyle": "steps-post", "title": self.title, **options}
        return self.frame().plot(**drawn)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
