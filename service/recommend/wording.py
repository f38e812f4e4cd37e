"""Explanations in sentences: numbers in, English out."""

from collections.abc import Sequence

from service.recommend.records import Deed, PaperExplanation, Reason, Standing

PARTS = {
    "collaborative": "what people and words like yours go with",
    "similarity": "what people and words put together with your papers",
    "neighbours": "the libraries that hold both it and yours",
    "content": "the words it shares with your papers",
    "prior": "how many people keep it",
    "recency": "how recent it is",
    "centrality": "how central it is to the catalogue",
    "freshness": "the freshness that you asked for",
}
"""What the parts are to a reader; one that is not here goes by its name."""

LEFT_OUT = {
    Standing.IN_LIBRARY: "It is in your library",
    Standing.DISMISSED: "You dismissed it",
    Standing.LOW_QUALITY: "You called it low quality",
    Standing.MORE_LIKE_THIS: "You asked for more like it",
    Standing.SEEN: "You said that you have seen it",
    Standing.LATER: "You put it aside for later",
    Standing.RATED: "You rated it",
    Standing.MUTED: "It belongs to an interest that you muted",
    Standing.OPENED: "You opened it",
    Standing.SEED: "You named it as a seed",
    Standing.NOT_ASKED_FOR: "It is not among the papers asked for",
}
DONE = {
    Deed.NAMED: "named {}",
    Deed.FINISHED: "finished {}",
    Deed.SAVED: "saved {}",
    Deed.MORE_LIKE_THIS: "asked for more like {}",
    Deed.DISMISSED: "dismissed {}",
    Deed.LOW_QUALITY: "called {} low quality",
    Deed.OPENED: "opened {}",
}
AGAINST = (Deed.DISMISSED, Deed.LOW_QUALITY)
WORST_STARS = 2
"""Up to here a rating speaks against a paper."""
MOST_NAMED = 3
SMALLEST_NAMED = 0.005
"""Of the score's own size, two decimals: less would read as 0.00."""


def sentence_of(reason: Reason, *, is_itself: bool, rank: int | None) -> str:
    """A reason in a sentence, and in a second one what would be without it.

    ``is_itself``: the paper is its own reason. ``rank``: where it stands as things are.
    """
    title = "this very paper" if is_itself else f"“{reason.paper.display_title}”"
    clauses = [_opening(reason, title, rank)]
    if reason.terms and not is_itself:
        clauses.append(f"both speak of {_listed(reason.terms)}")
    if reason.readers is not None:
        clauses.append(f"{reason.readers} readers who saved it also saved this")
    sentences = ["; ".join(clauses) + "."]
    if rank is not None and reason.rank_without is not None:
        what = "that paper" if reason.is_liked else "your dislike"
        sentences.append(_without(what, rank, reason.rank_without))
    return " ".join(sentences)


def in_a_paragraph(explanation: PaperExplanation) -> str:
    """The explanation in a paragraph."""
    sentences = [_place(explanation), _made_of(explanation)]
    likes = [reason for reason in explanation.papers if reason.amount >= SMALLEST_NAMED]
    against = [reason for reason in explanation.papers if reason.amount <= -SMALLEST_NAMED]
    if likes:
        sentences.append(f"Most for it: {_named(likes)}.")
    if against:
        sentences.append(f"Most against it: {_named(against)}.")
    words = [word.term for word in explanation.terms if word.amount >= SMALLEST_NAMED]
    if words:
        sentences.append(f"The words that speak for it most: {', '.join(words[:MOST_NAMED])}.")
    return " ".join(sentences)


def _opening(reason: Reason, title: str, rank: int | None) -> str:
    done = _done(reason, title)
    if not reason.is_liked:
        return f"Against it: {done}"
    if reason.amount > 0 and _is_better_without(reason, rank):
        return f"That {done} lifts other papers more than this one"
    if reason.amount > 0:
        return f"Because {done}"
    if reason.amount > -SMALLEST_NAMED:
        return f"That {done} adds nothing here"
    return f"Although {done}, that speaks against it"


def _is_better_without(reason: Reason, rank: int | None) -> bool:
    return rank is not None and reason.rank_without is not None and reason.rank_without < rank


def _done(reason: Reason, title: str) -> str:
    deed = _telling(reason)
    if deed is Deed.RATED:
        return f"you rated {title} {reason.stars} star{'' if reason.stars == 1 else 's'}"
    return f"you {(DONE[deed] if deed else 'know {}').format(title)}"


def _telling(reason: Reason) -> Deed | None:
    """The deed that explains the sign: a paper saved and then dismissed is a dismissed one."""
    if not reason.is_liked and (reason.stars is None or reason.stars > WORST_STARS):
        return next((deed for deed in AGAINST if deed in reason.deeds), Deed.DISMISSED)
    return next((deed for deed in reason.deeds if deed not in AGAINST), None)


def _without(what: str, rank: int, rank_without: int) -> str:
    if rank == rank_without:
        return f"Without {what} it would still rank {rank}."
    return f"Without {what} it would rank {rank_without} instead of {rank}."


def _place(explanation: PaperExplanation) -> str:
    if explanation.rank is None:
        why = LEFT_OUT[explanation.standing]
        return f"{why}, so no list recommends it; its score would be {_number(explanation.score)}."
    return (
        f"It ranks {explanation.rank} of {explanation.n_candidates} papers that you do not know "
        f"yet, by a score of {_number(explanation.score)}, before lists are made varied."
    )


def _made_of(explanation: PaperExplanation) -> str:
    parts = sorted(explanation.parts, key=lambda part: -part.amount)
    told = [
        f"{PARTS.get(part.name, part.name)} ({part.amount:.2f})"
        for part in parts
        if abs(part.amount) >= SMALLEST_NAMED
    ]
    if explanation.strategy == "cold_start":
        begin = "Nothing that you like says anything of it yet, so the score comes from"
    else:
        begin = "The score comes from"
    if told:
        return f"{begin} {_listed(told)}."
    if explanation.standing is Standing.MUTED:
        return "None of your papers outside of that interest says anything of it."
    return "Nothing that counts speaks for it or against it."


def _number(amount: float) -> str:
    """With two decimals, and never as -0.00."""
    return f"{round(amount, 2) + 0.0:.2f}"


def _named(reasons: Sequence[Reason]) -> str:
    return _listed(
        [
            f"{_done(reason, f'“{reason.paper.display_title}”')} ({reason.amount:.2f})"
            for reason in reasons[:MOST_NAMED]
        ]
    )


def _listed(things: Sequence[str]) -> str:
    if len(things) < 2:
        return "".join(things)
    return f"{', '.join(things[:-1])} and {things[-1]}"
