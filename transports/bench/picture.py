"""Transports side by side as a picture, which takes matplotlib (the extra `plots`)."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from transports.bench.measure import Figures

FORMATS: Final = (".svg", ".png")

_PANELS: Final[Sequence[tuple[str, Callable[[Figures], float | None]]]] = (
    ("until another replica has an op, ms", lambda each: each.p50 * 1000),
    ("ops a second, in groups", lambda each: each.ops_per_second),
    ("processor for an op here, ms", lambda each: each.cpu_per_op * 1000),
    ("kept on the far side for an op, bytes", lambda each: each.bytes_per_op),
    ("until one that was away has it all, ms", lambda each: each.recovery * 1000),
)
_LONGEST_NAME: Final = 40
_COLOUR: Final = "#4477aa"


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def draw(figures: Sequence[Figures], file: Path) -> None:
    """Draw a panel for each thing that was measured, with a bar for each transport. Raises OSError."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [_short(each.url) for each in figures]
    picture = Figure(figsize=(9, 1 + len(_PANELS) * (0.6 + 0.3 * len(names))), layout="constrained")
    FigureCanvasAgg(picture)
    for axes, (title, value) in zip(picture.subplots(len(_PANELS)), _PANELS, strict=True):
        values = [value(each) for each in figures]
        bars = axes.barh(range(len(names)), [each or 0 for each in values], color=_COLOUR)
        axes.bar_label(bars, ["not seen" if each is None else f"{each:,.4g}" for each in values], padding=3)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.margins(x=0.15)
        axes.set_title(title, loc="left", fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
    picture.savefig(file)


def _short(url: str) -> str:
    shown = url if len(url) <= _LONGEST_NAME else f"…{url[1 - _LONGEST_NAME :]}"
    return shown.replace("$", r"\$")  # which begins a formula
