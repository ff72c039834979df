"""A real browser for tests: ``pytest_plugins = ("tests.browser",)`` gives ``page``.

Debian's Chromium, driven by Playwright. Without it the tests skip, but in CI they fail.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for a module.

    Not for the session: as long as it is open, Playwright keeps an event loop running in the
    main thread, where no asynchronous test could then run.
    """
    found = CHROMIUM if CHROMIUM.exists() else shutil.which("chromium")
    if not found:
        message = "no Chromium: install the Debian package chromium to run the browser's tests"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(found), args=_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile with no network: nothing but files can be reached."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    context.set_default_timeout(5000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; the test fails if the page logged an error or asked for anything but a file."""
    faults: list[str] = []
    page = context.new_page()
    page.on(
        "console", lambda message: faults.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith("file:") else faults.append(request.url),
    )
    yield page
    assert faults == []
