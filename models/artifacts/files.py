"""A model as files of arrays, and back: .npy and JSON, nothing that can execute code."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from models.artifacts.manifest import (
    BrokenGeneration,
    FileFacts,
    Manifest,
    digest,
    from_bytes,
)
from models.collaborative.item_similarity import ItemSimilarity, without_similarity
from models.collaborative.joint_als import JointFactors
from models.collaborative.term_map import TermMap
from models.content.tfidf import TermIndex
from models.ids import IdIndex
from models.ranking.model import Model, no_titles

MANIFEST = "manifest.json"
VOCABULARY = "vocabulary.json"
Array = npt.NDArray[Any]


def arrays_of(model: Model) -> dict[str, Array]:
    """Every array of the model by the name of its file."""
    content, factors = model.content, model.factors
    return {
        "item_ids": model.item_ids,
        "people": model.people,
        "published_year": model.published_year,
        "added_days": model.added_days,
        "title_keys": model.title_keys,
        "recency": model.recency,
        "centrality": model.centrality,
        "item_factors": factors.items,
        "gram": factors.gram,
        "terms": factors.terms,
        "term_factors": factors.term_factors,
        "term_map": factors.term_map.rows,
        "embeddings": model.similarity.items,
        "embedded_terms": model.similarity.term_map.terms,
        "term_embeddings": model.similarity.term_map.rows,
        "idf": content.idf,
        "lengths": content.lengths,
        "n_terms": content.n_terms,
        "in_full": content.in_full,
        "in_short": content.in_short,
        **_csr_arrays("weights", content.weights),
        **_csr_arrays("neighbours", model.neighbours),
    }


def write_model(model: Model, folder: Path) -> dict[str, FileFacts]:
    """Write all files but the manifest into ``folder``, each flushed to the disk."""
    written: dict[str, FileFacts] = {}
    for name, array in arrays_of(model).items():
        path = folder / f"{name}.npy"
        with path.open("wb") as file:
            np.save(file, np.ascontiguousarray(array), allow_pickle=False)
            _to_disk(file.fileno(), file)
        shape, dtype = list(array.shape), array.dtype.str
        written[path.name] = replace(facts_of(path), dtype=dtype, shape=shape)
    path = folder / VOCABULARY
    write_bytes(path, json.dumps(list(model.content.vocabulary), ensure_ascii=False).encode())
    written[VOCABULARY] = facts_of(path)
    return written


def read_model(folder: Path, expected_digest: str) -> tuple[Model, Manifest]:
    """The verified model of a generation, its arrays mapped copy-on-write.

    BrokenGeneration if any file is missing, has another SHA-256, or does not fit the others.
    """
    try:
        raw = (folder / MANIFEST).read_bytes()
        if not digest(raw).startswith(expected_digest):
            raise BrokenGeneration(f"{MANIFEST} is not what was published")
        manifest = from_bytes(raw)
        for name, facts in manifest.files.items():
            if facts_of(folder / name) != replace(facts, dtype=None, shape=None):
                raise BrokenGeneration(f"{name} is not what was published")
        return _assemble(folder, manifest), manifest
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise BrokenGeneration(str(error)) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        _to_disk(file.fileno(), file)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def facts_of(path: Path) -> FileFacts:
    """SHA-256 and size of a file, read in pieces."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return FileFacts(sha256=sha256, size=file.tell())


def _to_disk(handle: int, file: Any) -> None:
    file.flush()
    os.fsync(handle)


def _csr_arrays(name: str, matrix: sp.csr_matrix) -> dict[str, Array]:
    return {
        f"{name}_data": matrix.data,
        f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr,
    }


def _assemble(folder: Path, manifest: Manifest) -> Model:
    arrays = {
        name.removesuffix(".npy"): _mapped(folder / name, facts)
        for name, facts in manifest.files.items()
        if name.endswith(".npy")
    }
    vocabulary: list[str] = json.loads((folder / VOCABULARY).read_bytes())
    m, v = len(arrays["item_ids"]), len(vocabulary)
    return Model(
        config=manifest.config,
        items=IdIndex(arrays["item_ids"]),
        content=TermIndex(
            vocabulary=vocabulary,
            columns={term: column for column, term in enumerate(vocabulary)},
            weights=_csr(arrays, "weights", (m, v)),
            **{name: arrays[name] for name in ("idf", "lengths", "n_terms", "in_full", "in_short")},
        ),
        factors=JointFactors(
            items=arrays["item_factors"],
            gram=arrays["gram"],
            term_factors=arrays["term_factors"],
            term_map=TermMap(terms=arrays["terms"], rows=arrays["term_map"]),
        ),
        similarity=_similarity(arrays, m),
        neighbours=_csr(arrays, "neighbours", (m, m)),
        people=arrays["people"],
        published_year=arrays["published_year"],
        added_days=arrays["added_days"],
        # Generations of version 0.1.0 have none; their papers are told apart by text alone.
        title_keys=arrays.get("title_keys", no_titles(m)),
        n_people=manifest.n_people,
        recency=arrays["recency"],
        centrality=arrays["centrality"],
    )


def _similarity(arrays: Mapping[str, Array], m: int) -> ItemSimilarity:
    """Generations before version 0.2.0 have none, and recommend without it."""
    if "embeddings" not in arrays:
        return without_similarity(m)
    term_map = TermMap(terms=arrays["embedded_terms"], rows=arrays["term_embeddings"])
    return ItemSimilarity(items=arrays["embeddings"], term_map=term_map)


def _mapped(path: Path, facts: FileFacts) -> Array:
    """A plain array over a private map of the file; an empty array cannot be mapped."""
    dtype, shape = np.dtype(facts.dtype), tuple(facts.shape or ())
    n_bytes = dtype.itemsize * math.prod(shape)
    if n_bytes == 0:
        return np.zeros(shape, dtype)
    return np.asarray(
        np.memmap(path, dtype=dtype, mode="c", offset=facts.size - n_bytes, shape=shape)
    )


def _csr(arrays: Mapping[str, Array], name: str, shape: tuple[int, int]) -> sp.csr_matrix:
    parts = (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_indptr"])
    matrix = sp.csr_matrix(parts, shape=shape)
    matrix.has_sorted_indices = True
    return matrix
