"""A slow, naive Bräus, written from the rules alone, to hold a fast engine against.

One deal is one straight-line script: `_deal` gives turns on lead, `_turn_on_lead` lays, leads or
passes in the order of the rule book, and wherever the rules ask a player the script stops (a
generator's `yield`) until `apply` hands it the answer. Cards are text (`"JC"`), hands are sets,
scores are fractions. References such as BZ-4.1 are rules of docs/games/braus.md.
"""

from collections.abc import Callable, Generator, Iterable
from fractions import Fraction
from typing import Any, TypeVar

RANKS = "6789TJQKA"
SUITS = "CDHS"
DECK = [rank + suit for suit in SUITS for rank in RANKS]  # in the order of the card ids

TOP_STRENGTH = 18
LIVE_FROM_THE_TOP = "JC 8S KH 9C 9S 9H 9D AC AS AH AD JS JH JD 6C 6S 6H 6D"
STRENGTH = {card: TOP_STRENGTH - below for below, card in enumerate(LIVE_FROM_THE_TOP.split())}
SEVENS = {"7C", "7D", "7H", "7S"}
DUDS = set(DECK) - set(STRENGTH) - SEVENS
KING_OF_CLUBS = "KC"

TRICKS_TO_WIN = 6
TRICKS_FOR_THE_KING = 5
STROKES_TO_WIN = 6
TEAMS = (0, 1)

DEFAULT_OPTIONS: dict[str, Any] = {
    "num_players": 4,
    "scope": "deal",
    "sevens": "forced",
    "king_of_clubs": "exhaustion",
    "skip_forced": True,
}

T = TypeVar("T")
Node = tuple[int, list[str]]  # the seat asked and its legal action texts
Asking = Generator[Node, str, T]  # a part of the rules that asks players and ends with a T


def team_of(seat: int) -> int:
    """BZ-1: the even seats are team 0, the odd seats team 1."""
    return seat % 2


def card_of(action: str) -> str:
    """The card that an action text such as `play 9H` names."""
    return action.split()[1]


def live_cards(cards: Iterable[str]) -> list[str]:
    """BZ-1: the cards that have a strength; sevens and duds have none."""
    return [card for card in cards if card in STRENGTH]


def beats(card: str, best: str) -> bool:
    """BZ-1: only strength counts among live cards, never the suit led; nothing else beats."""
    return card in STRENGTH and STRENGTH[card] > STRENGTH[best]


class BrausOracle:
    """One episode (a deal, or a match of deals) of Bräus, one node at a time.

    Attributes:
        seat: Seat asked now, -1 when the episode is over.
        over: Whether the episode is over.
        truncated: Always False: every deal ends by itself.
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
            next_deal: Gives each later deal of a match from its dealer's seat.
        """
        self._options = DEFAULT_OPTIONS | options
        self._num_players: int = self._options["num_players"]
        self._next_deal = next_deal
        self._strokes: list[int] = list(deal.get("strokes") or [0, 0])
        self._last_result = [0, 0]
        self._games_played = 0
        self._returns = [Fraction(0)] * self._num_players
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
        """What the episode pays each seat: nothing before its end (BZ-5)."""
        return list(self._returns)

    def hands(self) -> list[set[str]]:
        """All hands, for tests."""
        return [set(hand) for hand in self._hands]

    def stock(self) -> list[str]:
        """The stock, for tests: Bräus has none."""
        return []

    def public(self) -> dict[str, Any]:
        """What all know of the present deal (BZ-6); at the end, of the last deal.

        Between two tricks `trick` is empty and `best` None. At the end `leader` is who would have
        been on lead next.
        """
        return {
            "phase": self._phase,
            "leader": self._leader,
            "best": self._trick[-1][0] if self._trick else None,
            "trick": list(self._trick),
            "played": set(self._played),
            "out": set(self._out),
            "sevens": set(self._sevens_laid),
            "caps": list(self._caps),
            "no_seven": list(self._no_seven),
            "no_king": list(self._no_king),
            "hand_sizes": [len(hand) for hand in self._hands],
            "tricks": list(self._tricks),
            "strokes": list(self._strokes),
            "lead_passes": self._lead_passes,
            "dealer": self._dealer,
            "games_played": self._games_played,
            "last_result": list(self._last_result),
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

    # ---- The match and its deals -------------------------------------------------------------

    def _match(self, deal: dict[str, Any]) -> Asking[None]:
        """BZ-5.4, BZ-5.5: deals until a team has six strokes, or one deal with `scope='deal'`.

        The deal passes to the left, but after an undecided deal the same dealer deals again.
        """
        self._set_table(deal)
        while True:
            result = yield from self._deal()
            self._last_result = result
            self._strokes = [self._strokes[team] + result[team] for team in TEAMS]
            self._games_played += 1
            if self._options["scope"] == "deal":
                return self._pay(result[0] - result[1])
            if max(self._strokes) >= STROKES_TO_WIN:
                return self._pay(1 if self._strokes[0] >= STROKES_TO_WIN else -1)
            assert self._next_deal is not None, "a match needs its later deals"
            is_undecided = result == [0, 0]
            dealer = self._dealer if is_undecided else self._left_of(self._dealer)
            self._set_table(self._next_deal(dealer) | {"dealer": dealer})

    def _pay(self, to_team_0: int) -> None:
        """BZ-5: what one team wins the other loses, in full on every seat."""
        payments = [Fraction(to_team_0), Fraction(-to_team_0)]
        self._returns = [payments[team_of(seat)] for seat in range(self._num_players)]

    def _set_table(self, deal: dict[str, Any]) -> None:
        """BZ-2, BZ-7: sets up a deal from data; the left of the dealer is on lead by default.

        Cards that stand in no hand are out of play for all to see.
        """
        self._hands: list[set[str]] = [set(hand.split()) for hand in deal["hands"]]
        self._out = set(DECK) - set().union(*self._hands)
        self._tricks: list[int] = list(deal.get("tricks") or [0, 0])
        self._dealer: int = deal.get("dealer", 0)
        leader: int | None = deal.get("leader")
        self._leader: int = self._left_of(self._dealer) if leader is None else leader
        self._phase = "lead"
        self._trick: list[tuple[str, int]] = []
        self._played: set[str] = set()
        self._sevens_laid: set[str] = set()
        self._lead_passes = 0
        self._caps = [TOP_STRENGTH] * self._num_players
        self._no_seven = [False] * self._num_players
        self._no_king = [False, False]

    def _left_of(self, seat: int) -> int:
        """The next seat clockwise; every seat stays active to the end, also with no card."""
        return (seat + 1) % self._num_players

    def _deal(self) -> Asking[list[int]]:
        """BZ-3.4, BZ-5: turns on lead until the deal is won or the lead has gone round in vain.

        Gives the strokes of each team.
        """
        while self._goes_on() and self._lead_passes < self._num_players:
            yield from self._turn_on_lead()
        return self._strokes_of_deal()

    def _goes_on(self) -> bool:
        """BZ-5.1, BZ-5.3: the sixth trick ends the deal, `'immediate'` also the fifth and KC.

        Asked at the start and after every trick, also after a seven. If play goes on at five
        tricks with `'immediate'`, all know that this team does not hold the king.
        """
        is_immediate = self._options["king_of_clubs"] == "immediate"
        if any(tricks >= TRICKS_TO_WIN for tricks in self._tricks):
            return False
        if is_immediate and any(self._king_counts_for(team) for team in TEAMS):
            return False
        for team in TEAMS:
            if is_immediate and self._tricks[team] == TRICKS_FOR_THE_KING:
                self._no_king[team] = True
        return True

    def _king_counts_for(self, team: int) -> bool:
        """BZ-5.3: whether a team has five tricks and the king of clubs in one of its hands."""
        seats = [seat for seat in range(self._num_players) if team_of(seat) == team]
        holds_king = any(KING_OF_CLUBS in self._hands[seat] for seat in seats)
        return self._tricks[team] == TRICKS_FOR_THE_KING and holds_king

    def _strokes_of_deal(self) -> list[int]:
        """BZ-5.1 to BZ-5.4: six tricks 1 stroke, six to none (jan) 2, five and the king 1."""
        for team in TEAMS:
            if self._tricks[team] >= TRICKS_TO_WIN:
                is_jan = self._tricks[1 - team] == 0
                return self._strokes_for(team, 2 if is_jan else 1)
        for team in TEAMS:
            if self._king_counts_for(team):
                return self._strokes_for(team, 1)
        return [0, 0]

    def _strokes_for(self, team: int, strokes: int) -> list[int]:
        """The strokes of each team where one team wins them all."""
        return [strokes, 0] if team == 0 else [0, strokes]

    # ---- On lead -----------------------------------------------------------------------------

    def _turn_on_lead(self) -> Asking[None]:
        """BZ-3: the leader lays a seven, leads a live card (a trick follows), or passes the lead.

        With `sevens='forced'` all his sevens are laid for him before he is asked.
        """
        self._phase = "lead"
        if self._options["sevens"] == "forced":
            self._lay_all_sevens()
            if not self._goes_on():
                return
            self._no_seven[self._leader] = True
        action = yield from self._ask(self._leader, self._actions_on_lead())
        if action == "pass":
            self._pass_the_lead_on()
        elif action.startswith("lay"):
            self._lay(card_of(action))
        else:
            yield from self._play_trick(card_of(action))

    def _lay_all_sevens(self) -> None:
        """BZ-3.1: in ascending card id, each a trick; the sixth trick leaves the rest in hand."""
        for seven in sorted(self._hands[self._leader] & SEVENS, key=DECK.index):
            self._lay(seven)
            if not self._goes_on():
                return

    def _lay(self, seven: str) -> None:
        """BZ-3.1: a seven laid on lead is a trick for the team; the player stays on lead."""
        self._hands[self._leader].remove(seven)
        self._sevens_laid.add(seven)
        self._tricks[team_of(self._leader)] += 1

    def _actions_on_lead(self) -> list[str]:
        """BZ-3.1 to BZ-3.3: any seven (`'optional'`), any live card; a pass only without both.

        With `'forced'` no seven is left in the leader's hand when he is asked.
        """
        hand = self._hands[self._leader]
        lays = [f"lay {seven}" for seven in hand & SEVENS]
        leads = [f"lead {card}" for card in live_cards(hand)]
        return [*lays, *leads] or ["pass"]

    def _pass_the_lead_on(self) -> None:
        """BZ-3.3, BZ-6: the lead goes to the left; who passes it has shown to hold only duds."""
        self._caps[self._leader] = 0
        self._no_seven[self._leader] = True
        self._lead_passes += 1
        self._leader = self._left_of(self._leader)

    # ---- The trick ---------------------------------------------------------------------------

    def _play_trick(self, card: str) -> Asking[None]:
        """BZ-3.2, BZ-4: the card led, each other player once clockwise, and the winner leads."""
        self._lead_passes = 0
        self._put(self._leader, card)
        self._phase = "follow"
        seat = self._left_of(self._leader)
        while seat != self._leader:
            yield from self._follow(seat)
            seat = self._left_of(seat)
        self._leader = self._winner()
        self._tricks[team_of(self._leader)] += 1
        self._trick = []

    def _follow(self, seat: int) -> Asking[None]:
        """BZ-4.1, BZ-4.2: beat the best card with any stronger one; pass only if unable."""
        best = self._trick[-1][0]
        plays = [f"play {card}" for card in self._hands[seat] if beats(card, best)]
        action = yield from self._ask(seat, plays or ["pass"])
        if action == "pass":
            self._caps[seat] = min(self._caps[seat], STRENGTH[best])  # BZ-6
        else:
            self._put(seat, card_of(action))

    def _put(self, seat: int, card: str) -> None:
        """Puts a live card of a hand into the trick."""
        self._hands[seat].remove(card)
        self._trick.append((card, seat))
        self._played.add(card)

    def _winner(self) -> int:
        """BZ-4.3: the seat of the strongest card."""
        _, seat = max(self._trick, key=lambda played: STRENGTH[played[0]])
        return seat
