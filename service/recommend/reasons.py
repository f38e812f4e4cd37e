"""From shares of a score to reasons: what the person did, the words in common, the readers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy.orm import Session

from models import IntArray
from models.content.analyzer import surface_forms, terms_of
from models.feedback import History
from models.ranking.scoring import NO_IDS
from service.recommend.dataset import texts_of
from service.recommend.readers import Pair, readers_of_both
from service.recommend.records import Deed, Reason, WordOfScore
from service.recommend.wording import sentence_of
from service.tables import Paper

MOST_WORDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """``amount`` of the score of a work is owed to ``own``, a work of the person's.

    ``terms`` are the model's, shared by both, the weightiest first.
    """

    work: int
    own: int
    amount: float
    terms: Sequence[str]
    is_liked: bool = True
    rank: int | None = None
    rank_without: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deeds:
    """What a person did with one work."""

    those: tuple[Deed, ...] = ()
    stars: int | None = None


def reasons_of(
    session: Session,
    user_id: int,
    shares: Iterable[Share],
    papers: Mapping[int, Paper],
    deeds: Mapping[int, Deeds],
) -> dict[int, list[Reason]]:
    """The shares as reasons, by work and in their order; two queries for all of them.

    ``papers`` has the one to show for each work; a share of one that is not there is left out.
    """
    shares = [share for share in shares if share.own in papers]
    works, own = {share.work for share in shares}, {share.own for share in shares}
    texts = texts_of(session, works | own)
    pairs = [(share.work, share.own) for share in shares]
    readers = readers_of_both(session, pairs, but=user_id)
    reasons: dict[int, list[Reason]] = {}
    for share in shares:
        words = words_in_common(share.terms, texts.get(share.work, ""), texts.get(share.own, ""))
        done = deeds.get(share.own, Deeds())
        reason = _reason(share, papers[share.own], done, words, readers)
        reasons.setdefault(share.work, []).append(reason)
    return reasons


def _reason(
    share: Share, paper: Paper, done: Deeds, words: tuple[str, ...], readers: Mapping[Pair, int]
) -> Reason:
    reason = Reason(
        paper=paper,
        amount=share.amount,
        deeds=done.those,
        stars=done.stars,
        is_liked=share.is_liked,
        terms=words,
        readers=readers.get((share.work, share.own)),
        rank_without=share.rank_without,
    )
    text = sentence_of(reason, is_itself=share.own == share.work, rank=share.rank)
    return replace(reason, text=text)


def deeds_of(history: History, *, named: IntArray = NO_IDS) -> dict[int, Deeds]:
    """What the person did, by work, what says most first; ``named`` are seeds of the request."""
    stars = dict(zip(history.item_ids.tolist(), history.ratings.tolist(), strict=True))
    done = {
        Deed.RATED: history.ratings > 0,
        Deed.FINISHED: history.finished,
        Deed.SAVED: history.saved,
        Deed.MORE_LIKE_THIS: history.more_like_this,
        Deed.DISMISSED: history.dismissed,
        Deed.LOW_QUALITY: history.low_quality,
        Deed.OPENED: history.opens > 0,
    }
    those: dict[int, list[Deed]] = {work: [Deed.NAMED] for work in named.tolist()}
    for deed, rows in done.items():
        for work in history.item_ids[np.flatnonzero(rows)].tolist():
            those.setdefault(work, []).append(deed)
    return {
        work: Deeds(those=tuple(deeds), stars=stars.get(work) or None)
        for work, deeds in those.items()
    }


def words_in_common(terms: Sequence[str], *texts: str) -> tuple[str, ...]:
    """At most MOST_WORDS of the terms, as they are written in the texts.

    A term that stands in none of them is left out: its stem is nothing to show. Of a compound and
    its parts only the compound is said: "low-rank" rather than "low-rank, rank, low".
    """
    written = surface_forms(*texts, terms=terms)
    chosen: list[str] = []
    for form in (written[term] for term in terms if term in written):
        parts = set(terms_of(form))
        if any(parts <= set(terms_of(other)) for other in chosen):
            continue
        places = [n for n, other in enumerate(chosen) if set(terms_of(other)) <= parts]
        # A compound stands where the first of its parts stood: it is as weighty.
        chosen.insert(places[0] if places else len(chosen), form)
        chosen = [other for other in chosen if other == form or not set(terms_of(other)) <= parts]
    return tuple(chosen[:MOST_WORDS])


def words_of(terms: Mapping[str, float], text: str) -> tuple[WordOfScore, ...]:
    """Terms with what they bring, the largest first, as the text writes them, a compound with its
    parts; a stem that stands nowhere in it is not shown."""
    written = surface_forms(text, terms=terms)
    named = [(term, amount) for term, amount in terms.items() if term in written and amount]
    return tuple(
        WordOfScore(term=written[term], amount=amount)
        for term, amount in with_compounds(named, text)
    )


def with_compounds(terms: Sequence[tuple[str, float]], text: str) -> list[tuple[str, float]]:
    """The terms (term, amount) of a text with what belongs together in one; the largest first.

    A term that stands in the text mostly as a part of a compound is counted with the compound that
    is met most, if that is among the terms: "low-rank" has what "low" and "rank" bring. A term that
    stands by itself more often stays.
    """
    amounts = dict(terms)
    counts = Counter(terms_of(text))
    wholes = {
        part: whole
        for whole, form in sorted(
            surface_forms(text, terms=amounts).items(), key=lambda pair: counts[pair[0]]
        )
        for part in set(terms_of(form)) - {whole}
        if counts[part] <= 2 * counts[whole]
    }
    # The shorter first, since a whole may be a part itself: "auto" of the "auto-encoder".
    for part in sorted(wholes.keys() & amounts.keys(), key=len):
        if wholes[part] in amounts:
            amounts[wholes[part]] += amounts.pop(part)
    return sorted(amounts.items(), key=lambda pair: -abs(pair[1]))
