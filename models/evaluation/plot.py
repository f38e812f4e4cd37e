"""A comparison as a picture: recall-at-k curves, and whether scores are calibrated.

SVG written by hand: no script, no font and no image from elsewhere, readable on white and on black,
told apart by dashes as well as by colour, and with all of it in words for those who can't see it.
"""

from collections.abc import Iterator
from html import escape

import numpy as np

from models import FloatArray
from models.evaluation.calibration import LEAST_PEOPLE, Calibration
from models.evaluation.comparison import Comparison, Outcome
from models.evaluation.contestants import Kind

WIDTH, HEIGHT = 900, 880
LEFT, RIGHT = 64, 600
CURVES_TOP, CURVES_BOTTOM = 76, 400
SQUARE_TOP, SQUARE_BOTTOM = 490, 810
LEGEND = RIGHT + 24
BLEND_COLOUR = "#d55e00"
COLOURS = ("#0072b2", "#009e73", "#c0679a", "#b8860b", "#7a5af5", "#d03a5b", "#5f7f8c")
"""After Okabe & Ito (2008), with the yellow and the black replaced: 3:1 on white and on black."""
DASHES = ("", "6 3", "2 3", "9 3 2 3")
WIDTHS: dict[Kind, float] = {"baseline": 1.5, "part": 2, "blend": 3.5}
STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; font-size: 13px; fill: #222 }
.head { font-size: 16px; font-weight: 600 }
.small { font-size: 12px }
.ground { fill: #fff }
.axis { stroke: #555; fill: none }
.grid { stroke: #ddd; fill: none }
.even { stroke: #777; stroke-dasharray: 4 4; fill: none }
@media (prefers-color-scheme: dark) {
  text { fill: #eee }
  .ground { fill: #16181b }
  .axis { stroke: #aaa }
  .grid { stroke: #33373d }
  .even { stroke: #999 }
}
"""


def draw(comparison: Comparison, *, about: str) -> str:
    """The SVG document; ``about`` says in a sentence what was compared on what."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'role="img" aria-labelledby="title desc">',
        '<title id="title">How well recommendations were found</title>',
        f'<desc id="desc">{_in_words(comparison, about)}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        _text(LEFT, 28, "Recall at k, mean over people", "head"),
        _text(LEFT, 48, about, "small"),
        *_curves(comparison),
        _text(LEFT, 468, "Calibration of the blend", "head"),
        *_reliability(comparison.calibration),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _in_words(comparison: Comparison, about: str) -> str:
    k = comparison.k
    recalls = "; ".join(f"{one.name} {_at(one, k):.3f}" for one in comparison.outcomes)
    said = f"{about} Recall at {k}: {recalls}. "
    calibration = comparison.calibration
    if calibration is None:
        return escape(said + "Too few people for a calibration.")
    bins = "; ".join(
        f"{predicted:.3f} predicted, {observed:.3f} observed"
        for predicted, observed in zip(calibration.predicted, calibration.observed, strict=True)
    )
    return escape(said + f"Calibration, save rates by score, from low to high: {bins}.")


def _at(outcome: Outcome, k: int) -> float:
    return float(outcome.curve[min(k, len(outcome.curve)) - 1])


def _curves(comparison: Comparison) -> Iterator[str]:
    outcomes = comparison.outcomes
    length = len(outcomes[0].curve)
    top = _round_up(max(float(one.curve.max()) for one in outcomes))
    box = (CURVES_TOP, CURVES_BOTTOM)
    yield from _axes(box, x_top=length, y_top=top, x_label="k, papers in the list", x_from=1)
    for place, one in enumerate(outcomes):
        stroke = _stroke(place, one.kind)
        points = _points(box, np.arange(1, length + 1), one.curve, (1, max(length, 2)), top)
        label = f"{one.name}: recall at {comparison.k} is {_at(one, comparison.k):.3f}"
        yield f'<g class="curve"><title>{escape(label)}</title>'
        yield f'<polyline points="{points}" fill="none" {stroke}/></g>'
    in_order = sorted(enumerate(outcomes), key=lambda pair: -_at(pair[1], comparison.k))
    yield _text(LEGEND, CURVES_TOP + 4, f"recall@{comparison.k}", "small")
    for line, (place, one) in enumerate(in_order, start=1):
        y = CURVES_TOP + 4 + 22 * line
        yield (
            f'<line x1="{LEGEND}" y1="{y - 4}" x2="{LEGEND + 34}" y2="{y - 4}" '
            f"{_stroke(place, one.kind)}/>"
        )
        yield _text(LEGEND + 42, y, f"{_at(one, comparison.k):.3f}  {one.name}")


def _stroke(place: int, kind: Kind) -> str:
    """The blend has a colour and a thick line of its own."""
    if kind == "blend":
        return f'stroke="{BLEND_COLOUR}" stroke-width="{WIDTHS[kind]}"'
    dash = DASHES[(place // len(COLOURS) + place) % len(DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{COLOURS[place % len(COLOURS)]}" stroke-width="{WIDTHS[kind]}"{dashes}'


def _reliability(calibration: Calibration | None) -> Iterator[str]:
    if calibration is None:
        yield _text(LEFT, 500, f"Fewer than {LEAST_PEOPLE} people were judged: too few to tell.")
        return
    box = (SQUARE_TOP, SQUARE_BOTTOM)
    top = _round_up(float(max(calibration.predicted.max(), calibration.observed.max())))
    yield from _axes(
        box, x_top=top, y_top=top, x_label="predicted save rate", y_label="observed save rate"
    )
    corner = np.array([0, top], np.float32)
    yield f'<polyline class="even" points="{_points(box, corner, corner, (0, top), top)}"/>'
    for predicted, observed, n in zip(
        calibration.predicted, calibration.observed, calibration.n_papers, strict=True
    ):
        x, y = _place(box, float(predicted), float(observed), (0, top), top)
        label = f"{n} papers: {predicted:.4f} predicted, {observed:.4f} observed"
        yield f'<circle cx="{x}" cy="{y}" r="5" fill="{BLEND_COLOUR}">'
        yield f"<title>{escape(label)}</title></circle>"
    yield from _caption(calibration)


def _caption(calibration: Calibration) -> Iterator[str]:
    lines = (
        "A score is no probability. Isotonic",
        "regression made it one on a random",
        f"half of the people ({calibration.n_fitted:,}). The dots are",
        f"the others ({calibration.n_people:,}): the papers at the",
        "top of their lists, in ten groups by",
        "score, and the share they saved.",
        "On the dashed line all is as predicted.",
        f"Mean distance from it: {calibration.error:.4f}",
    )
    for line, text in enumerate(lines):
        yield _text(LEGEND, SQUARE_TOP + 4 + 20 * line, text, "small")


def _axes(
    box: tuple[int, int],
    *,
    x_top: float,
    y_top: float,
    x_label: str,
    y_label: str = "",
    x_from: float = 0,
) -> Iterator[str]:
    top, bottom = box
    for share in np.linspace(0, 1, 5):
        y = round(bottom - share * (bottom - top), 1)
        yield f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{RIGHT}" y2="{y}"/>'
        yield _text(LEFT - 8, y + 4, _number(share * y_top), "small", anchor="end")
    for value in _ticks(x_from, x_top):
        x, _ = _place(box, value, 0, (x_from, max(x_top, 2 * x_from)), 1)
        yield f'<line class="axis" x1="{x}" y1="{bottom}" x2="{x}" y2="{bottom + 5}"/>'
        yield _text(x, bottom + 20, _number(value), "small", anchor="middle")
    yield f'<polyline class="axis" points="{LEFT},{top} {LEFT},{bottom} {RIGHT},{bottom}"/>'
    yield _text((LEFT + RIGHT) / 2, bottom + 40, x_label, "small", anchor="middle")
    if y_label:
        yield _text(LEFT, top - 8, y_label, "small")


def _ticks(start: float, end: float) -> list[float]:
    if start == 0:
        return [float(share * end) for share in np.linspace(0, 1, 5)]
    inner = {float(round(share * end)) for share in (0.2, 0.4, 0.6, 0.8, 1)}
    return sorted({float(start), *(value for value in inner if value >= start)})


def _points(
    box: tuple[int, int],
    xs: FloatArray | np.typing.NDArray[np.int64],
    ys: FloatArray,
    x_range: tuple[float, float],
    y_top: float,
) -> str:
    places = (_place(box, float(x), float(y), x_range, y_top) for x, y in zip(xs, ys, strict=True))
    return " ".join(f"{x},{y}" for x, y in places)


def _place(
    box: tuple[int, int], x: float, y: float, x_range: tuple[float, float], y_top: float
) -> tuple[float, float]:
    top, bottom = box
    across = (x - x_range[0]) / (x_range[1] - x_range[0])
    return round(LEFT + across * (RIGHT - LEFT), 1), round(bottom - y / y_top * (bottom - top), 1)


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 6, 8 times a power of ten, so that a quarter of it is a short number."""
    if value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value - 1e-9))


def _number(value: float) -> str:
    return f"{value:.4g}"


def _text(x: float, y: float, words: str, style: str = "", *, anchor: str = "start") -> str:
    of_class = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{of_class}>{escape(words)}</text>'
