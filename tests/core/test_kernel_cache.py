"""The cache of compiled kernels saves time, and never serves what has been edited since."""

from pathlib import Path

import pytest

from tests.core.kernel_programs import CLOSURES, ENTRY, RULE, TWINS, Workshop

pytestmark = pytest.mark.compiled

PLAY = "from {entry} import play; print(play(1))"
PLAY_TWINS = "from twins import make; print(*[make(value)(7) for value in {values}])"
#: How an entry point in `entry` reaches a rule elsewhere: file, import, call, module of the entry.
WAYS = {
    "a module's attribute": ("rule.py", "import rule", "rule.rule", "entry"),
    "two packages": ("other/rule.py", "from other.rule import rule", "rule", "agent.entry"),
    "a dotted name": ("other/deep/rule.py", "import other.deep.rule", "other.deep.rule.rule", "e"),
    "the library": ("cardenvs/rule.py", "from cardenvs.rule import rule", "rule", "entry"),
}


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    (tmp_path / "source").mkdir()
    return Workshop(tmp_path / "source", tmp_path / "cache")


def write_entry(workshop: Workshop, way: str, value: int = 10, limit: int = 100) -> str:
    """Write a rule and an entry point; return the program that plays."""
    file, imported, called, entry = WAYS[way]
    workshop.write(file, RULE.format(value=value, limit=limit))
    source = ENTRY.format(imported=imported, called=called)
    workshop.write(entry.replace(".", "/") + ".py", source)
    return PLAY.format(entry=entry)


def test_second_process_loads_from_the_cache(workshop):
    play = write_entry(workshop, "two packages")
    runs = [workshop.run(play) for _ in range(2)]
    assert [run.output for run in runs] == ["111", "111"]
    assert [run.compile_lines for run in runs] == [1, 0]


@pytest.mark.parametrize("way", WAYS)
def test_an_edited_rule_is_never_served_stale(workshop, way):
    if way == "the library":
        workshop.copy_library()
    assert workshop.run(write_entry(workshop, way, value=10)).output == "111"
    assert workshop.run(write_entry(workshop, way, value=20)).output == "121"
    assert workshop.run(write_entry(workshop, way, value=20, limit=200)).output == "221"


def test_kernels_that_other_processes_compiled_are_told_apart(workshop):
    """Each of two processes compiles one of a pair; a third one loads both from file."""
    workshop.write("twins.py", TWINS)
    plain = workshop.run(PLAY_TWINS.format(values=(1, 2)), {"NUMBA_DISABLE_JIT": "1"})
    alone = [workshop.run(PLAY_TWINS.format(values=(value,))) for value in (1, 2)]
    assert " ".join(run.output for run in alone) == plain.output == "165 709"
    both = workshop.run(PLAY_TWINS.format(values=(2, 1)))
    assert (both.output, both.compile_lines) == ("709 165", 0)


def test_a_constant_from_another_module_is_never_served_stale(workshop):
    workshop.write("entry.py", ENTRY.format(imported="from limits import LIMIT", called="LIMIT *"))
    for limit in (3, 4):
        workshop.write("limits.py", f"LIMIT = {limit}")
        assert workshop.run(PLAY.format(entry="entry")).output == str(limit)


def test_a_kernel_typed_in_is_never_served_stale(workshop):
    program = ENTRY + "\nprint(int(play(1.4)))"
    calls = {"np.floor": "1", "np.ceil": "2", "(lambda x: x + 5)": "6", "(lambda x: x + 7)": "8"}
    for called, expected in calls.items():
        run = workshop.run(program.format(imported="import numpy as np", called=called))
        assert run.output == expected


def test_closures_hit_the_cache_and_are_told_apart(workshop):
    runs = [workshop.run(CLOSURES) for _ in range(2)]
    assert [run.output for run in runs] == ["11 21", "11 21"]
    assert [run.compile_lines for run in runs] == [1, 0]


def test_the_line_about_compiling_appears_once_a_process(workshop):
    workshop.write("first.py", ENTRY.format(imported="", called="abs"))
    workshop.write("second.py", ENTRY.format(imported="", called="3 +"))
    program = "import first, second; print(first.play(-1), second.play(1), first.play(-1.5))"
    run = workshop.run(program)
    assert (run.output, run.compile_lines) == ("1 4 1.5", 1)


def test_a_folder_that_cannot_be_written_only_costs_time(workshop):
    play = write_entry(workshop, "a module's attribute")
    workshop.cache = workshop.folder / "rule.py" / "below_a_file"
    runs = [workshop.run(play) for _ in range(2)]
    assert [(run.output, run.compile_lines) for run in runs] == [("111", 1), ("111", 1)]


CIRCLE = """
from cardenvs.core.kernel import entry_point, kernel

@kernel
def count(number):
    return count_rest(number - 1) if number > 0 else 0

@kernel
def count_rest(number):
    return 1 + count(number)

@entry_point
def play(number):
    return count(number)

try:
    play(3)
except TypeError as error:
    print(error)
"""


def test_kernels_that_call_each_other_in_a_circle_are_refused(workshop):
    assert workshop.run(CIRCLE).output == "kernels reached from 'play' call each other in a circle"


@pytest.mark.parametrize("keep", [0, 100])
def test_a_damaged_file_is_ignored_and_replaced(workshop, keep):
    play = write_entry(workshop, "a module's attribute")
    workshop.run(play)
    (stored,) = Path(workshop.cache).iterdir()
    whole = stored.read_bytes()
    stored.write_bytes(whole[:keep] + b"nonsense")
    runs = [workshop.run(play) for _ in range(2)]
    assert [(run.output, run.compile_lines) for run in runs] == [("111", 1), ("111", 0)]


def test_importing_the_library_loads_neither_numba_nor_torch(workshop):
    heavy = ("numba", "llvmlite", "torch", "scipy", "cardenvs.core.kernel", "cardenvs.games")
    program = f"import cardenvs, sys; print([name for name in {heavy} if name in sys.modules])"
    assert workshop.run(program).output == "[]"


def test_a_game_loads_without_torch_and_without_compiling(workshop):
    program = (
        "import cardenvs, sys\n"
        "for game_id in cardenvs.game_ids(): cardenvs.load_game(game_id)\n"
        "print('torch' in sys.modules)"
    )
    run = workshop.run(program)
    assert (run.output, run.compile_lines) == ("False", 0)


def test_the_first_game_of_a_second_process_needs_no_compiling(workshop):
    program = (
        "import cardenvs\n"
        "state = cardenvs.load_game(cardenvs.game_ids()[0]).new_initial_state(seed=1)\n"
        "print(state.legal_actions())"
    )
    runs = [workshop.run(program) for _ in range(2)]
    assert runs[0].output == runs[1].output
    assert [run.compile_lines for run in runs] == [1, 0]
