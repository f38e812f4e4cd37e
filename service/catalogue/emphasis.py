"""Markdown's stars and underscores: which of them begin and end emphasis, and which are text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.catalogue.markup_nodes import Node, Styled, Text

MAX_WAITING: Final = 10
"""Marks of one kind that may wait for a partner; it bounds how deep emphasis nests."""


@dataclass(slots=True)
class Mark:
    """A run of ``*`` or ``__`` that may begin or end emphasis."""

    text: str
    before: str
    after: str


def emphasised(items: Sequence[Node | Mark]) -> tuple[Node, ...]:
    """Pair the marks of one level; what finds no partner is text again."""
    out: list[Node | Mark] = []
    openers: dict[str, list[int]] = {}
    for item in _joined(items):
        if not isinstance(item, Mark) or item.text not in {"*", "**", "***", "__"}:
            out.append(Text(item.text) if isinstance(item, Mark) else item)
            continue
        waiting = openers.setdefault(item.text, [])
        begin = waiting[-1] if waiting else None
        if begin is not None and _closes(out, begin, item):
            children = _unmarked(out[begin + 1 :])
            del out[begin:]
            for positions in openers.values():
                while positions and positions[-1] >= begin:
                    positions.pop()
            out.append(_with_style(item.text, children))
        else:
            if item.after.strip() and (item.text[0] == "*" or not item.before.isalnum()):
                waiting.append(len(out))
                del waiting[:-MAX_WAITING]
            out.append(item)
    return _unmarked(out)


def _joined(items: Sequence[Node | Mark]) -> Iterator[Node | Mark]:
    """The items with neighbouring texts made one, so that a level hands few of them up."""
    pieces: list[str] = []
    for item in items:
        if isinstance(item, Text):
            pieces.append(item.text)
            continue
        if pieces:
            yield Text("".join(pieces))
            pieces.clear()
        yield item
    if pieces:
        yield Text("".join(pieces))


def _closes(out: Sequence[Node | Mark], begin: int, closer: Mark) -> bool:
    """Whether the mark ends the emphasis begun there, and is no multiplication or footnote."""
    opener = out[begin]
    if not isinstance(opener, Mark) or not closer.before.strip() or begin + 1 == len(out):
        return False
    is_inside_word = opener.before.isalnum() or closer.after.isalnum()
    if not is_inside_word:
        return True
    if len(closer.text) == 1 or closer.text == "__" or begin + 2 != len(out):
        return False
    inside = out[begin + 1]
    return isinstance(inside, Text) and inside.text.isalpha()


def _with_style(mark: str, children: tuple[Node, ...]) -> Node:
    if mark == "***":
        return Styled("strong", (Styled("em", children),))
    return Styled("em" if mark == "*" else "strong", children)


def _unmarked(items: Sequence[Node | Mark]) -> tuple[Node, ...]:
    return tuple(Text(item.text) if isinstance(item, Mark) else item for item in items)
