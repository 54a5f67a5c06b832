"""A Ray cluster counts what this process counts, also when a machine dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from read_texts import BAD, RECIPES, learnt, write_lines

import supratok
from commands import refused
from supratok import CorpusError, Recipe
from supratok.common import packages
from supratok.readings import ray as ray_engine
from texts import multilingual, prose


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ray_engine, "is_installed", lambda name: packages.is_installed("no-" + name)
    )
    with pytest.raises(ValueError, match="engine='ray' needs the package 'ray': "):
        supratok.train(["a text"], vocab_size=300, progress=False, engine="ray")


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    def why(**options: Any) -> str:
        with pytest.raises(ValueError) as caught:
            supratok.train(["a text"], progress=False, **options)
        return str(caught.value)

    assert "must be one of local, ray" in why(engine="spark")
    assert "pass engine='ray'" in why(address="auto")
    assert "keeps no work" in why(engine="ray", work=tmp_path / "work")
    assert "expression pass reads the text" in why(engine="ray", recipe=RECIPES["paper"])
    assert not (tmp_path / "work").exists()


# --- On a cluster ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three machines with a core each, and a driver."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    # Tasks import what this process imports.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(supratok.__file__).parents[1]))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        head = {"num_cpus": 0, "include_dashboard": False}
        made: Any = Cluster(initialize_head=True, head_node_args=head)
        made.workers = [made.add_node(num_cpus=1) for _ in range(3)]
        try:
            ray_engine.start_ray(made.address)
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Shards of very different sizes; one has no documents."""
    folder, texts = tmp_path_factory.mktemp("shards"), prose(8, 500) + multilingual(8, 100)
    ends = [0, 300, 301, 302, 420, 500, 510, 580, 590, 595, 600]
    shards = [
        write_lines(folder / f"{start:03}.jsonl.zst", texts[start:end])
        for start, end in zip(ends, ends[1:], strict=False)
    ]
    return [*shards, write_lines(folder / "none.jsonl", [])]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_equals_this_process_while_a_machine_dies(
    cluster: Any, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = learnt(files, RECIPES["default"], tmp_path / "t.json")
    killed = threading.Event()

    def kill() -> None:
        time.sleep(0.5)
        cluster.remove_node(cluster.workers.pop(), allow_graceful=False)
        killed.set()

    real = ray_engine.RayText.read

    def read(self: Any, reading: Any) -> Any:
        if not killed.is_set():
            threading.Thread(target=kill, daemon=True).start()
        return real(self, reading)

    monkeypatch.setattr(ray_engine.RayText, "read", read)
    assert learnt(files, RECIPES["default"], tmp_path / "t.json", engine="ray") == expected
    assert killed.wait(20)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["default", "dense"])
def test_a_target_decides_as_here(
    cluster: Any, files: list[Path], tmp_path: Path, name: str
) -> None:
    """The target is read here, the documents there; both decide when rounds of refinement swap
    tokens, also when the target is a file."""
    texts = [text for text in prose(98, 80) if text.strip()]
    target = write_lines(tmp_path / "target.jsonl", texts)
    expected = learnt(files, RECIPES[name], tmp_path / "t.json", target=texts)
    found = learnt(files, RECIPES[name], tmp_path / "t.json", engine="ray", target=target)
    assert found == expected
    report = supratok.Tokenizer.load(tmp_path / "t.json").report
    assert report["target"]["measuring"]["tokens"] < report["target"]["measuring"]["tokens_without"]
    assert report["passes"]["refinement"][0]["accepted"] > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_sample_and_addresses(cluster: Any, files: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    options: dict[str, Any] = {"max_documents": 200, "hold_out": 0.2}
    expected = learnt(files, RECIPES["words"], tmp_path / "t.json", **options)
    addresses = [f"file://{path}" for path in files]
    found = learnt(addresses, RECIPES["words"], tmp_path / "t.json", engine="ray", **options)
    assert found == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_error_of_a_task_is_told_as_here(cluster: Any, tmp_path: Path) -> None:
    files = [
        write_lines(tmp_path / "a.jsonl", prose(1, 50)),
        write_lines(tmp_path / "b.jsonl", prose(2, 50), BAD[0]),
    ]
    recipe = Recipe(vocab_size=300, crossover=1.0)
    said = []
    for engine in ("local", "ray"):
        with pytest.raises(CorpusError) as caught:
            supratok.train(files, recipe, progress=False, engine=engine)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "b.jsonl, line 4" in said[0]
    command = ["train", *files, "--vocab-size", 300, "--out", tmp_path / "t.json", "--quiet"]
    assert said[0] in refused(*command, "--engine", "ray", "--address", cluster.address)


@pytest.mark.slow
def test_shards(cluster: Any, tmp_path: Path) -> None:
    """A corpus becomes the same shards on the cluster as here, file by file."""
    for number in range(5):
        write_lines(tmp_path / f"part-{number}.jsonl", prose(number, 30 * 4**number // 8 + 1))
    tokenizer = supratok.train(prose(9, 200), vocab_size=500, progress=False)
    options: dict[str, Any] = {"eos": False, "by_file": True, "progress": False}
    folders = [tmp_path / name for name in ("here", "there")]
    manifests = [
        supratok.tokenize(tmp_path / "part-*.jsonl", tokenizer, folder, engine=engine, **options)
        for folder, engine in zip(folders, ("local", "ray"), strict=True)
    ]
    assert manifests[0] == manifests[1] and len(manifests[0]["shards"]) == 5
    here, there = ({path.name: path.read_bytes() for path in one.iterdir()} for one in folders)
    assert here == there
    with pytest.raises(ValueError, match="by_file=True"):
        supratok.tokenize(tmp_path, tokenizer, tmp_path / "x", engine="ray", progress=False)
