"""A slow, naive Dreeg, written from the rules page alone, to hold a fast engine against.

An episode is one straight-line script: `_episode` plays phases, a phase plays deals, a deal has an
opening and tricks, in the order of the rule book, and wherever the rules ask a player the script
stops (a generator's `yield`) until `apply` hands it the answer. A deal that ends before its last
trick (going out, surrender, a failed durchmarsch) is an exception, since that can come in the
middle of a trick. Cards are text (`"TB"`), hands are sets, the talon is a list with its top card
first, rewards are fractions. References such as section 3 or DR-17 are those of the rules page;
"Nodes", "Rewards", "Closing" and the like are the points of its list "Decided while checking".
"""

from collections.abc import Callable, Generator, Iterable
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

RANKS = "9UOKTA"  # low to high
SUITS = "EBHG"
DECK = [rank + suit for suit in SUITS for rank in RANKS]  # in the order of the card ids
CARD_POINTS = {"A": 11, "T": 10, "K": 4, "O": 3, "U": 2, "9": 0}
ACE_OF_HEARTS = "AH"

SUBGAMES = ["deutsch", "ace_of_hearts", "rufen", "kamerun"]
PHASES = [*SUBGAMES, *reversed(SUBGAMES)]  # the sub-game of phase 1 stands first
STROKES = 7
GOING_OUT = 66
ENOUGH_TO_LOSE_ONE = 33
SMALLEST_TALON_TO_CLOSE = 4
TALON_TO_TURN_UP = 6
FIRST_PACKET = 3

DEFAULT_OPTIONS: dict[str, Any] = {
    "num_players": 4,
    "scope": "match",
    "subgame": "deutsch",
    "ruleset": "seed",
    "going_out": "auto",
    "skip_forced": True,
}

T = TypeVar("T")
Node = tuple[int, list[str]]  # the seat asked and its legal action texts
Asking = Generator[Node, str, T]  # a part of the rules that asks players and ends with a T
NextDeal = Callable[[dict[str, Any]], dict[str, Any]]
ChooseLoser = Callable[[list[int]], int]


class DealDecided(Exception):  # noqa: N818 - an event of the game, not an error
    """The deal ends here, before its last trick, with these awards (strokes per seat)."""

    def __init__(self, awards: list[int]) -> None:
        super().__init__(awards)
        self.awards = awards


def rank(card: str) -> str:
    """The rank letter of a card."""
    return card[0]


def suit(card: str) -> str:
    """The suit letter of a card."""
    return card[1]


def height(card: str) -> int:
    """Section 1: how high a card stands in its suit, the 9 lowest."""
    return RANKS.index(rank(card))


def highest(cards: Iterable[str]) -> str:
    """The highest of some cards of one suit."""
    return max(cards, key=height)


def of_suit(cards: Iterable[str], letter: str | None) -> list[str]:
    """The cards of a suit; none if there is no such suit (no trumps)."""
    return [card for card in cards if suit(card) == letter]


def above(cards: Iterable[str], card: str) -> list[str]:
    """Those of some cards of one suit that are higher than a card."""
    return [other for other in cards if height(other) > height(card)]


def strict_cards(hand: set[str], trick: list[str], trump: str | None) -> list[str]:
    """Section 2, strict play: the cards of a hand that may follow a trick so far.

    Follow suit and head the trick if possible, unless it is trumped already; without the suit,
    overtrump if possible, else trump, else anything.
    """
    led = suit(trick[0])
    following = of_suit(hand, led)
    trumps = of_suit(hand, trump)
    trumps_played = of_suit(trick, trump)
    if following:
        if led == trump or not trumps_played:
            return above(following, highest(of_suit(trick, led))) or following
        return following
    if trumps and trumps_played:
        return above(trumps, highest(trumps_played)) or trumps
    return trumps or list(hand)


def ranked_awards(scores: dict[int, Fraction], awards: list[int], tied: str) -> dict[int, int]:
    """Sections 4 and 8: awards by place, most points first; tied seats share one award.

    Args:
        scores: Points per seat, the winner of the last trick with half a point more.
        awards: What the places are worth, the first place first.
        tied: Whether tied seats get the "smallest" or the "largest" award of their places.
    """
    result = {}
    for seat, score in scores.items():
        higher = sum(other > score for other in scores.values())
        equal = sum(other == score for other in scores.values())
        places = awards[higher : higher + equal]
        result[seat] = min(places) if tied == "smallest" else max(places)
    return result


def strokes_against(points: int, tricks: int) -> int:
    """Section 3: what each winner erases, by the state of the other side."""
    if tricks == 0:
        return 3
    return 1 if points >= ENOUGH_TO_LOSE_ONE else 2


class DreegOracle:
    """One episode (a deal, a sub-game or a match) of Dreeg, one node at a time.

    Chance is asked of the caller. `next_deal(info)` gives every deal after the first as
    `{"hands": [...], "talon": "..."}`, with `""` for players who have dropped out, the first packet
    first in each hand, and a talon only for two players; `info` has

    * `number`: the number of the deal in the episode; the first, which is given, is 0, so 1 and up,
    * `phase`: 1..8, `subgame`: its name,
    * `dealer`: the seat that deals, perhaps without cards,
    * `active`: the seats that get cards, ascending.

    `choose_loser(losers)` gives one of several losers of a Kamerun phase (ascending seats): the one
    who elects the next dealer (`'seed'`) or whose right neighbour deals (`'pagat'`, DR-36). It is
    not called for one loser, nor after the last phase of the episode.

    Attributes:
        seat: Seat asked now, -1 when the episode is over.
        over: Whether the episode is over.
        truncated: Always False: every deal ends by itself.
    """

    def __init__(
        self,
        options: dict[str, Any],
        deal: dict[str, Any],
        next_deal: NextDeal | None = None,
        choose_loser: ChooseLoser | None = None,
    ) -> None:
        """Sets out the first deal and goes on to the first node.

        Args:
            options: Any of `DEFAULT_OPTIONS`; missing ones take the default.
            deal: The first deal as data; it is trusted, not checked.
            next_deal: Gives the later deals, see above.
            choose_loser: Picks one of several losers, see above.
        """
        self._options = DEFAULT_OPTIONS | options
        self._num_players: int = self._options["num_players"]
        self._next_deal = next_deal
        self._choose_loser = choose_loser
        self._dealer: int | None
        self._elector: int | None
        self._out: set[str]
        self._last_result = [0] * self._num_players
        self._deals_played = 0
        self.seat = -1
        self.over = False
        self.truncated = False
        self._legal: list[str] = []
        self._open_episode(deal)
        self._set_table(deal)
        self._script = self._episode()
        self._go_on(lambda: next(self._script))

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
        self._go_on(lambda: self._script.send(text))

    def returns(self) -> list[Fraction]:
        """Rewards: what the scope has paid each seat so far.

        A deal pays at its end. A match has paid at any time by the blobs that the seats have, those
        that a fixed deal brought along included; a sub-game by those that it has dealt out itself.
        """
        if self._options["scope"] == "deal":
            return self._rewards_of_deal()
        blobs = self._blobs
        if self._options["scope"] == "subgame":
            blobs = [now - before for now, before in zip(blobs, self._first_blobs, strict=True)]
        mean = Fraction(sum(blobs), len(blobs))
        return [mean - own for own in blobs]

    def hands(self) -> list[set[str]]:
        """All hands as far as they are dealt, for tests; in Rufen three cards before the call."""
        if self._is_dealt:
            return [set(hand) for hand in self._hands]
        return [set(packet[:FIRST_PACKET]) for packet in self._packets]

    def stock(self) -> list[str]:
        """The talon as it lies, top card first, for tests; undealt cards lie on it."""
        undealt = [] if self._is_dealt else self._clockwise_from(self._left_of(self._dealer or 0))
        rest = [card for seat in undealt for card in self._packets[seat][FIRST_PACKET:]]
        return [*rest, *self._talon]

    def first_packet(self) -> list[str]:
        """Forehand's first three cards, all that he sees at a Rufen call, for tests."""
        return list(self._first_packet)

    def public(self) -> dict[str, Any]:
        """What all know of the match and the present deal; at the end, of the last deal.

        `dealer` is None while he is elected; then the next phase counts as begun and no cards are
        dealt. `team` is the soloist, or caller and partner once all know them (None before that,
        nobody where there are no sides). `lacks` are all cards that a seat is proved not to hold.
        """
        snapshot = self._snapshot or ([0] * self._num_players, [0] * self._num_players)
        return {
            "phase": self._phase,
            "subgame": self._subgame,
            "strokes": list(self._strokes),
            "blobs": list(self._blobs),
            "dealer": self._dealer,
            "deals_played": self._deals_played,
            "last_result": list(self._last_result),
            "active": list(self._active),
            "out": set(self._out),
            "played": set(self._played),
            "trump": self._trump,
            "turned": self._turned,
            "called": self._called,
            "trick": list(self._trick),
            "tricks": list(self._tricks),
            "points": list(self._points),
            "declared": list(self._declared),
            "team": self._public_team(),
            "durchmarsch": self._durchmarsch,
            "talon_face_up": self._is_face_up,
            "talon_top": self._talon[0] if self._is_face_up and self._talon else None,
            "closer": self._closer,
            "closed_points": list(snapshot[0]),
            "closed_tricks": list(snapshot[1]),
            "lacks": [self._lacks(seat) for seat in self._seats()],
        }

    def _go_on(self, resume: Callable[[], Node]) -> None:
        """Runs the script of the rules up to the next node or to the end."""
        try:
            self.seat, self._legal = resume()
        except StopIteration:
            self.seat, self._legal = -1, []
            self.over = True
            self._stage = "over"

    def _ask(self, stage: str, seat: int, actions: Iterable[str]) -> Asking[str]:
        """Conventions, Node / decision: asks a seat; a forced node is played when skipped."""
        self._stage = stage
        legal = sorted(actions)
        assert legal, "the rules always leave a legal action"
        if self._options["skip_forced"] and len(legal) == 1:
            return legal[0]
        return (yield seat, legal)

    # ---- The match and its phases ------------------------------------------------------------

    def _open_episode(self, deal: dict[str, Any]) -> None:
        """Section 1, Deals: phase, strokes and blobs, as the first deal brings them along.

        Without a `phase` it is the first one of the deal's sub-game. Without `strokes` everybody
        who has cards has all seven.
        """
        is_match = self._options["scope"] == "match"
        default = PHASES[deal.get("phase", 1) - 1] if is_match else self._options["subgame"]
        subgame = deal.get("subgame", default)
        self._phase: int = deal.get("phase", PHASES.index(subgame) + 1)
        new_strokes = [STROKES if hand.split() else 0 for hand in deal["hands"]]
        self._strokes: list[int] = list(deal.get("strokes") or new_strokes)
        self._blobs: list[int] = list(deal.get("blobs") or [0] * self._num_players)
        self._first_blobs = list(self._blobs)

    @property
    def _subgame(self) -> str:
        """Section 1: the sub-game of the phase."""
        return PHASES[self._phase - 1]

    def _episode(self) -> Asking[None]:
        """Section 1: a deal, a phase, or the phases up to the eighth; losers get a blob each."""
        if self._options["scope"] == "deal":
            return (yield from self._deal())
        while True:
            losers = yield from self._deals_of_phase()
            for loser in losers:
                self._blobs[loser] += 1
            if self._options["scope"] == "subgame" or self._phase == len(PHASES):
                return
            yield from self._open_next_phase(losers)

    def _deals_of_phase(self) -> Asking[list[int]]:
        """Section 1: deals until the phase is lost; gives the losers, ascending."""
        while True:
            yield from self._deal()
            losers = self._losers_of_phase()
            if losers:
                return losers
            self._deal_next(self._next_dealer(), self._with_strokes())

    def _losers_of_phase(self) -> list[int]:
        """Section 1: Kamerun is lost by all without strokes, the others by the last with some."""
        remaining = self._with_strokes()
        if self._subgame == "kamerun":
            return [seat for seat in self._seats() if seat not in remaining]
        assert remaining, "in every deal somebody erases nothing"
        return remaining if len(remaining) == 1 else []

    def _with_strokes(self) -> list[int]:
        """The seats that have strokes left."""
        return [seat for seat in self._seats() if self._strokes[seat] > 0]

    def _next_dealer(self) -> int:
        """Section 1, DR-2: the next to the left (`'seed'`: right) among those who just played.

        He may have dropped out by that deal; then he deals once more, without cards (DR-37).
        """
        assert self._dealer is not None
        step = -1 if self._options["ruleset"] == "seed" else 1
        seat = (self._dealer + step) % self._num_players
        while seat not in self._active:
            seat = (seat + step) % self._num_players
        return seat

    def _open_next_phase(self, losers: list[int]) -> Asking[None]:
        """Section 1, DR-44: new strokes; the loser is forehand, or (`'seed'`) elects the dealer."""
        self._phase += 1
        self._strokes = [STROKES] * self._num_players
        decider = losers[0]
        if len(losers) > 1:
            assert self._choose_loser is not None, "several losers need a choice by chance"
            decider = self._choose_loser(list(losers))
        dealer = (decider - 1) % self._num_players
        if self._options["ruleset"] == "seed":
            dealer = yield from self._elect_dealer(decider)
        self._deal_next(dealer, list(self._seats()))

    def _elect_dealer(self, elector: int) -> Asking[int]:
        """DR-44: the loser elects anybody, himself included; nobody has cards meanwhile."""
        self._set_table({"hands": [""] * self._num_players, "dealer": elector})
        self._dealer, self._elector = None, elector
        self._active = list(self._seats())
        self._are_sides_public = False
        self._out = set()
        action = yield from self._ask("dealer", elector, [f"dealer {s}" for s in self._seats()])
        return int(action.split()[1])

    def _deal_next(self, dealer: int, active: list[int]) -> None:
        """Asks the caller for the cards of a later deal and sets it out."""
        assert self._next_deal is not None, "this scope needs its later deals"
        info = {
            "number": self._deals_played,
            "phase": self._phase,
            "subgame": self._subgame,
            "dealer": dealer,
            "active": active,
        }
        self._set_table(self._next_deal(info) | {"dealer": dealer})

    # ---- The table ---------------------------------------------------------------------------

    def _set_table(self, deal: dict[str, Any]) -> None:
        """Deals as data: sets out hands and talon; the players with cards are the active ones.

        Forehand is the first active player left of the dealer, or the `leader` given.
        """
        packets = [hand.split() for hand in deal["hands"]]
        self._hands: list[set[str]] = [set(hand) for hand in packets]
        self._talon: list[str] = deal.get("talon", "").split()
        self._out = set(DECK) - set(self._talon) - set().union(*self._hands)
        self._active = [seat for seat in self._seats() if self._hands[seat]]
        self._dealer = deal.get("dealer", 0)
        self._elector = None
        leader: int | None = deal.get("leader")
        self._forehand = self._left_of(deal.get("dealer", 0)) if leader is None else leader
        self._first_packet = packets[self._forehand][:FIRST_PACKET]
        self._packets = packets
        self._is_dealt = self._subgame != "rufen"
        self._leader = self._forehand
        self._stage = "lead"
        self._awards: list[int] | None = None
        self._clear_play()
        self._clear_proofs()
        self._turn_up_trump(packets, deal)

    def _clear_play(self) -> None:
        """Nothing has been played, won, declared or closed; everybody is on his own side."""
        n = self._num_players
        self._trump: str | None = None
        self._turned: str | None = None
        self._called: str | None = None
        self._trick: list[tuple[str, int]] = []
        self._last_suit: str | None = None
        self._played: dict[str, int] = {}
        self._tricks = [0] * n
        self._points = [0] * n
        self._declared = [0] * n
        self._marriages: list[tuple[int, str, int]] = []
        self._sides: list[list[int]] = [[seat] for seat in self._active]
        self._are_sides_public = not self._is_team_game()
        self._durchmarsch: int | None = None
        self._is_face_up = False
        self._closer: int | None = None
        self._snapshot: tuple[list[int], list[int]] | None = None

    def _clear_proofs(self) -> None:
        """Nothing is known of any hand or of the talon."""
        n = self._num_players
        self._known: list[set[str]] = [set() for _ in range(n)]
        self._known_bottom: str | None = None
        self._voids: list[set[str]] = [set() for _ in range(n)]
        self._caps: list[dict[str, str]] = [{} for _ in range(n)]
        self._not_called = [False] * n

    def _turn_up_trump(self, packets: list[list[str]], deal: dict[str, Any]) -> None:
        """Section 4, DR-20, DR-38: the turned-up trump of Deutsch.

        Two players: the indicator at the bottom of the talon; with an empty talon the deal names
        the suit. Otherwise the last card dealt, which its owner keeps: the dealer's, or that of the
        active player nearest to his right.
        """
        if self._subgame != "deutsch" or not self._active:
            return
        if self._is_for_two() and not self._talon:
            self._trump = deal["trump"]
            return
        if self._is_for_two():
            self._turned = self._known_bottom = self._talon[-1]
        else:
            owner = deal.get("dealer", 0)
            while owner not in self._active:
                owner = (owner - 1) % self._num_players
            self._turned = packets[owner][-1]
            self._known[owner].add(self._turned)
        self._trump = suit(self._turned)

    def _seats(self) -> range:
        """All seats of the match."""
        return range(self._num_players)

    def _left_of(self, seat: int) -> int:
        """The next active seat clockwise; the next seat where nobody has cards."""
        seat = (seat + 1) % self._num_players
        while self._active and seat not in self._active:
            seat = (seat + 1) % self._num_players
        return seat

    def _clockwise_from(self, seat: int) -> list[int]:
        """The active seats clockwise, this active seat first."""
        order = [seat]
        while self._left_of(order[-1]) != seat:
            order.append(self._left_of(order[-1]))
        return order

    def _is_for_two(self) -> bool:
        """Whether this is a two-player stage."""
        return len(self._active) == 2

    def _is_team_game(self) -> bool:
        """Sections 5 and 6: Ace of Hearts and Rufen with three or four players."""
        return self._subgame in ("ace_of_hearts", "rufen") and len(self._active) > 2

    def _is_seed_deutsch_for_two(self) -> bool:
        """DR-17: the two-player deal that `'seed'` always plays out."""
        is_seed = self._options["ruleset"] == "seed"
        return is_seed and self._subgame == "deutsch" and self._is_for_two()

    # ---- Sides and points --------------------------------------------------------------------

    def _side_of(self, seat: int) -> list[int]:
        """The seats on the side of a seat; of a player without cards, himself."""
        return next((side for side in self._sides if seat in side), [seat])

    def _others_than(self, side: list[int]) -> list[int]:
        """The active seats that are not on a side: in a team game the other side."""
        return [seat for seat in self._active if seat not in side]

    def _tricks_of(self, side: list[int]) -> int:
        """The tricks that a side has won."""
        return sum(self._tricks[seat] for seat in side)

    def _total(self, side: list[int]) -> int:
        """Section 2, Marriages: cards and marriages of a side, 0 without a trick."""
        if self._tricks_of(side) == 0:
            return 0
        return sum(self._points[seat] + self._declared[seat] for seat in side)

    def _part_sides(self, side: list[int]) -> None:
        """Sections 5 and 6: some seats are one side, all others the other."""
        self._sides = [side, self._others_than(side)]

    def _public_team(self) -> list[int] | None:
        """The soloist, or the caller and the partner: once all know them, else None.

        Nobody where there are no sides, or not yet.
        """
        is_uncalled = self._subgame == "rufen" and self._called is None
        if not self._is_team_game() or is_uncalled or self._elector is not None:
            return []
        return sorted(self._sides[0]) if self._are_sides_public else None

    def _all_zero(self) -> list[int]:
        """Awards of nothing."""
        return [0] * self._num_players

    def _award_each(self, seats: list[int], strokes: int) -> list[int]:
        """Awards of the same strokes to some seats and nothing to the others."""
        return [strokes if seat in seats else 0 for seat in self._seats()]

    def _award_by_state(self, winners: list[int]) -> list[int]:
        """Section 3: 3, 2 or 1 for each winner, by what the other side has now."""
        others = self._others_than(winners)
        strokes = strokes_against(self._total(others), self._tricks_of(others))
        return self._award_each(winners, strokes)

    # ---- The deal ----------------------------------------------------------------------------

    def _deal(self) -> Asking[None]:
        """A deal from its opening to the erasing of strokes."""
        try:
            yield from self._opening()
            yield from self._play_tricks()
            awards = self._awards_of_played_out_deal()
        except DealDecided as decided:
            awards = decided.awards
        self._awards = awards
        self._last_result = list(awards)
        self._deals_played += 1
        self._erase(awards)

    def _erase(self, awards: list[int]) -> None:
        """Sections 1 and 8: strokes never go below 0.

        Kamerun erases the threes first, then the twos, then the ones, and stops after the first
        group that brings somebody to 0.
        """
        groups = [[3], [2], [1]] if self._subgame == "kamerun" else [[3, 2, 1]]
        for group in groups:
            for seat in self._active:
                if awards[seat] in group:
                    self._strokes[seat] = max(0, self._strokes[seat] - awards[seat])
            if any(self._strokes[seat] == 0 for seat in self._active):
                return

    def _rewards_of_deal(self) -> list[Fraction]:
        """Rewards: own award minus the mean of the active players, in Kamerun the other way."""
        rewards = [Fraction(0)] * self._num_players
        if self._awards is None:
            return rewards
        mean = Fraction(sum(self._awards), len(self._active))
        for seat in self._active:
            gain = self._awards[seat] - mean
            rewards[seat] = -gain if self._subgame == "kamerun" else gain
        return rewards

    def _opening(self) -> Asking[None]:
        """Sections 4 to 8: what comes before the first lead."""
        if self._subgame == "ace_of_hearts":
            if self._is_for_two():
                yield from self._name_trumps_if_ace_is_held()
            else:
                yield from self._announce()
        elif self._subgame == "rufen":
            if self._is_for_two():
                yield from self._name_trumps(self._forehand)
            else:
                yield from self._call()

    def _name_trumps(self, seat: int) -> Asking[None]:
        """A player names any of the four suits as trump."""
        action = yield from self._ask("trump", seat, [f"trump {letter}" for letter in SUITS])
        self._trump = action.split()[1]
        self._is_dealt = True

    def _holder(self, card: str) -> int | None:
        """The seat that holds a card, or None."""
        return next((seat for seat in self._active if card in self._hands[seat]), None)

    def _name_trumps_if_ace_is_held(self) -> Asking[None]:
        """Section 5, two players: the holder of the ace of hearts declares it at once."""
        holder = self._holder(ACE_OF_HEARTS)
        if self._trump is None and holder is not None:
            self._known[holder].add(ACE_OF_HEARTS)
            yield from self._name_trumps(holder)

    def _announce(self) -> Asking[None]:
        """Section 5: the holder of the ace plays alone and names trumps, or surrenders."""
        soloist = self._holder(ACE_OF_HEARTS)
        assert soloist is not None, "somebody holds the ace of hearts"
        names = [f"trump {letter}" for letter in SUITS]
        self._part_sides([soloist])
        self._are_sides_public = True
        self._known[soloist].add(ACE_OF_HEARTS)
        action = yield from self._ask("trump", soloist, [*names, "surrender"])
        if action == "surrender":
            raise DealDecided(self._award_each(self._others_than([soloist]), 2))
        self._trump = action.split()[1]

    def _call(self) -> Asking[None]:
        """Section 6: forehand calls any card of a suit of his first three; the suit is trump.

        The holder is his partner. With a card of his own, or one that is out of play (which all can
        see), he is alone.
        """
        suits = {suit(card) for card in self._first_packet}
        calls = [f"call {card}" for card in DECK if suit(card) in suits]
        action = yield from self._ask("call", self._forehand, calls)
        self._called = action.split()[1]
        self._is_dealt = True
        self._trump = suit(self._called)
        holder = self._holder(self._called)
        self._part_sides([self._forehand] if holder is None else [*{self._forehand, holder}])
        self._are_sides_public = holder is None

    # ---- Tricks ------------------------------------------------------------------------------

    def _play_tricks(self) -> Asking[None]:
        """Section 4, Node order: tricks, and what may happen between two of them."""
        while True:
            yield from self._play_trick()
            if self._tricks_left() == 0:
                return
            if self._tricks_left() > 1:
                yield from self._window(self._leader)
            yield from self._before_draw()
            yield from self._draw()

    def _tricks_left(self) -> int:
        """Between two tricks: how many are still to be led; an open talon is drawn first."""
        to_draw = 0 if self._closer is not None else len(self._talon) // 2
        return len(self._hands[self._leader]) + to_draw

    def _play_trick(self) -> Asking[None]:
        """Section 2: the lead, the others clockwise, and the winner takes the trick."""
        yield from self._lead()
        for seat in self._clockwise_from(self._leader)[1:]:
            yield from self._follow(seat)
        self._take_trick()

    def _take_trick(self) -> None:
        """Sections 2, 6 and 8: the winner takes the trick and leads next.

        Whoever announced a durchmarsch must win it.
        """
        cards = [card for card, _ in self._trick]
        led = suit(cards[0])
        best = highest(of_suit(cards, self._trump) or of_suit(cards, led))
        self._leader = next(seat for card, seat in self._trick if card == best)
        self._tricks[self._leader] += 1
        self._points[self._leader] += sum(CARD_POINTS[rank(card)] for card in cards)
        self._last_suit = led
        self._trick = []
        if self._durchmarsch not in (None, self._leader):
            assert self._durchmarsch is not None
            raise DealDecided(self._award_each([self._durchmarsch], 3))

    def _put(self, seat: int, card: str) -> None:
        """Puts a card of a hand into the trick; the called card shows who the partner is."""
        self._hands[seat].remove(card)
        self._known[seat].discard(card)
        self._trick.append((card, seat))
        self._played[card] = seat
        if card == self._called:
            self._are_sides_public = True

    def _is_first_trick(self) -> bool:
        """Whether no trick has been won yet; a fixed deal starts as trick 1."""
        return sum(self._tricks) == 0

    # ---- The lead ----------------------------------------------------------------------------

    def _lead(self) -> Asking[None]:
        """Section 2, Nodes: nine, close and durchmarsch are asked with the lead, then it again."""
        effects = {"nine": self._nine, "close": self._close, "durchmarsch": self._announce_all}
        while True:
            action = yield from self._ask("lead", self._leader, self._lead_actions())
            if action not in effects:
                break
            effects[action]()
        verb, card = action.split()
        self._note_lead(card)
        self._put(self._leader, card)
        if verb == "marry":
            self._declare(card)
            yield from self._window(self._leader)

    def _lead_actions(self) -> list[str]:
        """All that the player on lead may do."""
        leads = self._legal_leads()
        return [
            *(f"lead {card}" for card in leads),
            *(f"marry {card}" for card in leads if self._may_marry(card)),
            *self._talon_actions(),
            *(["durchmarsch"] if self._may_announce_all() else []),
        ]

    def _legal_leads(self) -> list[str]:
        """Any card, but section 6: Rufen's first lead, and section 8: Kamerun's lead restriction.

        Rufen: the called card if forehand holds it, else a trump. Kamerun: not the suit of the
        trick before, unless all cards are of it or a durchmarsch has been announced (DR-29).
        """
        hand = self._hands[self._leader]
        if self._called is not None and self._is_first_trick():
            return [self._called] if self._called in hand else of_suit(hand, self._trump)
        if self._subgame == "kamerun" and self._durchmarsch is None:
            return [card for card in hand if suit(card) != self._last_suit] or list(hand)
        return list(hand)

    def _may_marry(self, card: str) -> bool:
        """Section 2, Marriages: K or O led from both; not in Kamerun."""
        pair = {"K" + suit(card), "O" + suit(card)}
        return self._subgame != "kamerun" and card in pair and pair <= self._hands[self._leader]

    def _declare(self, card: str) -> None:
        """Section 2, Marriages: 40 in what is trump now, else 20; the other half is known."""
        value = 40 if suit(card) == self._trump else 20
        other = {"K": "O", "O": "K"}[rank(card)] + suit(card)
        self._declared[self._leader] += value
        self._marriages.append((self._leader, suit(card), value))
        self._known[self._leader].add(other)

    def _may_announce_all(self) -> bool:
        """Section 8, DR-T25: only the winner of trick 1, before he leads to trick 2."""
        is_second_lead = sum(self._tricks) == 1
        return self._subgame == "kamerun" and is_second_lead and self._durchmarsch is None

    def _announce_all(self) -> None:
        """Section 8: the leader announces to win all tricks."""
        self._durchmarsch = self._leader

    def _note_lead(self, card: str) -> None:
        """Proofs kept: what a lead shows of the leader's hand.

        Rufen's first lead: not the called card, so he does not hold it. Kamerun: the suit of the
        trick before again, so he has no other.
        """
        if self._called is not None and self._is_first_trick() and card != self._called:
            self._not_called[self._leader] = True
        is_restricted = self._subgame == "kamerun" and self._durchmarsch is None
        if is_restricted and suit(card) == self._last_suit:
            self._voids[self._leader] |= set(SUITS) - {suit(card)}

    # ---- Following ---------------------------------------------------------------------------

    def _follow(self, seat: int) -> Asking[None]:
        """Section 2: one card of another player."""
        plays = [f"play {card}" for card in self._legal_follows(seat)]
        action = yield from self._ask("follow", seat, plays)
        card = action.split()[1]
        if not self._is_loose():
            self._note_follow(seat, card)
        self._put(seat, card)

    def _legal_follows(self, seat: int) -> list[str]:
        """Section 2, and section 6: the holder of the called card must play it to trick 1."""
        hand = self._hands[seat]
        if self._called is not None and self._called in hand:
            return [self._called]
        if self._is_loose():
            return list(hand)
        return strict_cards(hand, [card for card, _ in self._trick], self._trump)

    def _is_loose(self) -> bool:
        """Section 2, Loose play: two players, talon neither empty nor closed."""
        return bool(self._talon) and self._closer is None

    def _note_follow(self, seat: int, card: str) -> None:
        """Proofs kept: what strict play shows of a hand, just before the card is put.

        The called card must be played whatever else is held: it shows nothing. Any other card in
        the first trick of Rufen shows that its player is not the partner.
        """
        if card == self._called:
            return
        self._not_called[seat] |= self._called is not None and self._is_first_trick()
        cards = [other for other, _ in self._trick]
        led = suit(cards[0])
        trumps_played = of_suit(cards, self._trump)
        if suit(card) == led:
            if led == self._trump or not trumps_played:
                self._note_head(seat, card, highest(of_suit(cards, led)))
            return
        self._voids[seat].add(led)
        if self._trump is None:
            return
        if suit(card) != self._trump:
            self._voids[seat].add(self._trump)
        elif trumps_played:
            self._note_head(seat, card, highest(trumps_played))

    def _note_head(self, seat: int, card: str, best: str) -> None:
        """Who should head a card of the same suit and does not has none above it."""
        if height(card) < height(best):
            cap = self._caps[seat].get(suit(best), rank(best))
            self._caps[seat][suit(best)] = min(cap, rank(best), key=RANKS.index)

    def _lacks(self, seat: int) -> set[str]:
        """All cards that a seat is publicly proved not to hold, by void, cap, call or ace."""
        void = {card for card in DECK if suit(card) in self._voids[seat]}
        capped = {
            card
            for letter, cap in self._caps[seat].items()
            for card in above(of_suit(DECK, letter), cap + letter)
        }
        called = {self._called} if self._called and self._not_called[seat] else set()
        is_ace_missing = self._subgame == "ace_of_hearts" and self._is_for_two()
        is_ace_missing &= self._trump is None and self._stage != "trump" and seat in self._active
        return void | capped | called | ({ACE_OF_HEARTS} if is_ace_missing else set())

    # ---- The talon ---------------------------------------------------------------------------

    def _before_draw(self) -> Asking[None]:
        """Nodes: before the draw, asked only while the winner may swap the nine or close."""
        while self._talon_actions():
            actions = [*self._talon_actions(), "continue"]
            action = yield from self._ask("before_draw", self._leader, actions)
            if action == "continue":
                return
            if action == "nine":
                self._nine()
            else:
                self._close()

    def _talon_actions(self) -> list[str]:
        """What the player about to lead may do with the talon, before drawing or after it."""
        nine = ["nine"] if self._may_swap_nine() else []
        return [*nine, *(["close"] if self._may_close() else [])]

    def _may_swap_nine(self) -> bool:
        """Section 4, NINE: two-player Deutsch, after a trick won, while the indicator lies open."""
        is_deutsch = self._subgame == "deutsch" and self._is_for_two()
        is_open = bool(self._talon) and self._closer is None
        if not is_deutsch or not is_open or self._is_first_trick():
            return False
        return f"9{self._trump}" in self._hands[self._leader]

    def _nine(self) -> None:
        """Section 4, NINE: the trump 9 and the indicator change places for all to see."""
        nine, indicator = f"9{self._trump}", self._talon[-1]
        self._talon[-1] = self._known_bottom = nine
        self._hands[self._leader] ^= {nine, indicator}
        self._known[self._leader].discard(nine)
        self._known[self._leader].add(indicator)

    def _may_close(self) -> bool:
        """Section 7: once, while the talon has four cards or more, by a player about to lead.

        Without a card (before the draw, in a fixed deal of one card each) he cannot lead.
        """
        can_lead = bool(self._hands[self._leader])
        is_open = self._closer is None
        return can_lead and is_open and len(self._talon) >= SMALLEST_TALON_TO_CLOSE

    def _close(self) -> None:
        """Section 7: no more draws; both players' points and tricks are held fast.

        A face-up talon is turned down; the card that was visible lies known at the bottom.
        """
        self._closer = self._leader
        if not self._is_seed_deutsch_for_two():
            totals = [self._total(self._side_of(seat)) for seat in self._seats()]
            self._snapshot = (totals, list(self._tricks))
        if self._is_face_up:
            self._turn_talon_down()

    def _draw(self) -> Asking[None]:
        """Sections 4 and 5: winner and loser draw, the talon is turned, trumps are named."""
        if not self._talon or self._closer is not None:
            return
        for seat in self._clockwise_from(self._leader):
            self._draw_top(seat)
        if self._subgame == "ace_of_hearts":
            self._turn_talon()
            yield from self._name_trumps_if_ace_is_held()

    def _draw_top(self, seat: int) -> None:
        """A player draws the top card: a known one if the talon is face up or it was the bottom."""
        card = self._talon.pop(0)
        self._hands[seat].add(card)
        if self._is_face_up or card == self._known_bottom:
            self._known[seat].add(card)
        if not self._talon:
            self._known_bottom = None

    def _turn_talon(self) -> None:
        """Section 5: face up when a draw leaves six and the ace is out; down when it is drawn."""
        is_ace_held = self._holder(ACE_OF_HEARTS) is not None
        if self._is_face_up and (is_ace_held or not self._talon):
            self._turn_talon_down()
        elif self._trump is None and not is_ace_held and len(self._talon) == TALON_TO_TURN_UP:
            self._talon.reverse()
            self._is_face_up = True

    def _turn_talon_down(self) -> None:
        """Section 5: the order is reversed back; the card last visible is known at the bottom."""
        self._talon.reverse()
        self._is_face_up = False
        self._known_bottom = self._talon[-1] if self._talon else None

    # ---- Going out and the score -------------------------------------------------------------

    def _can_go_out(self) -> bool:
        """Section 3: the team games and every two-player deal, but not as in DR-17."""
        is_for_sides = self._is_for_two() or self._is_team_game()
        return is_for_sides and not self._is_seed_deutsch_for_two()

    def _window(self, seat: int) -> Asking[None]:
        """Section 3: a side that has just won a trick or declared a marriage may go out.

        `'auto'` does it with 66. `'manual'` asks the winner or declarer, then partners clockwise.
        There is no window while the side has no trick.
        """
        side = self._side_of(seat)
        if not self._can_go_out() or self._tricks_of(side) == 0:
            return
        if self._options["going_out"] == "auto":
            if self._total(side) >= GOING_OUT:
                self._go_out(side)
            return
        for member in self._clockwise_from(seat):
            if member in side:
                action = yield from self._ask("window", member, ["out", "continue"])
                if action == "out":
                    self._go_out(side)

    def _go_out(self, side: list[int]) -> NoReturn:
        """Section 3: a claim ends the deal, right or wrong."""
        is_right = self._total(side) >= GOING_OUT
        raise DealDecided(self._awards_of_right(side) if is_right else self._awards_of_wrong(side))

    def _awards_of_right(self, side: list[int]) -> list[int]:
        """Sections 3 and 7: by the other side's state; against the closer by the snapshot."""
        if self._closer is None or self._closer in side:
            return self._award_by_state(side)
        return self._award_each(side, self._strokes_by_snapshot())

    def _awards_of_wrong(self, side: list[int]) -> list[int]:
        """Sections 3 and 7, Closing: 2 for each opponent.

        3 against a closer who left him without a trick; always 2 for a closer.
        """
        others = self._others_than(side)
        strokes = 2
        if self._closer in side and self._snapshot is not None:
            _, tricks = self._snapshot
            strokes = 3 if any(tricks[seat] == 0 for seat in others) else 2
        return self._award_each(others, strokes)

    def _strokes_by_snapshot(self) -> int:
        """Section 7: what a closer who fails costs: 1 if both had 33, 2 if both a trick, else 3."""
        assert self._snapshot is not None
        points, tricks = self._snapshot
        return max(strokes_against(points[seat], tricks[seat]) for seat in self._active)

    def _awards_of_played_out_deal(self) -> list[int]:
        """The score after the last trick, whose winner is the leader now."""
        if self._subgame == "kamerun":
            return self._awards_of_kamerun()
        if self._is_seed_deutsch_for_two():
            return self._award_each([self._seat_with_most_points()], 1)
        if not self._can_go_out():
            return self._awards_of_deutsch()
        if self._closer is not None:
            return self._awards_of_closed_deal(self._closer)
        last = self._side_of(self._leader)
        reached = [side for side in self._sides if self._total(side) >= GOING_OUT]
        return self._award_by_state(reached[0]) if len(reached) == 1 else self._award_each(last, 1)

    def _awards_of_closed_deal(self, closer: int) -> list[int]:
        """Section 7: the closer wins only with 66 and the last trick; else by the snapshot."""
        if self._leader == closer and self._total([closer]) >= GOING_OUT:
            return self._award_by_state([closer])
        return self._award_each(self._others_than([closer]), self._strokes_by_snapshot())

    def _scores(self) -> dict[int, Fraction]:
        """Sections 4 and 8: points per active seat, half a point more for the last trick."""
        scores = {seat: Fraction(self._total([seat])) for seat in self._active}
        scores[self._leader] += Fraction(1, 2)
        return scores

    def _seat_with_most_points(self) -> int:
        """DR-17: of two, whoever has more points; the last trick breaks a tie."""
        scores = self._scores()
        return max(scores, key=lambda seat: scores[seat])

    def _awards_of_deutsch(self) -> list[int]:
        """Section 4, DR-39: 3/2/1/0 or 2/1/0 for most to fewest, ties the smallest award."""
        awards = ranked_awards(self._scores(), self._awards_by_place(), tied="smallest")
        return [awards.get(seat, 0) for seat in self._seats()]

    def _awards_by_place(self) -> list[int]:
        """Sections 4 and 8: 3/2/1/0 for four players, 2/1/0 for three."""
        return list(reversed(range(len(self._active))))

    def _awards_of_kamerun(self) -> list[int]:
        """Section 8, DR-32: as Deutsch, but ties the largest award, and nothing without a trick.

        All tricks: announced, 3 for every other player; unannounced, 3 for oneself.
        """
        if self._durchmarsch is not None:
            return self._award_each(self._others_than([self._durchmarsch]), 3)
        if self._tricks[self._leader] == sum(self._tricks):
            return self._award_each([self._leader], 3)
        awards = ranked_awards(self._scores(), self._awards_by_place(), tied="largest")
        with_tricks = [seat for seat in self._active if self._tricks[seat] > 0]
        return [awards[seat] if seat in with_tricks else 0 for seat in self._seats()]
