"""How fast `dbpcfg explore` answers, what it holds in memory, and many requests at once.

    python benchmarks/explore.py RUN TEXT                      # 200 sentences of a text
    python benchmarks/explore.py RUN TEXT --requests 10000     # and memory, over so many requests

The server is a process of its own, asked over HTTP as the page does: whole answers, with the MBR
tree, ten trees, surprisal and entropies. Sentences are taken at even distances in the text.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import dbpcfg
from dbpcfg.report.explore import MAX_WORDS

SENTENCES = 200
AT_ONCE = 50


class Client:
    """A connection that is kept, as a browser's."""

    def __init__(self, address: str, depth: int | None) -> None:
        place = urlsplit(address)
        self.path, self.depth = f"{place.path}parse", depth
        self.connection = http.client.HTTPConnection(place.hostname, place.port)

    def ask(self, text: str) -> float:
        """The seconds that an answer takes."""
        body = {"run": 0, "text": text, "depth": self.depth, "yes": [], "no": [], "words": 0}
        begin = time.perf_counter()
        self.connection.request("POST", self.path, json.dumps(body))
        response = self.connection.getresponse()
        answer = response.read()
        assert response.status == 200, answer
        return time.perf_counter() - begin


def resident(process: int) -> float:
    """The memory of a process in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("text", nargs="+")
    parser.add_argument("--requests", type=int, default=0)
    given = parser.parse_args()
    words = [one.words for one in dbpcfg.read(*given.text, quiet=True)]
    words = [one for one in words if len(one) <= MAX_WORDS]
    texts = [" ".join(words[n * len(words) // SENTENCES]) for n in range(SENTENCES)]
    command = [sys.executable, "-m", "dbpcfg", "explore", given.run, "--no-browser", "-q"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        model = dbpcfg.load(given.run)
        client = Client(address, model.depth)
        times = np.array([client.ask(text) for text in texts]) * 1e3
        lengths = [len(text.split()) for text in texts]
        print(f"{model}: {SENTENCES} sentences of {np.mean(lengths):.1f} words on average")
        print(f"p50 {np.median(times):.1f} ms, p99 {np.percentile(times, 99):.1f} ms")
        begin = time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            many = [Client(address, model.depth) for _ in range(AT_ONCE)]
            slowest = max(pool.map(Client.ask, many, texts))
        seconds = time.perf_counter() - begin
        print(f"{AT_ONCE} at once: all in {seconds:.2f} s, the slowest {slowest:.2f} s")
        for n in range(given.requests):
            if n % max(1, given.requests // 10) == 0:
                print(f"{n:,} requests: {resident(server.pid):.1f} MiB", flush=True)
            client.ask(texts[n % SENTENCES])
        if given.requests:
            print(f"{given.requests:,} requests: {resident(server.pid):.1f} MiB")
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
