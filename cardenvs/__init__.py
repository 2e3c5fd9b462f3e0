"""Four traditional card games as reinforcement-learning environments.

from cardenvs import bred_ryg_v0             # a PettingZoo environment
game = cardenvs.load_game("bred_ryg-v0")     # states with the names of OpenSpiel
batch = cardenvs.make_batch("bred_ryg-v0", num_envs=4096)   # thousands of tables at once
"""

from cardenvs.core.errors import DealError, IllegalActionError, OptionError
from cardenvs.registry import game_ids, load_game, make_batch, register_game

__version__ = "0.1.0"

__all__ = [
    "DealError",
    "IllegalActionError",
    "OptionError",
    "__version__",
    "game_ids",
    "load_game",
    "make_batch",
    "register_game",
]
