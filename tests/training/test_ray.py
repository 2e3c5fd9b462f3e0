"""A run whose rollouts a Ray cluster plays, and an arena that one plays."""

from __future__ import annotations

import itertools
import json
import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.toys import KUHN, register_toys
from tests.training.test_ppo import lines_of, weights_of
from training.arena import arena
from training.processes import Processes

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")
ray_ppo = pytest.importorskip("training.ray_ppo")
ray_cluster = pytest.importorskip("training.ray_cluster")

ROOT = Path(__file__).parents[2]

TINY = ray_ppo.Config(
    game=KUHN,
    decisions=2_000,
    num_tables=16,
    num_steps=10,
    minibatch=64,
    layers=(16,),
    magnet_weight=0.1,
    opponents={"past": 0.3, "random": 0.3},
    prior="random",
    prior_weight=0.1,
    curve_points=2,
    curve_deals=1,
    test_deals=1,
    num_actors=2,
)


#: Of the cluster that tests share.
NODE = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two nodes, each with one processor; processes know the toy games."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        made = cluster_utils.Cluster(initialize_head=True, head_node_args=NODE)
        made.add_node(**NODE)
        ray.init(
            made.address,
            log_to_driver=False,
            logging_level=logging.WARNING,
            runtime_env={
                "env_vars": {"PYTHONPATH": str(ROOT)},
                "worker_process_setup_hook": register_toys,
            },
        )
        yield made
        ray.shutdown()
        made.shutdown()


def wait_for(is_so: Any) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


# ----------------------------------------------------------------------------------------------
# Without a cluster


def test_no_two_actors_of_a_run_have_the_same_number() -> None:
    numbers = []
    for rank, place, incarnation in itertools.product(range(3), range(4), range(5)):
        processes = ray_ppo.Alone(rank)
        processes.count = 3
        numbers.append(ray_ppo.number_of(place, incarnation, 4, processes))
    assert len({*numbers, 0, 1, 2}) == 60 + 3  # the learners' own are 0, 1 and 2


def test_decisions_that_were_picked_out_are_learnt_from_like_the_whole_buffer(
    kuhn_id: str,
) -> None:
    runs = [ray_ppo.ppo.Run(TINY, Processes()) for _ in range(2)]
    whole, picked = (run.learner for run in runs)
    for learner in (whole, picked):
        learner.keep_self()
    for _ in range(3):
        buffers = [run.play() for run in runs]
        told = whole.learn(buffers[0])
        decisions = picked.credited(buffers[1])
        assert 0 < len(decisions["action"]) == buffers[1].is_closed.sum() < buffers[1].seat.size
        assert picked.learn_from(decisions) == told
    expected = whole.snapshot()
    assert all((picked.snapshot()[name] == array).all() for name, array in expected.items())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_actors": 0}, "num_actors is a whole number of at least 1, not 0"),
        ({"num_learners": 1.5}, r"num_learners is a whole number of at least 1, not 1\.5"),
        ({"num_learners": 2, "device": "cuda"}, "learners on CPUs"),
    ],
)
def test_a_bad_configuration_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changed)


def test_a_cluster_and_processes_cannot_both_play_an_arena() -> None:
    players = {"a": "random", "b": "lowest"}
    with pytest.raises(ValueError, match="either a Ray cluster plays or 2 processes"):
        arena("bred_ryg", players, 2, processes=2, cluster="local")


@pytest.mark.parametrize("address", ["lowest", ":6379", "here:", "here:there"])
def test_what_is_no_address_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"HOST:PORT, auto or local, not {address!r}"):
        ray_ppo.train(TINY, tmp_path, progress=False, address=address)


@pytest.mark.parametrize("port", [1, 10**6])
def test_where_nobody_answers_there_is_no_cluster(port: int) -> None:
    address = f"127.0.0.1:{port}"
    with (
        pytest.raises(ConnectionError, match=f"no Ray cluster answers at {address}"),
        ray_cluster.connected(address),
    ):
        pass


def test_nobody_imports_ray_who_was_not_asked_to() -> None:
    code = "import sys, training.arena, training.ppo; assert 'ray' not in sys.modules"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, check=True)


# ----------------------------------------------------------------------------------------------
# With one


@pytest.mark.compiled
def test_a_run_goes_on_when_an_actor_is_killed_and_when_a_machine_is_lost(
    cluster: Any, kuhn_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An actor dies in the middle of the fourth rollout, and a node of the two before the sixth."""
    improve, pids, calls = ray_ppo.Run.improve, set(), itertools.count(1)

    def improve_and_lose(run: Any) -> dict[str, float]:
        call = next(calls)
        if call == 4:
            pids.update(run.tables.process_ids())
            victim = run.tables.process_ids()[0]
            os.kill(victim, signal.SIGSTOP)  # it gets the order, and does not answer
            threading.Timer(0.5, os.kill, (victim, signal.SIGKILL)).start()
        if call == 6:
            pids.update(run.tables.process_ids())
            cluster.remove_node(cluster.list_all_nodes()[1])
        return improve(run)

    monkeypatch.setattr(ray_ppo.Run, "improve", improve_and_lose)
    try:
        (report,) = ray_ppo.train(TINY, tmp_path, progress=False)
    finally:
        cluster.add_node(**NODE)
    log = lines_of(tmp_path / "log.csv")
    assert len(log) >= 6
    replaced = [float(line["replaced_actors"]) for line in log]
    assert replaced[:5] == [0.0, 0.0, 0.0, 1.0, 1.0]
    # The next actor may be put on the lost machine, too, before the cluster knows that it is lost.
    assert 2.0 <= replaced[5] == replaced[-1]
    most = TINY.num_actors * TINY.num_tables * TINY.num_steps
    steps = [int(line["step"]) for line in log]
    assert steps[-1] >= TINY.decisions > steps[-2]
    assert all(0 < later - step <= most for step, later in itertools.pairwise([0, *steps]))
    decisions = [int(point["decisions"]) for point in lines_of(tmp_path / "curve.csv")]
    assert len(decisions) == TINY.curve_points + 1
    last = tmp_path / "snapshots" / f"{decisions[-1]:012}.npz"
    assert weights_of(tmp_path / "policy.npz") == weights_of(last)
    assert {"ppo (sampled)", "ppo (greedy)"} <= {row.player for row in report.rows}
    assert "ray" in json.loads((tmp_path / "config.json").read_text())["versions"]
    assert len(pids) == 3
    wait_for(lambda: all(map(is_gone, pids)))
    assert ray.is_initialized()  # the connection was there before


@pytest.mark.compiled
def test_a_run_goes_on_from_its_checkpoint_with_new_deals(
    cluster: Any, kuhn_id: str, tmp_path: Path
) -> None:
    config = replace(TINY, num_actors=1)
    run = ray_ppo.Run(config, Processes())
    for _ in range(2):
        run.improve()
    arrays, values = run.snapshot()
    assert values["processes"][0]["incarnations"] == [0]
    run.tables.dismiss()
    later = ray_ppo.Run(config, Processes())
    later.restore(arrays, values)
    again, counters = later.snapshot()
    assert set(again) == set(arrays)
    assert all((again[name] == array).all() for name, array in arrays.items())
    expected = values | {"points": values["points"] + 1}
    expected["processes"] = [expected["processes"][0] | {"incarnations": [1]}]
    assert counters == expected
    later.improve()
    assert later.decisions > run.decisions
    later.tables.dismiss()


@pytest.mark.compiled
def test_an_actor_plays_as_it_would_in_this_process(cluster: Any, kuhn_id: str) -> None:
    learner = ray_ppo.Run(TINY, Processes()).learner
    learner.keep_self()
    past = [ray.put(learner.past_snapshot())]
    orders = [(learner.network_snapshot(), past, 0.1 * update, update) for update in range(3)]

    def played_here(number: int) -> list[Any]:
        here = ray_ppo.Actor(TINY, number)
        return [here.rollout(*order) for order in orders]

    def bytes_of(rollouts: list[Any]) -> list[Any]:
        return [
            (rollout.num_decisions, {k: array.tobytes() for k, array in rollout.decisions.items()})
            for rollout in rollouts
        ]

    there = ray.remote(ray_ppo.Actor).remote(TINY, 5)
    played = [ray.get(there.rollout.remote(*order)) for order in orders]
    assert {"seen", "mask", "action", "advantage", "advice"} <= set(played[0].decisions)
    assert bytes_of(played) == bytes_of(played_here(5))
    assert bytes_of(played) != bytes_of(played_here(6))


@pytest.mark.compiled
def test_an_actor_that_cannot_live_ends_the_run(
    cluster: Any, kuhn_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_ppo, "MAX_REPLACEMENTS", 1)
    config = replace(TINY, num_actors=1)
    run = ray_ppo.Run(config, Processes())
    run.tables._config = replace(config, prior="no_such_file.npz")
    with pytest.raises(RuntimeError, match=r"(?s)was lost 2 times in one rollout.*no_such_file"):
        run.improve()
    run.tables.dismiss()


@pytest.mark.compiled
def test_several_learners_average_their_gradients(
    cluster: Any, kuhn_id: str, tmp_path: Path
) -> None:
    config = replace(TINY, num_learners=2, num_actors=1, decisions=1_000)
    assert len(ray_ppo.train(config, tmp_path, progress=False)) == 1
    steps = [int(line["step"]) for line in lines_of(tmp_path / "log.csv")]
    assert steps[-1] >= config.decisions
    assert steps[0] > config.num_tables * config.num_steps / 2  # of both learners
    assert "WORLD_SIZE" not in os.environ


@pytest.mark.compiled
def test_an_arena_that_a_cluster_plays_is_the_same(
    cluster: Any, kuhn_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.arena.CHUNK_DEALS", 3)
    players = {"random": "random", "lowest": "lowest", "priority": "priority"}
    here, there = (
        arena("braus", players, 7, num_shuffles=1, progress=False, cluster=address)
        for address in ("", "local")
    )
    assert there.report == here.report
    for row, expected in zip(there.report.rows, here.report.rows, strict=True):
        assert (row.blocks == expected.blocks).all()
    assert there.ratings == here.ratings


@pytest.mark.compiled
def test_the_command_lines_join_a_cluster_or_make_one(cluster: Any, tmp_path: Path) -> None:
    """The run joins one, and the arena makes one."""
    run = ["training.ray_ppo", "bred_ryg", "--preset", "ci", "--out", str(tmp_path / "run")]
    run += ["--address", cluster.address]
    settings = "decisions=300 num_tables=10 num_steps=10 minibatch=32 layers=[16] curve_points=1 "
    settings += 'curve_deals=1 test_deals=1 opponents={"hints":0.5} measured_against=["random"]'
    for setting in settings.split():
        run += ["--set", setting]
    meet = ["training.arena", "bred_ryg", "random", "lowest", "--deals", "3", "--ray"]
    # A cluster that is made has a token, which Ray would leave in the home folder.
    guard = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for words in (run, meet):
        done = subprocess.run(
            [sys.executable, "-m", *words],
            env=os.environ | {"PYTHONPATH": str(ROOT)} | (guard if words is meet else {}),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    assert "ppo (greedy)" in (tmp_path / "run" / "evaluation.txt").read_text()
    assert "lowest" in done.stdout
