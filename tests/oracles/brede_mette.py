"""A slow, naive Brede Mette, written from the rules alone, to hold a fast engine against.

One game is one straight-line script: `_game` plays turns, `_turn` plays lead, adding and responding
in the order of the rule book, and wherever the rules ask a player the script stops (a generator's
`yield`) until `apply` hands it the answer. The end of a game is an exception, since it can come in
the middle of any of them. Cards are text (`"QD"`), hands are sets, the stock is a list with its top
card first, scores are fractions. References such as BM-5.3 are rules of docs/games/brede_mette.md.
"""

from collections.abc import Callable, Generator, Iterable
from fractions import Fraction
from typing import Any, TypeVar

RANKS = "23456789TJQKA"
SUITS = "CDHS"
DECK = [rank + suit for suit in SUITS for rank in RANKS]  # in the order of the card ids
HAND_FLOOR = 3
LAST_TURN = 1000

DEFAULT_OPTIONS: dict[str, Any] = {
    "num_players": 3,
    "queen": "QD",
    "pickup": "only_if_unable",
    "pickup_scope": "all_table",
    "pass_direction": "back",
    "exchange": True,
    "reward": "loser",
    "num_games": 1,
    "no_progress_limit": 100,
    "on_cap": "queen_holder",
    "skip_forced": True,
}

T = TypeVar("T")
Node = tuple[int, list[str]]  # the seat asked and its legal action texts
Asking = Generator[Node, str, T]  # a part of the rules that asks players and ends with a T


class OnePlayerLeft(Exception):  # noqa: N818 - an event of the game, not an error
    """BM-6.1: only one player is not out, which ends the game wherever it stands."""


def rank(card: str) -> str:
    """The rank letter of a card."""
    return card[0]


def suit(card: str) -> str:
    """The suit letter of a card."""
    return card[1]


def cards_of(action: str) -> list[str]:
    """The cards an action text names: `beat 5H with 8H` names 5H and 8H, `done` none."""
    return [word for word in action.split() if word in DECK]


class BredeMetteOracle:
    """One episode (a match of one or more games) of Brede Mette, one node at a time.

    Attributes:
        seat: Seat asked now, -1 when the episode is over.
        over: Whether the episode is over.
        truncated: Whether the cap (BM-6.3) ended any game of the episode.
    """

    def __init__(
        self,
        options: dict[str, Any],
        deal: dict[str, Any],
        next_deal: Callable[[int], dict[str, Any]] | None = None,
    ) -> None:
        """Sets out the first deal and goes on to the first node.

        Args:
            options: Any of `DEFAULT_OPTIONS`; missing ones take the default.
            deal: The first deal as data; it is trusted, not checked.
            next_deal: Gives the deal of a later game of the match from the dealer's seat.
        """
        self._options = DEFAULT_OPTIONS | options
        self._num_players: int = self._options["num_players"]
        self._queen: str = self._options["queen"]
        self._next_deal = next_deal
        self._scores = [Fraction(0)] * self._num_players
        self._games_played = 0
        self.seat = -1
        self.over = False
        self.truncated = False
        self._legal: list[str] = []
        self._match_script = self._match(deal)
        self._go_on(lambda: next(self._match_script))

    # ---- The face ----------------------------------------------------------------------------

    def legal(self) -> list[str]:
        """The action texts of the node in alphabetical order; none at the end."""
        return list(self._legal)

    def apply(self, text: str) -> None:
        """Plays one action of `legal()` for the seat asked and goes on to the next node.

        Raises:
            ValueError: If the action is not legal; nothing has changed then.
        """
        if text not in self._legal:
            raise ValueError(f"{text!r} is not legal for seat {self.seat}; legal: {self._legal}")
        self._go_on(lambda: self._match_script.send(text))

    def returns(self) -> list[Fraction]:
        """The scores of the finished games, summed, per seat (BM-6.5)."""
        return list(self._scores)

    def hands(self) -> list[set[str]]:
        """All hands, for tests."""
        return [set(hand) for hand in self._hands]

    def stock(self) -> list[str]:
        """The stock, top card first, for tests."""
        return list(self._stock)

    def public(self) -> dict[str, Any]:
        """What all know of the current game.

        At the end of the episode the table is empty, and roles, draws and exchanges are those of
        the last turn. `turns` and `no_progress` count finished turns only: a turn that the end of
        the game cuts short counts in neither.

        `no_rank` and `no_beaters` are the proofs in force, see `proofs`.
        """
        return {
            "trump": self._trump,
            "upcard": self._upcard,
            "upcard_in_stock": self._upcard in self._stock,
            "phase": self._phase,
            "leader": self._leader,
            "attacker": self._attacker,
            "defender": self._defender,
            "attack": sorted(self._attack, key=lambda put: DECK.index(put[0])),
            "beaten_by": dict(self._beaten_by),
            "waste": set(self._waste),
            "hand_sizes": [len(hand) for hand in self._hands],
            "stock_size": len(self._stock),
            "known": [set(cards) for cards in self._known],
            "active": list(self._active),
            "draws": list(self._draws),
            "used_exchanges": set(self._used_exchanges),
            "no_rank": [set(ranks) for ranks in self._no_ranks],
            "no_beaters": [set(attacks) for attacks in self._no_beaters_of],
            "no_progress": self._no_progress,
            "turns": self._turns,
            "games_played": self._games_played,
            "dealer": self._dealer,
        }

    def proofs(self) -> list[tuple[set[str], set[str]]]:
        """BM-7.4: per seat, ranks and attack cards: what its compulsory pick-ups prove.

        A proof speaks of the hand just before the pick-up. Whatever has come into the hand since
        without being drawn (that pile, any later one) is in `known`, and a draw ends the proof. So
        at any time it says this and no more: no card of the hand that is *not in `known`* has that
        rank, or beats that attack card. Cards in `known` may: the pile taken always has the rank.
        A later pick-up takes no proof back, so several can be in force. The red queen is entered
        too where she is the only unbeaten card; nothing beats her, so nothing is proved.
        """
        pairs = zip(self._no_ranks, self._no_beaters_of, strict=True)
        return [(set(ranks), set(attacks)) for ranks, attacks in pairs]

    def _go_on(self, resume: Callable[[], Node]) -> None:
        """Runs the script of the rules up to the next node or to the end."""
        try:
            self.seat, self._legal = resume()
        except StopIteration:
            self.seat, self._legal = -1, []
            self.over = True
            self._phase = "over"

    def _ask(self, seat: int, actions: Iterable[str]) -> Asking[str]:
        """Conventions, Node / decision: asks a seat; a forced node is played when skipped."""
        legal = sorted(actions)
        assert legal, "the rules always leave a legal action"
        if self._options["skip_forced"] and len(legal) == 1:
            return legal[0]
        return (yield seat, legal)

    # ---- The match and its games -------------------------------------------------------------

    def _match(self, deal: dict[str, Any]) -> Asking[None]:
        """BM-6.5: the games are summed and the dealer rotates clockwise."""
        self._set_table(deal)
        while True:
            game_scores = yield from self._game()
            self._scores = [a + b for a, b in zip(self._scores, game_scores, strict=True)]
            self._games_played += 1
            if self._games_played == self._options["num_games"]:
                return
            assert self._next_deal is not None, "a match needs the deals of its later games"
            dealer = (self._dealer + 1) % self._num_players
            self._set_table(self._next_deal(dealer) | {"dealer": dealer})

    def _set_table(self, deal: dict[str, Any]) -> None:
        """BM-2, BM-8: set up a game from a deal as data.

        Hands stand as given: nobody draws before his first placement. An empty hand is out from
        the start (there is no stock then), and cards that stand nowhere are out of play. The
        upcard is the last card of the stock; a deal with no stock may name it (`exposed`).
        """
        self._hands: list[set[str]] = [set(hand.split()) for hand in deal["hands"]]
        self._stock: list[str] = deal.get("stock", "").split()
        self._waste: set[str] = set(DECK) - set(self._stock) - set().union(*self._hands)
        self._active = [bool(hand) for hand in self._hands]
        self._upcard: str | None = self._stock[-1] if self._stock else deal.get("exposed")
        self._trump: str = suit(self._upcard) if self._upcard else deal["trump"]
        self._known: list[set[str]] = [hand & {self._upcard or ""} for hand in self._hands]
        self._no_ranks: list[list[str]] = [[] for _ in self._hands]  # the newest last
        self._no_beaters_of: list[list[str]] = [[] for _ in self._hands]
        self._dealer: int = deal.get("dealer", 0)
        leader: int | None = deal.get("leader")
        self._no_progress = 0
        self._turns = 0
        self._begin_turn(self._nxt(self._dealer) if leader is None else leader)

    def _game(self) -> Asking[list[Fraction]]:
        """BM-6.1 to BM-6.3: turns until one player is left, or the cap; gives the game's scores."""
        try:
            self._stop_if_one_is_left()
            while True:
                next_leader = yield from self._turn()
                is_stalling = self._no_progress >= self._options["no_progress_limit"]
                if is_stalling or self._turns >= LAST_TURN:
                    self.truncated = True
                    return self._scores_with(losers=self._losers_at_cap())
                self._begin_turn(next_leader)
        except OnePlayerLeft:
            (loser,) = self._remaining()
            self._pick_up(loser, self._table())
            self._clear_table()
            return self._scores_with(losers=[loser])

    def _losers_at_cap(self) -> list[int]:
        """BM-6.4, `on_cap`: nobody, or the holder of the red queen, or else all active players."""
        if self._options["on_cap"] == "draw":
            return []
        holder = [seat for seat in self._remaining() if self._queen in self._hands[seat]]
        is_hers = holder and self._options["on_cap"] == "queen_holder"
        return holder if is_hers else self._remaining()

    def _scores_with(self, losers: list[int]) -> list[Fraction]:
        """BM-6.2, BM-6.4, BM-6.6: the mean of the scores with each of the losers as sole loser.

        A sole loser has -1; the others 0, or 1/(n-1) with `zero_sum`. Without a loser 0 for all.
        """
        n = self._num_players
        others = Fraction(1, n - 1) if self._options["reward"] == "zero_sum" else Fraction(0)
        scores = [Fraction(0)] * n
        for loser in losers:
            for seat in range(n):
                scores[seat] += (Fraction(-1) if seat == loser else others) / len(losers)
        return scores

    # ---- Seats, cards and the table ----------------------------------------------------------

    def _nxt(self, seat: int) -> int:
        """BM-1: the next seat clockwise that is not out."""
        seat = (seat + 1) % self._num_players
        while not self._active[seat]:
            seat = (seat + 1) % self._num_players
        return seat

    def _remaining(self) -> list[int]:
        """The seats that are not out."""
        return [seat for seat, is_active in enumerate(self._active) if is_active]

    def _beats(self, card: str, attack: str) -> bool:
        """BM-1, BM-5.1: a card beats a lower one of its suit, and a trump beats a plain card.

        The red queen neither beats nor is beaten, whatever trumps are.
        """
        if self._queen in (card, attack):
            return False
        if suit(card) == suit(attack):
            return RANKS.index(rank(card)) > RANKS.index(rank(attack))
        return suit(card) == self._trump

    def _can_beat_all(self, attacks: list[str], hand: set[str]) -> bool:
        """BM-5.1, BM-5.6: whether distinct cards of a hand beat all these attack cards."""
        if not attacks:
            return True
        beaters = [card for card in hand if self._beats(card, attacks[0])]
        return any(self._can_beat_all(attacks[1:], hand - {card}) for card in beaters)

    def _unbeaten(self) -> list[str]:
        """The attack cards on which no beater lies."""
        return [card for card, _ in self._attack if card not in self._beaten_by]

    def _table(self) -> set[str]:
        """All cards on the table, beaters included."""
        return {card for card, _ in self._attack} | set(self._beaten_by.values())

    def _clear_table(self) -> None:
        """No card lies on the table."""
        self._attack: list[tuple[str, int]] = []
        self._beaten_by: dict[str, str] = {}
        self._used_exchanges: set[tuple[str, str]] = set()

    def _play_from_hand(self, seat: int, card: str) -> None:
        """Takes a card out of a hand; nobody knows it there any longer."""
        self._hands[seat].remove(card)
        self._known[seat].discard(card)

    def _pick_up(self, seat: int, cards: set[str]) -> None:
        """BM-7: cards that go from the table into a hand are known there."""
        self._hands[seat] |= cards
        self._known[seat] |= cards

    def _put_into_attack(self, seat: int, card: str) -> None:
        """BM-4.4: puts a card of a hand among the attack cards.

        Lower cards that are in the hand now are barred for the rest of the play, which ends when
        the player stops or the pile changes hands; a card drawn later is not barred.
        """
        self._play_from_hand(seat, card)
        self._attack.append((card, seat))
        self._barred |= {held for held in self._hands[seat] if DECK.index(held) < DECK.index(card)}

    def _of_attack_rank(self, seat: int) -> list[str]:
        """The cards in a hand that are of the rank of the attack."""
        return [card for card in self._hands[seat] if rank(card) == rank(self._attack[0][0])]

    def _addable(self, seat: int) -> list[str]:
        """BM-4.4: the cards of the attack rank that are not barred in this play."""
        return [card for card in self._of_attack_rank(seat) if card not in self._barred]

    def _draw_up(self, seat: int) -> None:
        """BM-3: a hand below three draws back to three at once, or all that is left.

        Drawing is progress (BM-6.3) and ends the proofs on the hand (BM-7.4).
        """
        while self._stock and len(self._hands[seat]) < HAND_FLOOR:
            card = self._stock.pop(0)
            self._hands[seat].add(card)
            self._known[seat] |= {card} & {self._upcard}
            self._draws[seat] += 1
            self._made_progress = True
            self._no_ranks[seat] = []
            self._no_beaters_of[seat] = []

    def _put_out_if_empty(self, seat: int) -> None:
        """BM-3: a player is out when his hand and the stock are empty."""
        if not self._hands[seat] and not self._stock:
            self._active[seat] = False
            self._made_progress = True

    def _stop_if_one_is_left(self) -> None:
        """BM-6.1: the game ends as soon as only one player is not out."""
        if len(self._remaining()) == 1:
            raise OnePlayerLeft

    def _finish_placement(self, seat: int) -> None:
        """BM-3: after a placement draw up, and be out at once; the defender only at turn's end."""
        self._draw_up(seat)
        if seat != self._defender:
            self._leave_if_empty(seat)

    def _leave_if_empty(self, seat: int) -> None:
        """BM-3: be out, which may end the game."""
        self._put_out_if_empty(seat)
        self._stop_if_one_is_left()

    # ---- The turn: lead, adding, responding --------------------------------------------------

    def _begin_turn(self, leader: int) -> None:
        """BM-4.1: the leader attacks the next player clockwise; the counts of the turn are zero."""
        self._leader = self._attacker = leader
        self._defender = self._nxt(leader)
        self._phase = "lead"
        self._draws = [0] * self._num_players
        self._made_progress = False
        self._barred: set[str] = set()
        self._clear_table()

    def _turn(self) -> Asking[int]:
        """BM-4, BM-5: one turn; gives the next leader."""
        yield from self._lead()
        yield from self._others_add()
        every_attack_beaten = yield from self._respond()
        self._put_out_if_empty(self._defender)
        self._turns += 1
        self._no_progress = 0 if self._made_progress else self._no_progress + 1
        self._stop_if_one_is_left()
        if every_attack_beaten and self._active[self._defender]:
            return self._defender
        return self._nxt(self._defender)

    def _lead(self) -> Asking[None]:
        """BM-4.1, BM-4.2: one card or several of a rank, in ascending order.

        The leader is asked again only while he holds a higher card of the rank. Others may not see
        when he stops (BM-7.3), so he draws only when they see something else: when a card is added,
        or when the defender's turn comes.
        """
        leader = self._leader
        action = yield from self._ask(leader, [f"lead {card}" for card in self._hands[leader]])
        self._put_into_attack(leader, cards_of(action)[0])
        self._phase = "adding"
        while self._addable(leader):
            adds = [f"add {card}" for card in self._addable(leader)]
            action = yield from self._ask(leader, [*adds, "stop"])
            if action == "stop":
                break
            self._put_into_attack(leader, cards_of(action)[0])
        self._leave_if_empty(leader)

    def _others_add(self) -> Asking[None]:
        """BM-4.3: all but leader and defender may add, once each, clockwise after the defender."""
        n = self._num_players
        for seat in [(self._defender + step) % n for step in range(1, n)]:
            if seat != self._leader and self._active[seat]:
                yield from self._adds_until_stop(seat)

    def _adds_until_stop(self, seat: int) -> Asking[None]:
        """BM-4.3: a player adds cards of the rank, drawing after each, until he stops or is out.

        He is asked even if he can only stop: to the others the two look alike.
        """
        self._barred = set()
        while self._active[seat]:
            adds = [f"add {card}" for card in self._addable(seat)]
            action = yield from self._ask(seat, [*adds, "stop"])
            if action == "stop":
                return
            self._draw_up(self._leader)
            self._put_into_attack(seat, cards_of(action)[0])
            self._finish_placement(seat)

    def _respond(self) -> Asking[bool]:
        """BM-5: the defender acts until all is beaten or taken; gives whether all was beaten.

        After a pass (BM-5.3) the new defender goes on.
        """
        self._draw_up(self._leader)
        self._phase = "responding"
        self._barred = set()
        effects: dict[str, Callable[..., None]] = {
            "beat": self._beat,
            "add": self._own,
            "pass": self._pass,
            "exchange": self._exchange,
            "done": self._done,
            "take": self._take,
        }
        while True:
            action = yield from self._ask(self._defender, self._responses())
            verb = action.split()[0]
            effects[verb](*cards_of(action))
            if verb in ("done", "take"):
                return verb == "done"

    def _responses(self) -> list[str]:
        """BM-5: all that the defender may do now."""
        return [
            *(f"beat {attack} with {card}" for attack, card in self._legal_beats()),
            *(f"add {card}" for card in self._legal_owns()),
            *(f"pass {card}" for card in self._legal_passes()),
            *(f"exchange {attack} with {card}" for attack, card in self._legal_exchanges()),
            *(["done"] if not self._unbeaten() else []),
            *(["take"] if self._may_take() else []),
        ]

    def _pairs(self, attacks: list[str]) -> list[tuple[str, str]]:
        """Each of these attack cards with each card of the defender's hand that beats it."""
        hand = self._hands[self._defender]
        return [(a, card) for a in attacks for card in hand if self._beats(card, a)]

    def _has_complete_answer(self) -> bool:
        """Whether cards now in the defender's hand beat all unbeaten cards, each its own."""
        return self._can_beat_all(self._unbeaten(), self._hands[self._defender])

    def _legal_beats(self) -> list[tuple[str, str]]:
        """BM-5.1: not a pile that cannot be beaten completely, unless only unbeaten cards count.

        That is: none with the red queen in the pile, and with an empty stock only while the hand
        holds a complete answer. With `pickup_scope='unbeaten'` any card at any time.
        """
        if self._options["pickup_scope"] == "all_table":
            is_hopeless = not self._stock and not self._has_complete_answer()
            if self._queen in self._table() or is_hopeless:
                return []
        return self._pairs(self._unbeaten())

    def _legal_owns(self) -> list[str]:
        """BM-5.2: while nothing is beaten, an own card of the rank; never with the red queen."""
        if self._beaten_by or self._queen in self._table():
            return []
        return [card for card in self._addable(self._defender) if card != self._queen]

    def _is_pass_open(self) -> bool:
        """BM-5.3: while nothing is beaten, to a player who is not out."""
        is_forward = self._options["pass_direction"] == "forward"
        return not self._beaten_by and (is_forward or self._active[self._attacker])

    def _legal_passes(self) -> list[str]:
        """BM-5.3: an own card of the rank, the red queen too; not bound by the order of BM-4.4."""
        return self._of_attack_rank(self._defender) if self._is_pass_open() else []

    def _legal_exchanges(self) -> list[tuple[str, str]]:
        """BM-5.4: after a draw in this turn, in any role, each pair once a turn."""
        if not self._options["exchange"] or not self._draws[self._defender]:
            return []
        pairs = self._pairs(list(self._beaten_by))
        return [pair for pair in pairs if pair not in self._used_exchanges]

    def _may_take(self) -> bool:
        """BM-5.6: while a card is unbeaten; by default only without a complete answer or a pass."""
        if self._options["pickup"] == "free":
            return bool(self._unbeaten())
        return not self._has_complete_answer() and not self._legal_passes()

    def _beat(self, attack: str, card: str) -> None:
        """BM-5.1: a beater goes onto an attack card; then draw."""
        self._play_from_hand(self._defender, card)
        self._beaten_by[attack] = card
        self._finish_placement(self._defender)

    def _own(self, card: str) -> None:
        """BM-5.2: an own card joins the attack, to be beaten as well; then draw."""
        self._put_into_attack(self._defender, card)
        self._finish_placement(self._defender)

    def _pass(self, card: str) -> None:
        """BM-5.3: the pile goes on with an own card; the passer, now attacker, draws or is out."""
        passer = self._defender
        self._put_into_attack(passer, card)
        is_back = self._options["pass_direction"] == "back"
        self._defender = self._attacker if is_back else self._nxt(passer)
        self._attacker = passer
        self._barred = set()
        self._finish_placement(passer)

    def _exchange(self, attack: str, card: str) -> None:
        """BM-5.4: another card beats the attack card and the beater returns, known, to the hand."""
        self._play_from_hand(self._defender, card)
        self._pick_up(self._defender, {self._beaten_by[attack]})
        self._beaten_by[attack] = card
        self._used_exchanges.add((attack, card))

    def _done(self) -> None:
        """BM-5.5: all attack cards and their beaters leave the game."""
        self._clear_table_with(taken=set())

    def _take(self) -> None:
        """BM-5.6: all of the table, or (`unbeaten`) the unbeaten cards with the rest discarded."""
        self._note_proofs()
        is_all = self._options["pickup_scope"] == "all_table"
        self._clear_table_with(taken=self._table() if is_all else set(self._unbeaten()))

    def _clear_table_with(self, taken: set[str]) -> None:
        """The defender takes some cards; the rest leave the game, which is progress (BM-6.3)."""
        gone = self._table() - taken
        self._waste |= gone
        self._made_progress |= bool(gone)
        self._pick_up(self._defender, taken)
        self._clear_table()

    def _note_proofs(self) -> None:
        """BM-7.4: what a compulsory pick-up shows of the hand before it; see `proofs`."""
        if self._options["pickup"] == "free":
            return
        if self._is_pass_open():
            self._no_ranks[self._defender].append(rank(self._attack[0][0]))
        if len(self._unbeaten()) == 1:
            self._no_beaters_of[self._defender].append(self._unbeaten()[0])
