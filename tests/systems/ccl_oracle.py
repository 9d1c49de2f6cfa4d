"""CCL once more, slowly: dictionaries, Python lists and searches along all paths of links.

Nothing here is shared with the system, and nothing is remembered that can be found again:
reach and paths are searched for in the graph of links, records are dictionaries, numbers are
Python's, rounded to single precision after every operation.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

L, R = 0, 1
ADJ, CLASS = 0, 1
NEVER = 2  # a depth that no link has
STOPS = {".", "?", "!", ";", ",", "--"}
QUOTES = {"``", "''", "`", "'"}
PUNCTUATION = STOPS | QUOTES | {":", "...", "-", "(", ")", "-LCB-", "-LRB-", "-RCB-", "-RRB-"}


def f32(x: float) -> float:
    return float(np.float32(x))


def ratio(x: float, y: float) -> float:
    return f32(x / y) if y else 0.0


class TopList:
    """Strengths by key; the ten strongest in order, the newest first among equals."""

    def __init__(self, size: int = 10) -> None:
        self.size, self.strength, self.order = size, {}, []

    def put(self, key, strength: float) -> None:
        self.strength[key] = strength
        if key in self.order:
            self.order.remove(key)
        at = 0
        while at < len(self.order) and self.strength[self.order[at]] > strength:
            at += 1
        self.order.insert(at, key)
        del self.order[self.size :]

    def items(self):
        return [(key, self.strength[key]) for key in self.order]


class Record:
    def __init__(self) -> None:
        self.learn = self.block = self.out = self.inn = self.star = 0.0
        self.seen = TopList()

    def frozen(self) -> dict:
        stronger = sum(s > self.block for _, s in self.seen.items())
        strongest = self.seen.items()[0][1] if self.seen.order else 0.0
        return {
            "learn": self.learn, "out": self.out, "in": self.inn,
            "labels": len(self.seen.order), "stronger": stronger, "strongest": strongest,
        }  # fmt: skip


class Token:
    def __init__(self, word: str, lexicon, faithful: bool) -> None:
        self.word = word
        self.stop = [False, False]
        self.frozen = [lexicon.record(word, side, 0).frozen() for side in (L, R)]
        self.used = [defaultdict(bool), defaultdict(bool)]
        self.names = [{}, {}]  # strength by label, whether it fits the list or not
        self.labels = [TopList(), TopList()]  # keys are (label, named)
        for side in (L, R):
            self.names[side][ADJ, word] = 1.0
            self.labels[side].put(((ADJ, word), True), 1.0)
        for side in (L, R):
            record = lexicon.record(word, side, 0)
            for (kind, z), seen in record.seen.items():
                label, strength = (1 - kind, z), ratio(seen, record.learn)
                if strength <= self.names[side].get(label, 0.0):
                    continue
                named = not (faithful and side == R and label in self.names[L])
                self.names[side][label] = strength
                self.labels[side].put((label, named), strength)

    def use(self, side: int, position: int | None) -> None:
        if position is not None:  # a word without a match of its own uses nothing up
            self.used[side][position] = True


class Lexicon:
    def __init__(self) -> None:
        self.chains: dict = defaultdict(list)

    def record(self, word: str, side: int, position: int) -> Record:
        chain = self.chains[word, side]
        while len(chain) <= position:
            chain.append(Record())
        return chain[position]

    def length(self, word: str, side: int) -> int:
        return len(self.chains[word, side])


class Parse:
    """One sentence: its tokens, and the links between the newest word k and those before it."""

    def __init__(self, tokens: Sequence[Token], lexicon: Lexicon) -> None:
        self.tokens, self.lexicon, n = tokens, lexicon, len(tokens)
        self.out = [([], []) for _ in range(n)]  # by side: (head, depth), nearest first
        self.into = [[None, None] for _ in range(n)]  # by side of the base: (base, depth)
        self.complete = [[None, None] for _ in range(n)]  # complete blocks, by side
        self.prefix: list[tuple[int, int]] = []  # words that may link to k, with their depths
        self.violation = None
        self.events: list = []
        for k in range(n):
            if k:
                self.shift(k)
            if k and not tokens[k].stop[L]:
                self.step(k)
            self.learn_left(k)
            self.learn_right(k)
        self.learn_right(n)

    # --- the graph ------------------------------------------------------------------------------

    def reachable(self, x: int, side: int, depth: int) -> set[int]:
        found, todo = set(), [h for h, d in self.out[x][side] if d <= depth]
        while todo:
            y = todo.pop()
            found.add(y)
            todo += [h for h, _ in self.out[y][side]]
        return found

    def reach(self, x: int, side: int, depth: int) -> int:
        return (min if side == L else max)(self.reachable(x, side, depth) | {x})

    def path(self, x: int, y: int) -> int | None:
        """The depth of the first link on a path from x to y, if there is one."""
        side = L if y < x else R
        first = {d for h, d in self.out[x][side] if h == y or y in self.reachable(h, side, 1)}
        assert len(first) <= 1
        return first.pop() if first else None

    def block(self, x: int, p: int) -> int:
        side = L if p < x else R
        if self.into[x][side] is None:
            return 0
        complete = self.complete[x][side]
        if complete is not None and abs(complete - x) < abs(p - x):
            return NEVER
        return int(abs(self.into[x][side][0] - x) < abs(p - x))

    def adjacent(self, x: int, side: int) -> tuple[int, int]:
        """The next head of x on a side, and the least depth of a link to it."""
        p = self.reach(x, side, 1) + (1 if side == R else -1)
        last = self.out[x][side][-1][1] if self.out[x][side] else 0
        return p, max(last, self.block(x, p))

    def link(self, x: int, y: int, depth: int) -> None:
        k, side = max(x, y), L if y < x else R
        self.out[x][side].append((y, depth))
        assert self.into[y][1 - side] is None
        self.into[y][1 - side] = (x, depth)
        if depth == 1:
            self.block_right_of(x, x)
        if y == k:
            self.complete[k][L] = x if depth == 1 else self.complete[x][L]
            self.violation = None
            return
        m = self.reach(y, L, 1)
        if self.violation and m <= self.violation[0]:
            self.violation = None
        if self.into[m][L] is not None:
            v, e = self.into[m][L]
            if self.path(v, k) is None:
                now = self.violation
                if now is None or v > now[0] or (v == now[0] and e < now[1]):
                    self.violation = (v, e)

    def block_right_of(self, node: int, x: int) -> None:
        if self.complete[node][R] is not None:
            return
        if node != x:
            self.complete[node][R] = x
        for h, _ in self.out[node][L]:
            self.block_right_of(h, x)

    # --- which links may be added ---------------------------------------------------------------

    def shift(self, k: int) -> None:
        self.violation = None
        inbound = self.into[k - 1][L]
        kept = []
        if inbound is not None:
            for x, _ in self.prefix:
                if x <= inbound[0]:
                    last = self.out[x][R][-1][1] if self.out[x][R] else 0
                    depth = max(last, self.block(x, k))
                    if depth < NEVER:
                        kept.append((x, depth))
        self.prefix = [(k - 1, 0), *kept]
        for x, depth in self.prefix:
            assert self.adjacent(x, R) == (k, depth)

    def links_to(self, k: int) -> list[tuple[int, set[int]]]:
        if self.into[k][L] is not None:
            return []
        found = []
        for x, least in self.prefix:
            depths = {d for d in (0, 1) if d >= least}
            if self.out[k][L] and x > self.out[k][L][-1][0]:
                continue
            p = self.path(k, x)
            if p is not None:
                depths &= {p}
            if self.violation:
                v, e = self.violation
                if x < v:
                    continue
                if x == v:
                    depths &= {e}
            if depths and x != k - 1:
                found.append((x, depths))
        return found

    def link_from(self, k: int) -> tuple[int, set[int]] | None:
        head, least = self.adjacent(k, L)
        if head < 0 or head == k - 1:
            return None
        depths = {d for d in (0, 1) if d >= least}
        if self.into[k][L] is not None:
            z, q = self.into[k][L]
            if q == 1:
                depths &= {1}
            if head != z and self.path(head, z) is not None:
                depths &= {q}
        p = self.path(head, k)
        if p is not None:
            depths &= {p}
        if self.violation:
            depths &= {self.out[k][L][-1][1]}
        return (head, depths) if depths else None

    # --- scores ---------------------------------------------------------------------------------

    def match(self, u: int, other: int, position: int):
        """Strength of the best label, and the label if there is only one such."""
        side = L if other < u else R
        record = self.lexicon.record(self.tokens[u].word, side, position)
        threshold, best, which = ratio(record.block, record.learn), 0.0, []
        for label, seen in record.seen.items():
            normal = ratio(seen, record.learn)
            if normal < best or normal <= threshold:
                break
            value = min(normal, self.tokens[other].names[1 - side].get(label, 0.0))
            if value > best:
                best, which = value, [label]
            elif value == best and value > 0:
                which.append(label)
        return best, which[0] if len(which) == 1 else None

    def best_match(self, u: int, other: int):
        """(strength, label, position) of the best usable match, and the greatest strength."""
        side = L if other < u else R
        used = self.tokens[u].used[side]
        best, greatest = (0.0, None, None), 0.0
        for i in range(self.lexicon.length(self.tokens[u].word, side)):
            strength, label = self.match(u, other, i)
            greatest = max(greatest, strength)
            if label is not None and (not used[i] or strength > best[0]):
                best = (strength, label, i)
            if not used[i]:
                break
        return best, greatest

    def score(self, x: int, k: int, right: set[int], left: set[int]):
        """Strengths of x→k and k→x, their depth, and the best positions of x and k."""
        best, greatest = dict.fromkeys((x, k), (0.0, None, None)), {x: 0.0, k: 0.0}
        first, second = (x, k) if right else (k, x)
        best[first], greatest[first] = self.best_match(first, second)
        if (left if second == k else right) or not best[first][0]:
            best[second], greatest[second] = self.best_match(second, first)
        positions = best[x][2], best[k][2]
        strong = x if best[x][0] > best[k][0] else k
        weak = x + k - strong
        s, label, _ = best[strong]
        if label is None:
            return 0.0, 0.0, 0, positions
        kind, z = label
        side = L if strong == k else R
        rho = self.lexicon.record(z, side if kind == CLASS else 1 - side, 0)
        M, N = (strong, weak) if kind == CLASS else (weak, strong)
        v = rho.inn if rho.star <= 0 and abs(rho.inn) >= abs(rho.star) else rho.star
        forth = min(ratio(rho.out, rho.learn), s)
        back = min(ratio(v, rho.learn), s)
        depth = int(forth <= 0 and rho.inn < 0 and rho.star > 0)
        if forth <= 0 and back <= 0:
            back = best[N][0]
            if forth == 0:
                forth = greatest[M]
        value = {M: forth, N: back}
        to_k = max(value[x], 0.0) if depth in right else 0.0
        from_k = max(value[k], 0.0) if depth in left else 0.0
        return to_k, from_k, depth, positions

    # --- parsing a word -------------------------------------------------------------------------

    def step(self, k: int) -> None:
        to_k, from_k, depth, positions = self.score(k - 1, k, {0, 1}, {0, 1})
        if to_k > 0:
            self.link(k - 1, k, depth)
            self.tokens[k - 1].use(R, positions[0])
        if from_k > 0:
            self.link(k, k - 1, depth)
            self.tokens[k].use(L, positions[1])
        known: dict = {}
        while True:
            candidates = {}
            for x, depths in self.links_to(k):
                key = ("to", x, frozenset(depths))
                if key not in known:
                    v, _, d, (position, _) = self.score(x, k, depths, set())
                    known[key] = v, d, position
                candidates[key] = known[key]
            if (found := self.link_from(k)) is not None:
                key = ("from", found[0], frozenset(found[1]))
                if key not in known:
                    _, v, d, (_, position) = self.score(found[0], k, set(), found[1])
                    known[key] = v, d, position
                candidates[key] = known[key]
            known = candidates
            chosen = self.choose(k, candidates)
            if chosen is None:
                return
            way, x, depths = chosen
            v, d, position = candidates[chosen]
            base, head, side = (x, k, R) if way == "to" else (k, x, L)
            self.link(base, head, d if v > 0 else min(depths))
            if v > 0:
                self.tokens[base].use(side, position)

    def choose(self, k: int, candidates):
        best, strongest, only_used = None, 0.0, True
        for key, (v, _, position) in candidates.items():
            way, x, _ = key
            if way == "to":
                used = self.tokens[x].used[R][position]
                if v > strongest or (only_used and v > 0 and not used):
                    best, strongest = key, v
                    if only_used:
                        only_used = used
            else:
                used = self.tokens[k].used[L][position]
                nearer = best is not None and x > best[1]
                better = v > strongest or (v == strongest and nearer)
                if v > 0 and ((not used and only_used) or (used == only_used and better)):
                    best = key
        if best is None and self.violation and candidates:

            def potential(key):
                way, x, _ = key
                frozen = self.tokens[x].frozen[R] if way == "to" else self.tokens[k].frozen[L]
                return frozen["stronger"], frozen["strongest"], x

            best = max(candidates, key=potential)
        return best

    # --- learning -------------------------------------------------------------------------------

    def learn_left(self, k: int) -> None:
        token = self.tokens[k]
        if k == 0 or token.stop[L]:
            self.events.append((k, L, 0, None))
            return
        for p, (h, _) in enumerate(self.out[k][L]):
            self.events.append((k, L, p, h))
            if not token.used[L][p]:
                return
        p, least = self.adjacent(k, L)
        self.events.append((k, L, len(self.out[k][L]), p if p >= 0 and least <= 1 else None))

    def learn_right(self, k: int) -> None:
        u: int | None = k - 1 if k else None
        while u is not None:
            right = self.out[u][R]
            linked = bool(right) and right[-1][0] == k
            p = len(right) - linked
            if p == 0 or self.tokens[u].used[R][p - 1]:
                end = k == len(self.tokens) or (u == k - 1 and self.tokens[k].stop[L])
                self.events.append((u, R, p, None if end else k))
            inbound = self.into[u][L]
            u = None if linked or inbound is None else inbound[0]

    def apply(self) -> None:
        for u, side, position, neighbour in self.events:
            token = self.tokens[u]
            record = self.lexicon.record(token.word, side, position)
            record.learn = f32(record.learn + 1)
            if neighbour is None or token.stop[side]:
                record.block = f32(record.block + 1)
                continue
            other = self.tokens[neighbour]
            for (label, named), strength in other.labels[1 - side].items():
                if named:
                    now = record.seen.strength.get(label, 0.0)
                    record.seen.put(label, f32(now + strength))
            if position == 0:
                F, G = other.frozen[1 - side], other.frozen[side]
                if F["labels"]:
                    if not F["stronger"]:
                        record.inn = f32(record.inn - 1)
                    elif not G["stronger"]:
                        record.inn = f32(record.inn + 1)
                record.out = f32(record.out + ratio(F["in"], F["learn"]))
                record.star = f32(record.star + ratio(F["out"], F["learn"]))

    def brackets(self) -> set[tuple[int, int]]:
        n = len(self.tokens)
        found = {(0, n)} if n else set()
        for x in range(n):
            found.add((self.reach(x, L, 0), self.reach(x, R, 0) + 1))
            if any(d == 1 for side in (L, R) for _, d in self.out[x][side]):
                found.add((self.reach(x, L, 1), self.reach(x, R, 1) + 1))
        return {(i, j) for i, j in uncrossed(list(found)) if j - i > 1}


def uncrossed(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Let two spans that cross be what they share and what they cover, until none do."""
    for a, (i, j) in enumerate(spans):
        for b, (k, l) in enumerate(spans):
            if i < k < j < l:
                others = [span for c, span in enumerate(spans) if c not in (a, b)]
                return uncrossed([*others, (k, j), (i, l)])
    return spans


def ccl_brackets(
    sentences: Sequence[Sequence[str]], faithful: bool = True
) -> list[set[tuple[int, int]]]:
    """Spans of two words or more, after learning from all sentences in order."""
    lexicon = Lexicon()

    def parse(sentence: Sequence[str]) -> Parse:
        tokens: list[Token] = []
        stop = False
        for form in sentence:
            if form in PUNCTUATION:
                if form in STOPS and tokens:
                    tokens[-1].stop[R] = stop = True
                continue
            tokens.append(Token(form.lower(), lexicon, faithful))
            tokens[-1].stop[L], stop = stop, False
        return Parse(tokens, lexicon)

    for sentence in sentences:
        parse(sentence).apply()
    return [parse(sentence).brackets() for sentence in sentences]
