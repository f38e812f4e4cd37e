"""Published models: verified, swapped in one step, and never half."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from models.artifacts import files, registry
from models.artifacts.manifest import BrokenGeneration
from models.artifacts.registry import Arms, Pinned, Registry, UnfitModel
from models.config import Config
from models.ranking.model import Model
from models.training import train
from tests.models.papers import (
    IDS,
    PAPERS,
    ask,
    history_of,
    ids_of,
    saved,
    small_model,
    training_set,
)

FILES = sorted([f"{name}.npy" for name in files.arrays_of(train(training_set([])))])
ALL_FILES = [*FILES, files.VOCABULARY, files.MANIFEST]


@pytest.fixture
def shelf(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "models")


def test_nothing_published(shelf):
    assert shelf.current() is None
    assert shelf.open_current() is None
    shelf.prune()


def test_a_model_comes_back_as_it_was(shelf, model):
    facts = {"trained_at": "2026-12-01T00:00:00Z", "high_water": 7, "metrics": {"ndcg": 0.5}}
    generation = shelf.publish(model, facts=facts)
    opened = shelf.open_current()
    assert opened is not None
    name, again, told = opened
    assert (name, told, shelf.current()) == (generation, facts, generation)
    assert again.config == model.config
    assert again.n_people == model.n_people
    assert ask(again, saved("moat")) == ask(model, saved("moat"))
    for key, array in files.arrays_of(model).items():
        np.testing.assert_array_equal(files.arrays_of(again)[key], array)


def test_an_opened_model_maps_its_files_and_can_grow(shelf, model):
    shelf.publish(model, facts={})
    again = shelf.open_current()[1]
    assert isinstance(again.factors.items.base, np.memmap)
    day = np.zeros(1, np.float32)
    grown = again.extend(np.array([9]), ["rewinds refusal layers of attacked models"], day, day)
    assert 9 in ids_of(ask(grown, saved("ebb"), 3))


def test_a_generation_without_title_keys_still_opens(shelf, model, monkeypatch):
    arrays = files.arrays_of(model)
    arrays.pop("title_keys")
    monkeypatch.setattr(files, "arrays_of", lambda _: arrays)
    shelf.publish(model, facts={})
    assert not shelf.open_current()[1].title_keys.any()


def test_a_generation_without_embeddings_still_recommends_and_grows(shelf, model, monkeypatch):
    arrays = files.arrays_of(model)
    for name in ("embeddings", "embedded_terms", "term_embeddings"):
        arrays.pop(name)
    monkeypatch.setattr(files, "arrays_of", lambda _: arrays)
    shelf.publish(model, facts={})
    day = np.zeros(1, np.float32)
    grown = shelf.open_current()[1].extend(np.array([9]), ["refusal layers"], day, day)
    assert grown.similarity.items.shape == (len(grown.items), 0)
    assert all(item.parts["similarity"] == 0 for item in ask(grown, saved("ebb"), 3).items)


def test_an_empty_model_can_be_published(shelf):
    shelf.publish(train(training_set([])), facts={})
    assert shelf.open_current()[1].item_ids.tolist() == []


def test_generations_count_up_and_only_the_last_ones_stay(shelf, model):
    names = [shelf.publish(model, facts={"n": n}) for n in range(5)]
    assert names == sorted(names)
    (shelf.root / ".staging-crashed").mkdir()
    shelf.prune(keep=2)
    assert (shelf.root / ".staging-crashed").exists(), "it may be another publisher's, at work"
    shelf.prune(keep=2, dead_after_s=0)
    kept = {path.name for path in shelf.root.iterdir()}
    assert kept == {*names[-2:], registry.CURRENT}


def test_pruning_spares_the_current_one(shelf, model):
    names = [shelf.publish(model, facts={"n": n}) for n in range(4)]
    (shelf.root / registry.CURRENT).write_text(names[0])
    shelf.prune(keep=1)
    assert {path.name for path in shelf.root.iterdir()} == {names[0], names[3], registry.CURRENT}


def spoiled(model: Model, what: str) -> Model:
    items = np.array(model.factors.items)
    if what == "nan":
        items[0, 0] = np.nan
    elif what == "inf":
        items[0, 0] = np.inf
    else:
        items = items[:-1]
    return replace(model, factors=replace(model.factors, items=items))


@pytest.mark.parametrize("what", ["nan", "inf", "shape"])
def test_a_broken_model_is_refused_and_the_last_one_stays(shelf, model, what):
    generation = shelf.publish(model, facts={})
    with pytest.raises(UnfitModel):
        shelf.publish(spoiled(model, what), facts={})
    assert shelf.current() == generation
    assert len(list(shelf.root.iterdir())) == 2


def floats_of(model: Model) -> dict[str, np.ndarray]:
    return {n: a for n, a in files.arrays_of(model).items() if a.dtype.kind == "f"}


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("name", sorted(floats_of(train(training_set([])))))
def test_a_number_that_is_none_is_refused_wherever_it_is(shelf, name, wrong):
    saved_by_two = history_of(*[IDS["moat"], IDS["ebb"]] * 2)
    model = train(
        training_set(list(PAPERS.values()), user_ids=np.array([1, 1, 2, 2]), history=saved_by_two)
    )
    array = floats_of(model)[name]
    array.flat[-1] = wrong
    if name == "published_year" and np.isnan(wrong):
        shelf.publish(model, facts={})  # a year may be unknown
        return
    with pytest.raises(UnfitModel, match=name):
        shelf.publish(model, facts={})


@pytest.mark.parametrize("part", ["people", "neighbours", "idf", "embeddings"])
def test_parts_that_do_not_fit_are_refused(shelf, model, part):
    broken = {
        "people": lambda: replace(model, people=model.people[:-1]),
        "neighbours": lambda: replace(model, neighbours=sp.csr_matrix((1, 1), dtype=np.float32)),
        "embeddings": lambda: replace(
            model, similarity=replace(model.similarity, items=model.similarity.items[:-1])
        ),
        "idf": lambda: replace(model, content=replace(model.content, idf=model.content.idf[:-1])),
    }
    with pytest.raises(UnfitModel):
        shelf.publish(broken[part](), facts={})


def test_facts_that_are_no_json_leave_nothing_behind(shelf, model):
    with pytest.raises(ValueError, match="JSON"):
        shelf.publish(model, facts={"x": float("nan")})
    assert list(shelf.root.iterdir()) == []


def flip(path: Path, rng: np.random.Generator) -> None:
    content = bytearray(path.read_bytes())
    content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)


def truncate(path: Path, rng: np.random.Generator) -> None:
    path.write_bytes(path.read_bytes()[: int(rng.integers(path.stat().st_size))])


def blank(path: Path, rng: np.random.Generator) -> None:
    content = bytearray(path.read_bytes())
    start = int(rng.integers(len(content)))
    length = min(64, len(content) - start)
    content[start : start + length] = bytes(b ^ 0xFF for b in content[start : start + length])
    path.write_bytes(content)


def remove(path: Path, _rng: np.random.Generator) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [flip, truncate, blank, remove])
@pytest.mark.parametrize("name", ALL_FILES)
def test_damage_to_any_file_is_seen_and_the_last_good_one_serves(shelf, model, name, damage):
    good = shelf.publish(model, facts={"n": 1})
    bad = shelf.publish(model, facts={"n": 2})
    rng = np.random.default_rng(0)
    path = shelf.root / bad / name
    whole = path.read_bytes()
    for _ in range(5):
        damage(path, rng)
        assert path.read_bytes() != whole if path.exists() else True
        opened = shelf.open_current()
        assert opened is not None
        assert opened[0] == good
        path.write_bytes(whole)
    assert shelf.open_current()[0] == bad


def test_when_all_are_damaged_there_is_none(shelf, model):
    for n in range(2):
        (shelf.root / shelf.publish(model, facts={"n": n}) / "gram.npy").write_bytes(b"")
    assert shelf.open_current() is None


@pytest.mark.parametrize(
    "content", [b"", b"000001-zz", b"\xff\xfe", b"../../etc", b"000009-" + b"0" * 16]
)
def test_a_damaged_pointer_falls_back_to_the_newest(shelf, model, content):
    newest = [shelf.publish(model, facts={"n": n}) for n in range(2)][-1]
    (shelf.root / registry.CURRENT).write_bytes(content)
    assert shelf.open_current()[0] == newest


class Stop(BaseException):
    """Stands for the end of the process."""


STEPS = ["write_model", "to_bytes", "write_bytes", "sync_folder"]


@pytest.mark.parametrize("cleanup", [True, False])
@pytest.mark.parametrize("nth", range(6))
def test_stopping_before_any_step_leaves_the_current_one_valid(
    shelf, model, monkeypatch, nth, cleanup
):
    good = shelf.publish(model, facts={"n": 1})
    calls = 0

    def counted(step):
        def run(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == nth + 1:
                raise Stop
            return step(*args, **kwargs)

        return run

    for name in STEPS:
        monkeypatch.setattr(registry, name, counted(getattr(registry, name)))
    if not cleanup:  # as kill -9 would have it
        monkeypatch.setattr(registry.shutil, "rmtree", lambda *_a, **_k: None)
    with pytest.raises(Stop):
        shelf.publish(model, facts={"n": 2})
    monkeypatch.undo()
    assert shelf.current() == good
    assert shelf.open_current()[0] == good
    after = shelf.publish(model, facts={"n": 3})
    assert shelf.open_current()[0] == after
    shelf.prune(keep=1, dead_after_s=0)
    assert {path.name for path in shelf.root.iterdir()} == {after, registry.CURRENT}


@pytest.mark.parametrize("step", ["rename", "replace"])
def test_stopping_before_a_rename_leaves_the_current_one_valid(shelf, model, monkeypatch, step):
    good = shelf.publish(model, facts={"n": 1})

    def stop(*_args):
        raise Stop

    monkeypatch.setattr(Path, step, stop)
    with pytest.raises(Stop):
        shelf.publish(model, facts={"n": 2})
    monkeypatch.undo()
    assert shelf.open_current()[0] == good


def test_stopping_right_after_the_swap_leaves_the_new_one_valid(shelf, model, monkeypatch):
    shelf.publish(model, facts={"n": 1})
    usual = Path.replace

    def replace_and_stop(self, target):
        usual(self, target)
        raise Stop

    monkeypatch.setattr(Path, "replace", replace_and_stop)
    with pytest.raises(Stop):
        shelf.publish(model, facts={"n": 2})
    monkeypatch.undo()
    assert shelf.open_current()[2] == {"n": 2}


def test_without_the_digests_damage_would_go_unseen(shelf, model, monkeypatch):
    """The control: a registry that does not verify serves the damaged generation."""
    shelf.publish(model, facts={"n": 1})
    bad = shelf.publish(model, facts={"n": 2})
    manifest = files.from_bytes((shelf.root / bad / files.MANIFEST).read_bytes())
    monkeypatch.setattr(
        files, "facts_of", lambda path: replace(manifest.files[path.name], dtype=None, shape=None)
    )
    path = shelf.root / bad / "item_factors.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert shelf.open_current()[0] == bad


def test_readers_see_the_old_or_the_new_one_while_it_is_swapped(shelf, model):
    known = {shelf.publish(model, facts={"n": 0})}
    done = threading.Event()
    seen: list[str] = []
    problems: list[object] = []

    def read() -> None:
        while not done.is_set():
            opened = shelf.open_current()
            if opened is None or ids_of(ask(opened[1], saved("moat"), 1)) != [IDS["ebb"]]:
                problems.append(opened)
            else:
                seen.append(opened[0])

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(1, 26):
        before = len(seen) + len(problems)
        known.add(shelf.publish(model, facts={"n": n}))
        shelf.prune(keep=2)
        while len(seen) + len(problems) == before and all(one.is_alive() for one in readers):
            time.sleep(0.001)  # however busy the machine is, somebody reads in between
    done.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert set(seen) <= known
    assert len(set(seen)) > 1


def test_a_model_of_other_settings_still_opens(shelf, model, monkeypatch):
    usual = registry.to_bytes

    def with_unknown_setting(manifest):
        return usual(manifest).replace(b'"factors":', b'"from_tomorrow": 1, "factors":')

    monkeypatch.setattr(registry, "to_bytes", with_unknown_setting)
    shelf.publish(model, facts={})
    assert shelf.open_current()[1].config == model.config


def test_a_manifest_of_another_format_is_not_read(shelf, model, monkeypatch):
    usual = registry.to_bytes
    monkeypatch.setattr(
        registry, "to_bytes", lambda m: usual(m).replace(b'"format": 1', b'"format": 2')
    )
    shelf.publish(model, facts={})
    assert shelf.open_current() is None


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_other_users_may_read_a_generation(shelf, model):
    generation = shelf.publish(model, facts={})
    assert (shelf.root / generation).stat().st_mode & 0o555 == 0o555


# ---- The arms of an experiment -----------------------------------------------------------------


def harm(shelf: Registry, generation: str) -> None:
    (shelf.root / generation / files.VOCABULARY).write_text("[]")


def test_what_is_published_aside_does_not_become_current(shelf, model):
    live = shelf.publish(model, facts={})
    other = shelf.publish(model, facts={"n": 2}, aside=True)
    assert shelf.current() == live
    assert shelf.open(other)[1] == {"n": 2, "aside": True}
    shelf.make_current(other)
    assert shelf.open_current()[0] == other


def test_what_was_published_aside_is_the_last_resort(shelf, model):
    older, live = shelf.publish(model, facts={}), shelf.publish(model, facts={"n": 2})
    other = shelf.publish(model, facts={}, aside=True)
    harm(shelf, live)
    assert shelf.open_current()[0] == older
    harm(shelf, older)
    assert shelf.open_current()[0] == other


def test_only_a_whole_generation_is_made_current(shelf, model):
    live, other = shelf.publish(model, facts={}), shelf.publish(model, facts={}, aside=True)
    harm(shelf, other)
    for name in (other, "000009-0123456789abcdef", "../elsewhere"):
        with pytest.raises(BrokenGeneration):
            shelf.make_current(name)
    assert shelf.current() == live


def test_arms_are_kept_through_pruning_until_they_are_dropped(shelf, model):
    control = shelf.publish(model, facts={})
    challenger = shelf.publish(model, facts={}, aside=True)
    arms = Arms(experiment="one", control=control, challenger=challenger)
    assert shelf.arms() is None
    shelf.point_arms_to(arms)
    assert shelf.arms() == arms
    later = [shelf.publish(model, facts={"n": n}) for n in range(3)]
    newest_aside = shelf.publish(model, facts={"n": 9}, aside=True)

    def there() -> set[str]:
        return {path.name for path in shelf.root.iterdir() if path.is_dir()}

    shelf.prune(keep=2)
    assert there() == {control, challenger, newest_aside, *later[1:]}
    shelf.drop_arms()
    shelf.drop_arms()
    assert shelf.arms() is None
    shelf.prune(keep=2)
    assert there() == {newest_aside, *later[1:]}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"control": 1}', "\udcff"])
def test_arms_that_cannot_be_read_are_none(shelf, model, content):
    shelf.publish(model, facts={})
    (shelf.root / registry.ARMS).write_bytes(content.encode("utf-8", "surrogateescape"))
    assert shelf.arms() is None


def test_a_pinned_registry_gives_its_generation_or_nothing(shelf, model):
    first = shelf.publish(model, facts={})
    shelf.publish(model, facts={"n": 2})
    pinned = Pinned(shelf.root, first)
    assert (pinned.current(), pinned.open_current()[0]) == (first, first)
    harm(shelf, first)
    assert pinned.open_current() is None


def test_the_settings_of_a_generation_are_known_without_its_arrays(shelf):
    config = Config(factors=12)
    generation = shelf.publish(small_model(config=config), facts={})
    (shelf.root / generation / "gram.npy").unlink()
    assert shelf.config_of(generation) == config
