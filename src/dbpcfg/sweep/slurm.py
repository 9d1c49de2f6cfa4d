"""A script that runs each cell as a task of a SLURM array: to be read, adapted and submitted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

_SCRIPT = """\
#!/bin/bash
# {cells} of {name}, one for each task. Adapt these lines, then submit the file with sbatch.
# A task that is submitted again resumes its cell; a finished one ends at once.
#SBATCH --job-name={job}
#SBATCH --array={array}
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=24:00:00
#SBATCH --output=slurm-%x-%A_%a.log
# Two minutes before the time is over, dbpcfg is asked to save and stop:
#SBATCH --signal=B:TERM@120

# What makes dbpcfg available here, such as: source ~/venv/bin/activate

set -euo pipefail
exec dbpcfg sweep {grid} --cell "$SLURM_ARRAY_TASK_ID" --threads "${{SLURM_CPUS_PER_TASK:-1}}"
"""


def array_script(grid: Path, numbers: Sequence[int]) -> str:
    """Write the script. Nothing is submitted."""
    count = f"{len(numbers):,} cell{'s' * (len(numbers) != 1)}"
    return _SCRIPT.format(
        cells=count,
        name=ascii(grid.name),
        job="dbpcfg-" + re.sub(r"[^A-Za-z0-9._]+", "-", grid.stem),
        array=_ranges(numbers),
        grid=shlex.quote(str(grid.resolve())),
    )


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers as SLURM writes them: 1,3-5."""
    gaps = [n for n, (one, following) in enumerate(pairwise(numbers), 1) if following != one + 1]
    parts = [numbers[first:last] for first, last in pairwise([0, *gaps, len(numbers)])]
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)
