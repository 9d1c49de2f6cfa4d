"""Notes and warnings for those who call the package from Python: the logger ``dbpcfg``.

Notes have the level INFO, warnings the level WARNING; nothing is printed unless the caller sets up
`logging`. A warning of a text that is probably not ready is a Python warning as well, at the line
that calls the package. Commands print both on standard error instead.
"""

from __future__ import annotations

import logging
import sys
import warnings

LOGGER = logging.getLogger("dbpcfg")
LOGGER.addHandler(logging.NullHandler())  # otherwise logging prints warnings


def note(text: str) -> None:
    """Log what may be worth knowing."""
    LOGGER.info("%s", text)


def log_warning(text: str) -> None:
    """Log a warning."""
    LOGGER.warning("%s", text)


def warn(text: str) -> None:
    """Log a warning, and warn at the line that calls the package."""
    log_warning(text)
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] == "dbpcfg":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)
