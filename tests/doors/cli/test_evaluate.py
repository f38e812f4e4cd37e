"""``papershelf evaluate``: on files, on an installation, and what it says of bad input."""

import gzip
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from models.config import Config
from models.evaluation.baselines import BASELINES
from models.ranking.blend import PARTS
from service.cli.main import cli
from service.recommend.evaluation_records import Figures, Inputs
from service.runtime import Runtime
from tests.factories import NOW, make_person
from tests.service.recommend.shelf import GROUPS, Reader, add_listing

EVAL = Path(__file__).resolve().parents[4] / "shared" / "eval"
EVERYTHING = [*BASELINES, *PARTS, "blend"]
TOPICS = ("tides in estuaries", "parsers of treebanks", "lithium batteries")


class Bench:
    """A folder with files of reading lists, and the command on them.

    There is no installation: files need none.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("PAPERSHELF_DATA", str(folder / "nowhere"))
        monkeypatch.setenv("DATABASE_URL", "nonsense")

    def write(self, name: str, lines: Iterable[str]) -> Path:
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    def run(self, *words: object) -> Result:
        return CliRunner().invoke(cli, ["evaluate", *map(str, words)])

    def measured(self, *words: object) -> dict[str, Any]:
        result = self.run(*words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def fails(self, *words: object) -> str:
        result = self.run(*words)
        assert result.exit_code == 1, result.output
        assert isinstance(result.exception, SystemExit)
        assert "Traceback" not in result.output
        assert result.stdout == ""
        return next(x for x in result.stderr.splitlines() if x.startswith("papershelf: "))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def reader(person: int, n: int = 6) -> list[tuple[str, str]]:
    """A person of one of three circles, with ``n`` of the ten papers of theirs."""
    own = np.random.default_rng(person).permutation(10)[:n]
    return [(f"u{person}", f"p{person % 3}-{paper}") for paper in own]


def readers(n: int = 30) -> list[str]:
    return [f"{person}\t{paper}" for number in range(n) for person, paper in reader(number)]


def documents(*more: str) -> list[str]:
    papers = [(f"p{circle}-{n}", TOPICS[circle]) for circle in range(3) for n in range(10)]
    texts = [{"id": paper, "text": f"On {topic}, {paper}"} for paper, topic in papers]
    return [json.dumps(text) for text in texts] + [json.dumps({"id": p, "text": ""}) for p in more]


def recall(found: dict[str, Any], name: str) -> float:
    return {one["name"]: one["recall"]["mean"] for one in found["results"]}[name]


# ---- On files -----------------------------------------------------------------------------------


def test_reading_lists_alone_are_split_at_random_and_compared(bench: Bench):
    users = bench.write("users.tsv", readers())
    found = bench.measured("--interactions", users, "--k", 4, "--seed", 7)
    assert list(found) == ["inputs", "results", "calibration", "notes"]
    assert list(found["inputs"]) == [field.name for field in fields(Inputs)]
    assert [one["name"] for one in found["results"]] == EVERYTHING
    for one in found["results"]:
        assert list(one) == [field.name for field in fields(Figures)]
        assert one["recall"]["low"] <= one["recall"]["mean"] <= one["recall"]["high"]
        assert one["diversity"] is None, "no paper has words"
        assert one["name"] == "prior" or one["fit_s"] >= 0, "the prior is counted, not fitted"
    assert recall(found, "blend") > 0.5 > 3 * 4 / 30
    inputs = found["inputs"]
    assert (inputs["source"], inputs["split"]) == ("files", "random")
    assert (inputs["people"], inputs["papers"], inputs["papers_with_text"]) == (30, 30, 0)
    assert (inputs["interactions"], inputs["rows_to_find"]) == (150, 30)
    assert (inputs["judged_people"], inputs["k"], inputs["seed"]) == (30, 4, 7)
    assert inputs["config"]["factors"] == Config().factors
    assert "no row has a time" in found["notes"][0]
    assert sum(one["papers"] for one in found["calibration"]["bins"]) == 15 * 25


def test_rows_with_times_are_split_by_time(bench: Bench):
    timed = [
        f"u{person}\tp{paper}\t\t2026-05-{day:02}T00:00:00Z"
        for person in range(4)
        for day, paper in enumerate((person, person + 1, 7, 8, 9), start=1)
    ]
    found = bench.measured("--interactions", bench.write("users.tsv", timed), "--k", 1)
    assert found["inputs"]["split"] == "time"
    assert found["inputs"]["rows_to_find"] == 4
    assert found["inputs"]["papers"] == 8
    assert "p9" not in "".join(timed[:4])
    assert recall(found, "popularity") == 0, "the newest paper of everybody is in no training"
    some = [*timed, "u0\tp5"]
    mixed = bench.measured("--interactions", bench.write("users.tsv", some), "--k", 1)
    assert mixed["inputs"]["split"] == "random"
    assert "1 row has no time" in mixed["notes"][0]


def test_a_holdout_is_looked_for_and_what_cannot_be_found_is_told(bench: Bench):
    users = bench.write("users.tsv", readers())
    missing = {number: reader(number, 7)[6] for number in range(30)}
    held_out = [f"{person}\t{paper}" for person, paper in missing.values()]
    known = "\t".join(reader(0)[0])
    holdout = bench.write("holdout.tsv", [*held_out, known, "stranger\tp0-1", "u1\tp2-2\t-1"])
    found = bench.measured("--interactions", users, "--holdout", holdout, "--k", 4)
    inputs = found["inputs"]
    assert (inputs["split"], inputs["rows_to_find"], inputs["people"]) == ("holdout", 30, 30)
    assert (inputs["skipped_unknown_people"], inputs["rows_known_already"]) == (1, 1)
    assert recall(found, "blend") > 0.9, "four unknown papers are left in each circle"
    assert any(note.startswith("1 person is skipped") for note in found["notes"])


def test_cold_papers_are_found_by_their_words(bench: Bench):
    cold = [f"new{circle}-{n}" for circle in range(3) for n in range(4)]
    texts = [json.dumps({"id": paper, "text": TOPICS[int(paper[3])]}) for paper in cold]
    users = bench.write("users.tsv", readers())
    holdout = [f"u{person}\tnew{person % 3}-{n}" for person in range(30) for n in range(4)]
    found = bench.measured(
        *["--interactions", users, "--holdout", bench.write("holdout.tsv", holdout)],
        *["--documents", bench.write("docs.jsonl", [*documents(), *texts])],
        *["--candidates", bench.write("ids.txt", [*cold, cold[0]]), "--k", 4],
    )
    assert found["inputs"]["candidates"] == 12
    assert recall(found, "content") == recall(found, "TF-IDF profile") == 1
    assert recall(found, "blend") == 1
    assert recall(found, "popularity") < 0.6, "nobody has any of them"


def test_people_whom_training_never_saw_are_folded_in(bench: Bench):
    new = {f"n{number}": reader(number, 10) for number in range(9)}
    fold_in = [f"{name}\t{paper}" for name, own in new.items() for _, paper in own[:2]]
    holdout = [f"{name}\t{paper}" for name, own in new.items() for _, paper in own[2:]]
    arguments = [
        *["--interactions", bench.write("users.tsv", readers())],
        *["--holdout", bench.write("holdout.tsv", holdout), "--k", 8],
    ]
    found = bench.measured(*arguments, "--fold-in", bench.write("new.tsv", fold_in))
    inputs = found["inputs"]
    assert (inputs["people"], inputs["judged_people"], inputs["folded_in_people"]) == (30, 9, 9)
    by_chance = 8 / 28
    assert recall(found, "neighbours") == 1, "two papers give the circle away"
    # The factors, regularised for thousands of people, remember the lists of 30; and in the blend,
    # whose weights were learned from thousands too, they have the most to say.
    assert recall(found, "blend") >= recall(found, "collaborative") > 2 * by_chance
    assert recall(found, "popularity") < 1.1 * by_chance, "of no help to a circle"
    also = bench.write("new.tsv", [*fold_in, "u0\tp0-0"])
    assert "1 of the people to be folded in is in the interactions" in "".join(
        bench.measured(*arguments, "--fold-in", also)["notes"]
    )


def test_a_value_is_a_save_unless_it_is_not_above_zero(bench: Bench):
    rows = [*readers(), "u0\tp1-0\t-1", "u0\tp1-1\t0", "u0\tp1-2\t0.5"]
    users = bench.write("users.tsv", rows)
    holdout = bench.write("holdout.tsv", ["u0\tp2-0\t17", "u0\tp2-1\t0"])
    found = bench.measured("--interactions", users, "--holdout", holdout)
    assert found["inputs"]["rows_to_find"] == 1, "what is disliked is not to be found"
    stars = bench.write("stars.tsv", [*readers(), "u0\tp1-0\t1"])
    wanted = bench.write("wanted.tsv", ["u0\tp2-0\t2", "u0\tp2-1\t4"])
    rated = bench.measured("--interactions", stars, "--holdout", wanted, "--ratings")
    assert rated["inputs"]["rows_to_find"] == 1, "two stars are a dislike"


def test_the_table_names_all_and_the_plot_is_drawn(bench: Bench):
    users, plot = bench.write("users.tsv", readers()), bench.folder / "curves.svg"
    docs = bench.write("docs.jsonl", documents("p9"))
    plot.write_text("the old one")
    result = bench.run("--interactions", users, "--documents", docs, "--plot", plot, "--k", 5)
    assert result.exit_code == 0, result.output
    assert "30 people judged, 31 papers ranked" in result.stdout
    assert "recall@5 (95 %)" in result.stdout
    rows = [line.split("  ")[0].strip() for line in result.stdout.splitlines()]
    assert [row for row in rows if row in EVERYTHING] == EVERYTHING
    root = ET.fromstring(plot.read_text("utf-8"))
    curves = root.findall("{http://www.w3.org/2000/svg}g[@class='curve']")
    assert len(curves) == len(EVERYTHING)
    assert {path.name for path in bench.folder.iterdir()} == {"users.tsv", "docs.jsonl", plot.name}


def test_json_is_all_that_is_printed_and_progress_is_told_beside_it(bench: Bench):
    result = bench.run("--interactions", bench.write("users.tsv", readers()), "--json")
    assert json.loads(result.stdout)
    assert "Evaluating" in result.stderr


# ---- Bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "name", "lines", "told"),
    [
        ("--interactions", "users.tsv", ["u1\tp1", "u2"], "users.tsv, line 2: 1 column"),
        ("--interactions", "users.tsv", [], "users.tsv: There is no row"),
        ("--holdout", "out.tsv", ["u1\tp1\t\tnever"], "out.tsv, line 1: The time 'never'"),
        ("--fold-in", "new.tsv", ["n1\t"], "new.tsv, line 1: The paper is empty"),
        ("--documents", "docs.jsonl", ["{}"], "docs.jsonl, line 1: There is no id"),
        ("--candidates", "ids.txt", ["p0-1", "p77"], "ids.txt, line 2: The candidate 'p77'"),
    ],
)
def test_bad_input_is_named_by_file_and_line(
    bench: Bench, option: str, name: str, lines: list[str], told: str
):
    given = {
        "--interactions": bench.write("users.tsv", readers()),
        "--holdout": bench.write("out.tsv", ["u1\tp1-1"]),
        "--documents": bench.write("docs.jsonl", documents()),
    }
    given[option] = bench.write(name, lines)
    words = [word for pair in given.items() for word in pair]
    plot = bench.folder / "plot.svg"
    assert told in bench.fails(*words, "--plot", plot)
    assert not plot.exists()


def test_nobody_to_judge_is_told_with_the_reason(bench: Bench):
    short = bench.write("users.tsv", ["u1\tp1", "u1\tp2", "u2\tp1"])
    assert "Nobody has 3 or more liked papers" in bench.fails("--interactions", short)
    holdout = bench.write("out.tsv", ["u9\tp1"])
    said = bench.fails("--interactions", short, "--holdout", holdout)
    assert "nothing they like is in the interactions" in said


def test_candidates_that_are_in_no_other_file_are_named(bench: Bench):
    users = bench.write("users.tsv", readers())
    unknown = bench.write("ids.txt", ["p77", "p78"])
    said = bench.fails("--interactions", users, "--candidates", unknown)
    assert "None of the 2 ids in ids.txt is in another file" in said
    known = bench.write("ids.txt", ["p77", "p0-1", "p1-1", "p2-1", "p0-2", "p1-2", "p2-2"])
    found = bench.measured("--interactions", users, "--candidates", known)
    assert found["inputs"]["candidates"] == 7


def test_figures_of_few_people_come_with_a_warning(bench: Bench):
    one = bench.write("five.tsv", [f"u1\tp{number}" for number in range(5)])
    warning = "Only 1 person was judged: the figures say little."
    assert warning in bench.measured("--interactions", one)["notes"]
    said = bench.run("--interactions", one).stdout
    assert warning in said
    assert "interactions of 1 person; 1 person judged" in said
    few, enough = (bench.write(f"{n}.tsv", readers(n)) for n in (19, 20))
    assert "Only 19 people were judged" in bench.measured("--interactions", few)["notes"][-1]
    assert "judged" not in "".join(bench.measured("--interactions", enough)["notes"])


def test_files_go_with_interactions(bench: Bench):
    users = bench.write("users.tsv", readers())
    for words, told in (
        (["--holdout", users], "Files go with --interactions"),
        (["--interactions", users, "--fold-in", users], "--fold-in goes with --holdout"),
        (["--interactions", bench.folder / "none.tsv"], "none.tsv"),
        (["--interactions", users, "--k", 0], "--k"),
    ):
        result = bench.run(*words)
        assert result.exit_code == 2
        assert told in result.stderr


def test_a_plot_that_cannot_be_written_is_refused_before_the_work(bench: Bench):
    users = bench.write("users.tsv", readers())
    nowhere = bench.folder / "no" / "plot.svg"
    assert "make it first" in bench.fails("--interactions", users, "--plot", nowhere)
    assert "is no file" in bench.fails("--interactions", users, "--plot", bench.folder)
    picture = bench.folder / "plot.png"
    assert "does not end in .svg" in bench.fails("--interactions", users, "--plot", picture)


# ---- On an installation -------------------------------------------------------------------------


@pytest.fixture
def here(runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    url = runtime.settings.database_url.render_as_string(hide_password=False)
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setenv("PAPERSHELF_DATA", str(runtime.settings.data_folder))
    return bench


def test_an_installation_is_measured_by_its_latest_papers(runtime: Runtime, here: Bench):
    groups = list(add_listing(runtime).items())
    for number in range(6):
        own = Reader(runtime, make_person(runtime, f"r{number}"))
        for day, paper in enumerate(groups[number % len(GROUPS)][1]):
            own.save(paper, now=NOW + timedelta(days=day))
    found = here.measured("--k", 2, "--plot", here.folder / "own.svg")
    inputs = found["inputs"]
    assert (inputs["source"], inputs["split"]) == ("installation", "time")
    assert (inputs["people"], inputs["judged_people"]) == (6, 6)
    assert (inputs["interactions"], inputs["rows_to_find"]) == (12, 6)
    assert inputs["papers"] == inputs["papers_with_text"] == 13
    assert [one["name"] for one in found["results"]] == EVERYTHING
    assert recall(found, "blend") == 1, "the last of each group is like its others"
    assert (here.folder / "own.svg").exists()
    assert runtime.live_model.registry.current() is None, "nothing is published"


def test_too_little_is_told_with_what_it_takes(runtime: Runtime, here: Bench):
    assert "no people have 3 or more liked papers" in here.fails()
    groups = add_listing(runtime)
    Reader(runtime, make_person(runtime, "only")).save(*groups["tides"])
    said = here.fails("--json")
    assert "1 person has 3 or more liked papers, and it takes 5 people" in said
    assert "--interactions" in said


# ---- Real reading lists -------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.skipif(not EVAL.is_dir(), reason="the reading lists are not beside the checkout")
def test_on_real_reading_lists_the_blend_beats_popularity(bench: Bench):
    lists = read_lists(150)
    papers = {paper for own in lists for paper in own}
    rows = [f"u{number}\t{paper}" for number, own in enumerate(lists) for paper in own]
    found = bench.measured(
        *["--interactions", bench.write("users.tsv", rows)],
        *["--documents", bench.write("docs.jsonl", real_documents(papers))],
    )
    by_name = {one["name"]: one for one in found["results"]}
    assert found["inputs"]["judged_people"] == 150
    assert by_name["blend"]["ndcg"]["low"] > by_name["popularity"]["ndcg"]["high"]
    assert by_name["blend"]["ndcg"]["mean"] > by_name["TF-IDF profile"]["ndcg"]["mean"]


def read_lists(n: int) -> list[list[int]]:
    with gzip.open(EVAL / "citeulike-t" / "users.dat.gz", "rt") as lines:
        lists = [list(map(int, line.split()[1:])) for line in lines]
    return [own for own in lists if 10 <= len(own) <= 30][:n]


def real_documents(papers: set[int]) -> Iterable[str]:
    folder = EVAL / "citeulike-t"
    with gzip.open(folder / "vocabulary.dat.gz", "rt", encoding="utf-8") as lines:
        names = [line.strip() for line in lines]
    with gzip.open(folder / "mult.dat.gz", "rt") as lines:
        for paper, line in enumerate(lines):
            if paper in papers:
                counts = (pair.split(":") for pair in line.split()[1:])
                words = [name for word, n in counts for name in [names[int(word)]] * int(n)]
                yield json.dumps({"id": str(paper), "text": " ".join(words)})
