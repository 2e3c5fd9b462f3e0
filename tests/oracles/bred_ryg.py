"""A slow, naive Bred Ryg, written from the rules alone, to hold a fast engine against.

One game is one straight-line script: `_game` plays tricks, `_trick` plays its phases in the order
of the rule book, and wherever the rules ask a player the script stops (a generator's `yield`)
until `apply` hands it the answer. Cards are text (`"QC"`), hands are sets, the stock is a list
with its top card first, scores are fractions. References such as BR-3.5 are rules of
docs/games/bred_ryg.md; LEAD, ADD_L, EXTRA, ADD_O, ADD_R, REPLY, RESOLVE are the phases of a trick.
"""

from collections.abc import Callable, Generator, Iterable
from fractions import Fraction
from typing import Any, TypeVar

RANKS = "23456789TJQKA"
SUITS = "CDHS"
DECK = [rank + suit for suit in SUITS for rank in RANKS]  # in the order of the card ids
QUEEN = "QC"
HAND_FLOOR = 4
LAST_TRICK = 1000

DEFAULT_OPTIONS: dict[str, Any] = {
    "num_players": 3,
    "exposed_card": "bottom",
    "extra_card": True,
    "reward": "loser",
    "num_games": 1,
    "no_progress_limit": 100,
    "on_cap": "queen_holder",
    "skip_forced": True,
}

T = TypeVar("T")
Node = tuple[int, list[str]]  # the seat asked and its legal action texts
Asking = Generator[Node, str, T]  # a part of the rules that asks players and ends with a T


def rank(card: str) -> str:
    """The rank letter of a card."""
    return card[0]


def suit(card: str) -> str:
    """The suit letter of a card."""
    return card[1]


def card_of(action: str) -> str:
    """The card that an action text such as `add 5C` names."""
    return action.split()[1]


def of_rank(cards: Iterable[str], wanted: str) -> list[str]:
    """The cards of one rank."""
    return [card for card in cards if rank(card) == wanted]


def beats(card: str, attack: str, trump: str) -> bool:
    """BR-1.3, BR-1.4: the queen of clubs, and what beats what.

    A card beats a lower one of its suit, and a trump beats every plain card; the queen of clubs
    neither beats nor is beaten, whatever trumps are.
    """
    if QUEEN in (card, attack):
        return False
    if suit(card) == suit(attack):
        return RANKS.index(rank(card)) > RANKS.index(rank(attack))
    return suit(card) == trump


class BredRygOracle:
    """One episode (a match of one or more games) of Bred Ryg, one node at a time.

    Attributes:
        seat: Seat asked now, -1 when the episode is over.
        over: Whether the episode is over.
        truncated: Whether the cap (BR-6.3) ended any game of the episode.
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
        """The scores of the finished games, summed, per seat (BR-6.6)."""
        return list(self._scores)

    def hands(self) -> list[set[str]]:
        """All hands, for tests."""
        return [set(hand) for hand in self._hands]

    def stock(self) -> list[str]:
        """The stock, top card first, for tests."""
        return list(self._stock)

    def public(self) -> dict[str, Any]:
        """What all know of the current game; at the end the roles are those of the last trick."""
        above = [depth for depth, card in enumerate(self._stock) if card == self._exposed]
        return {
            "trump": self._trump,
            "exposed": self._exposed,
            "exposed_in_stock": bool(above),
            "exposed_depth": above[0] if above else None,
            "phase": self._phase,
            "leader": self._leader,
            "replier": self._replier,
            "attack": [[card, seat] for card, seat in self._attack],
            "answered": self._answered,
            "taken": set(self._taken),
            "waste": set(self._waste),
            "hand_sizes": [len(hand) for hand in self._hands],
            "stock_size": len(self._stock),
            "known": [set(cards) for cards in self._known],
            "active": list(self._active),
            "no_progress": self._no_progress,
            "tricks": self._tricks,
            "games_played": self._games_played,
            "dealer": self._dealer,
        }

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
        if self._options["skip_forced"] and len(legal) == 1:
            return legal[0]
        return (yield seat, legal)

    # ---- The match and its games -------------------------------------------------------------

    def _match(self, deal: dict[str, Any]) -> Asking[None]:
        """BR-6.6: the games are summed and the dealer rotates clockwise."""
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
        """BR-2, BR-8: set up a game from a deal as data.

        A deal is not topped up, a seat dealt no card is out from the start, and cards that stand
        nowhere are out of play for all to see.
        """
        self._hands: list[set[str]] = [set(hand.split()) for hand in deal["hands"]]
        self._stock: list[str] = deal.get("stock", "").split()
        self._waste: set[str] = set(DECK) - set(self._stock) - set().union(*self._hands)
        self._active = [bool(hand) for hand in self._hands]
        self._expose_trump(deal)
        self._dealer: int = deal.get("dealer", 0)
        leader: int | None = deal.get("leader")
        self._leader: int = self._nxt(self._dealer) if leader is None else leader
        self._replier = self._nxt(self._leader)
        self._phase = "lead"
        self._no_progress = 0
        self._tricks = 0
        self._clear_trick()

    def _expose_trump(self, deal: dict[str, Any]) -> None:
        """BR-2.3: the exposed card makes trumps; in both places it is where the stock has it.

        It is the last of the stock unless the deal names another, which may also lie in a hand
        (then it is publicly known there) or out of play.
        """
        last_of_stock = self._stock[-1] if self._stock else None
        self._exposed: str | None = deal.get("exposed") or last_of_stock
        self._trump: str = suit(self._exposed) if self._exposed else deal["trump"]
        self._known: list[set[str]] = [hand & {self._exposed or ""} for hand in self._hands]

    def _game(self) -> Asking[list[Fraction]]:
        """BR-5.4, BR-6.3: tricks until one player is left, or the cap; gives the game's scores."""
        while True:
            every_attack_beaten = yield from self._trick()
            remaining = [seat for seat, is_active in enumerate(self._active) if is_active]
            if len(remaining) <= 1:  # RESOLVE step 4; a finished game wins over the cap
                return self._scores_with(losers=remaining)
            is_stalling = self._no_progress >= self._options["no_progress_limit"]
            if is_stalling or self._tricks >= LAST_TRICK:  # BR-6.3
                self.truncated = True
                return self._scores_with(losers=self._losers_at_cap(remaining))
            self._leader = self._next_leader(every_attack_beaten)

    def _losers_at_cap(self, remaining: list[int]) -> list[int]:
        """BR-6.4, `on_cap`: nobody, or the holder of the queen, or else all active players."""
        if self._options["on_cap"] == "draw":
            return []
        holder = [seat for seat in remaining if QUEEN in self._hands[seat]]
        return holder if holder and self._options["on_cap"] == "queen_holder" else remaining

    def _scores_with(self, losers: list[int]) -> list[Fraction]:
        """BR-6.1, BR-6.2: the losers split the -1; `zero_sum` maps s to (ns+1)/(n-1).

        Without a loser (BR-6.5, only in a deal without the queen, and BR-6.4) the game is a draw,
        0 for all with either reward.
        """
        n = self._num_players
        scores = [Fraction(-1, len(losers)) if p in losers else Fraction(0) for p in range(n)]
        if losers and self._options["reward"] == "zero_sum":
            return [(n * score + 1) / (n - 1) for score in scores]
        return scores

    # ---- The trick: LEAD, ADD_L, EXTRA, ADD_O, ADD_R, REPLY, RESOLVE -------------------------

    def _nxt(self, seat: int) -> int:
        """BR-3.1: the next seat clockwise that is still active."""
        seat = (seat + 1) % self._num_players
        while not self._active[seat]:
            seat = (seat + 1) % self._num_players
        return seat

    def _observers(self) -> list[int]:
        """BR-3.1: the other active players, clockwise from nxt(R)."""
        n = self._num_players
        clockwise = [(self._replier + step) % n for step in range(1, n)]
        return [seat for seat in clockwise if self._active[seat] and seat != self._leader]

    def _trick(self) -> Asking[bool]:
        """BR-3, BR-4: one trick; gives whether every attack was beaten."""
        self._replier = self._nxt(self._leader)
        yield from self._lead()
        yield from self._adds_while_room(self._leader)
        yield from self._leader_plays_extra_card()
        for observer in self._observers():
            yield from self._adds_while_room(observer)
        yield from self._replier_adds()
        discarded = yield from self._reply()
        every_attack_beaten = not self._taken
        self._resolve(discarded)
        return every_attack_beaten

    def _lead(self) -> Asking[None]:
        """LEAD, BR-3.2: the leader must play a card, any card, also the queen."""
        self._phase = "lead"
        hand = self._hands[self._leader]
        action = yield from self._ask(self._leader, [f"lead {card}" for card in hand])
        self._attack_with(self._leader, card_of(action))
        self._phase = "adding"

    def _adds_while_room(self, seat: int) -> Asking[None]:
        """ADD_L, ADD_O, BR-3.4, BR-3.6: leader and observers may add cards of the rank led."""
        while self._has_room() and self._hands[seat]:
            if not (yield from self._adds_a_card(seat)):
                return

    def _leader_plays_extra_card(self) -> Asking[None]:
        """EXTRA, BR-3.5: having put two cards of the rank, one card of any other rank, once."""
        hand = self._hands[self._leader]
        put_by_leader = self._cards_put_by(self._leader)
        if not self._options["extra_card"] or len(put_by_leader) < 2:
            return
        if not self._has_room() or not hand:
            return
        extras = [f"extra {card}" for card in hand if rank(card) != self._rank_led()]
        action = yield from self._ask(self._leader, [*extras, "pass"])
        if action != "pass":
            self._attack_with(self._leader, card_of(action))

    def _replier_adds(self) -> Asking[None]:
        """ADD_R, BR-3.7: as the others, if an answer for every attack card stays in hand."""
        while len(self._attack) + 1 <= len(self._hands[self._replier]) - 1:
            if not (yield from self._adds_a_card(self._replier)):
                return

    def _adds_a_card(self, seat: int) -> Asking[bool]:
        """Conventions, one encoding: a seat's cards of the rank come in ascending card id.

        The seat is asked even if only the pass is legal: a player who cannot add looks to the
        others like one who chose not to. Gives whether a card was added.
        """
        last_id = max((DECK.index(card) for card in self._cards_put_by(seat)), default=-1)
        fitting = of_rank(self._hands[seat], self._rank_led())
        adds = [f"add {card}" for card in fitting if DECK.index(card) > last_id]
        action = yield from self._ask(seat, [*adds, "pass"])
        if action == "pass":
            return False
        self._attack_with(seat, card_of(action))
        return True

    def _has_room(self) -> bool:
        """BR-3.3: never more attack cards than the replier has cards, stock or not."""
        return len(self._attack) < len(self._hands[self._replier])

    def _rank_led(self) -> str:
        """The rank of the first attack card."""
        return rank(self._attack[0][0])

    def _cards_put_by(self, seat: int) -> list[str]:
        """The attack cards of a seat that are of the rank led."""
        return of_rank([card for card, put_by in self._attack if put_by == seat], self._rank_led())

    def _attack_with(self, seat: int, card: str) -> None:
        """Puts a card of a hand among the attack cards."""
        self._play_from_hand(seat, card)
        self._attack.append((card, seat))

    def _play_from_hand(self, seat: int, card: str) -> None:
        """Takes a card out of a hand; nobody knows it there any longer."""
        self._hands[seat].remove(card)
        self._known[seat].discard(card)

    def _reply(self) -> Asking[bool]:
        """REPLY, BR-4: each attack card in its order is beaten or taken, as the replier likes.

        A taken card is set aside, so it cannot be used in the same trick (BR-4.3). Gives whether
        any card was discarded.
        """
        self._phase = "replying"
        discarded = False
        for attack, _ in self._attack:
            hand = self._hands[self._replier]
            beating = [f"beat {card}" for card in hand if beats(card, attack, self._trump)]
            action = yield from self._ask(self._replier, [*beating, "take"])
            if action == "take":
                self._taken.add(attack)
            else:
                self._play_from_hand(self._replier, card_of(action))
                self._waste |= {attack, card_of(action)}
                discarded = True
            self._answered += 1
        return discarded

    def _resolve(self, discarded: bool) -> None:
        """RESOLVE, BR-5.1 to BR-5.3, and the count of tricks without progress (BR-6.3)."""
        self._hands[self._replier] |= self._taken
        self._known[self._replier] |= self._taken
        drew = self._top_up()
        went_out = self._put_empty_hands_out()
        self._tricks += 1
        self._no_progress = 0 if drew or discarded or went_out else self._no_progress + 1
        self._clear_trick()

    def _top_up(self) -> bool:
        """RESOLVE, BR-5.2: replier, leader, observers draw what they need.

        Gives whether any card was drawn.
        """
        drew = False
        for seat in [self._replier, self._leader, *self._observers()]:
            while self._stock and len(self._hands[seat]) < HAND_FLOOR:
                card = self._stock.pop(0)
                self._hands[seat].add(card)
                drew = True
                if card == self._exposed:
                    self._known[seat].add(card)
        return drew

    def _put_empty_hands_out(self) -> bool:
        """RESOLVE, BR-5.3: a player with no card is out; gives whether anybody went out."""
        was_active = self._active
        self._active = [bool(hand) for hand in self._hands]
        return self._active != was_active

    def _clear_trick(self) -> None:
        """No attack card lies on the table."""
        self._attack: list[tuple[str, int]] = []
        self._taken: set[str] = set()
        self._answered = 0

    def _next_leader(self, every_attack_beaten: bool) -> int:
        """RESOLVE, BR-5.5: the replier who did beat all leads, else nxt(R)."""
        if every_attack_beaten and self._active[self._replier]:
            return self._replier
        return self._nxt(self._replier)
