"""Python in a process of its own, for what must not take the tests down with it."""

import os
import subprocess
import sys


def output_of(script: str, seconds: float = 20) -> str:
    """What a script prints; an error if it crashes, or is not done in time."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-1000:]}"
    return done.stdout
