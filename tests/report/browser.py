"""A real browser to look at pages with: the Chromium of the system."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 600_000
"""Milliseconds until the browser, or what a page is to do, is given up."""


@contextlib.contextmanager
def chromium() -> Iterator:
    """The browser; a test without one is skipped, and says how to get it."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install 'dbpcfg[dev]'"
    )
    with playwright.sync_playwright() as driver:
        own = driver.chromium.executable_path
        found = next(filter(None, map(shutil.which, NAMES)), own if Path(own).exists() else None)
        if found is None:
            pytest.skip(
                "no Chromium here: apt-get install chromium, or playwright install chromium"
            )
        how = {"executable_path": found, "args": ["--no-sandbox"], "timeout": PATIENCE}
        browser = driver.chromium.launch(**how)
        yield browser
        browser.close()


class OpenPage:
    """A page in the browser, with everything that it complained of or asked for."""

    def __init__(self, browser, path: Path | str, width: int = 1200, **options) -> None:
        self.tab = browser.new_page(viewport={"width": width, "height": 900}, **options)
        self.tab.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("dialog", lambda box: (self.complaints.append("dialog"), box.dismiss()))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.goto(path.as_uri() if isinstance(path, Path) else path)
        self.tab.wait_for_selector("html[data-ready]")

    def text(self, selector: str) -> str:
        return self.tab.locator(selector).inner_text()

    def texts(self, selector: str) -> list[str]:
        return self.tab.locator(selector).all_inner_texts()
