"""Systems that misbehave, in a module of their own: a new process can import them."""

import os
import signal
import time
from pathlib import Path

from dbpcfg.systems.branching import Balanced, Left, Right
from dbpcfg.systems.registry import SystemSpec
from dbpcfg.trees.tree import Tree


def spec(name: str) -> SystemSpec:
    return SystemSpec(name.lower(), globals()[name])


class Fake:
    """Flat trees; ``misbehave`` comes before."""

    learns = False

    def fit(self, sentences, progress=None):
        self.sentences = sentences
        self.misbehave()
        return self

    def trees(self):
        return [Tree("X", words) for words in self.sentences]

    def misbehave(self):
        pass


class Learner(Fake):
    learns = True


class SlowAtFirst(Learner):
    """As one whose kernels are compiled when they are first called: the clock skips an hour."""

    clock = staticmethod(time.perf_counter)

    def misbehave(self):
        time.perf_counter = lambda: SlowAtFirst.clock() + 3600


class Raises(Fake):
    def misbehave(self):
        raise RuntimeError("its lexicon is on fire")


class Killed(Fake):
    def misbehave(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Exits(Fake):
    def misbehave(self):
        os._exit(3)


class ForgetsOne(Fake):
    def trees(self):
        return super().trees()[1:]


class OtherWords(Fake):
    def trees(self):
        return [tree.replace_words(["never"] * len(tree)) for tree in super().trees()]


class FailsSometimes(Fake):
    def __init__(self, seed: int):
        self.seed = seed

    def misbehave(self):
        if self.seed % 2:
            raise RuntimeError("an odd seed")


class Counts(Fake):
    """Leaves a line in a file every time that it runs."""

    def __init__(self, file: str = "", seed: int = 0):
        self.file, self.seed = Path(file), seed

    def misbehave(self):
        with self.file.open("a") as file:
            print(self.seed, file=file)


class Chosen(Fake):
    """A branching system that depends on its seed, to have another F1 with each."""

    def __init__(self, seed: int):
        self.seed = seed

    def trees(self):
        return (Right, Left, Balanced)[self.seed]().fit(self.sentences).trees()


class Large(Fake):
    def misbehave(self):
        self.ballast = b"x" * 300_000_000


class Endless(Fake):
    """Says who it is, and never ends."""

    def __init__(self, file: str = ""):
        self.file = file

    def misbehave(self):
        Path(self.file).write_text(str(os.getpid()))
        time.sleep(600)


class Labelled(Fake):
    """Balanced trees, whose nodes over two words have another label."""

    def trees(self):
        return [self.tree(words) for words in self.sentences]

    def tree(self, words):
        if len(words) == 1:
            return Tree(words[0][0], words)
        middle = (len(words) + 1) // 2
        children = [self.tree(words[:middle]), self.tree(words[middle:])]
        return Tree("S" if len(words) > 2 else "Y", children)
