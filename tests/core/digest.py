"""A digest of all that games show, to compare compiled and uncompiled kernels.

`python -m tests.core.digest` prints it for every game.
"""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import cardenvs
from cardenvs.core.kernel import COMPILED
from tests.core.tables import GAME_IDS, chosen_actions
from tests.oracles.cases import CASES

VARIANTS = 3
STEPS = 60


def add_state(digest: Any, options: dict[str, Any], game_id: str, rng: random.Random) -> None:
    """Play an episode: deal, masks, observations, rewards, worlds and what is recalled."""
    game = cardenvs.load_game(game_id, **options)
    state = game.new_initial_state(seed=rng.getrandbits(62))
    for _ in range(STEPS):
        digest.update(repr((state.to_deal(), state.returns().tolist(), str(state))).encode())
        if state.is_terminal():
            break
        world = state.determinize(rng.randrange(game.num_players), rng.getrandbits(40))
        digest.update(world.get_state())
        for seat in range(game.num_players):
            digest.update(state.observation(seat).tobytes())
        digest.update(state.action_mask().tobytes())
        state.apply_action(rng.choice(state.legal_actions()))
    digest.update(state.information_state(0).tobytes())


def add_batch(digest: Any, options: dict[str, Any], game_id: str, rng: random.Random) -> None:
    """Step a few tables: masks, observations, rewards, and the actions sampled."""
    seed = rng.getrandbits(62)
    batch = cardenvs.make_batch(game_id, num_envs=3, seed=seed, critic_state=True, **options)
    batch.reset()
    for _ in range(STEPS):
        digest.update(batch.sample_actions().tobytes())
        batch.step(chosen_actions(batch, rng))
        for part in (batch.action_mask, batch.critic_state, batch.current_player, batch.reward):
            digest.update(part.tobytes())


def digests() -> dict[str, str]:
    """Return the digest of each game."""
    results = {}
    for game_id in GAME_IDS:
        digest = hashlib.sha256()
        for variant in range(VARIANTS):
            rng = random.Random(variant)
            options = CASES[game_id].random_options(rng) if variant else {}
            add_state(digest, options, game_id, rng)
            add_batch(digest, options, game_id, rng)
        results[game_id] = digest.hexdigest()
    return results


if __name__ == "__main__":
    print(json.dumps({"compiled": COMPILED, "digests": digests()}))
