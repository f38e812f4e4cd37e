"""Draws docs/answer.svg, the picture in the README, from the answer of a running service.

TOKEN=… python docs/picture.py http://127.0.0.1:8000 docs/answer.svg
"""

import io
import json
import os
import sys
import urllib.request
from pathlib import Path

from rich import box, terminal_theme
from rich.console import Console
from rich.table import Table

WIDTH = 100
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" \
xmlns="http://www.w3.org/2000/svg" role="img" \
aria-label="Five recommended papers with scores and reasons">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; \
font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" \
height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
"""rich's own template loads a font from another host; a README must not."""


def main() -> None:
    server, out = sys.argv[1], Path(sys.argv[2])
    request = urllib.request.Request(
        f"{server}/api/v1/recommendations?limit=5&list_name=NeurIPS%202026%20Accepted%20Papers",
        headers={"Authorization": f"Bearer {os.environ['TOKEN']}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answered:
        answer = json.load(answered)
    table = Table("", "paper", "score", "why", box=box.SIMPLE_HEAD, pad_edge=False)
    for item in answer["items"]:
        table.add_row(
            str(item["rank"]),
            f"{item['paper']['display_title']} ({item['paper']['venue']} {item['paper']['year']})",
            f"{item['score']:.2f}",
            item["because"][0]["text"],
        )
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    console.print(table)
    model = answer["model"]
    console.print(
        f" model of {model['model_trained_at'][:16]}Z, stale: {model['stale']}", style="dim"
    )
    svg = console.export_svg(
        title="GET /api/v1/recommendations", theme=terminal_theme.DIMMED_MONOKAI, code_format=SVG
    )
    out.write_text(svg)


if __name__ == "__main__":
    main()
