# SPDX-License-Identifier: MIT
"""browser.py - a page in headless Chromium (Debian: chromium-driver, python3-selenium).

HTW_SCREENSHOTS: a folder for pictures of the pages, for people.
"""
import atexit
import contextlib
import functools
import os

import pytest
from programs import wait_for

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402

WORDS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking")


@functools.lru_cache
def driver():
    """One for all tests of a process: a browser takes half a second to start."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for word in WORDS:
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    atexit.register(started.quit)
    return started


class Page:
    """A page in the browser. At its end nothing may have been said on the console but refused requests, nor asked of another host
    than `own`."""

    def __init__(self, url, own="nothing", width=1220, height=900, scheme="light"):
        self.own, self.driver = own, driver()
        self.resize(width, height, scheme)
        self.driver.get(url)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        log = [line for line in self.driver.get_log("browser") if "Failed to load resource" not in line["message"]]
        self.shoot("failed" if kind else "end")
        if kind is None:
            assert log == [], f"the console says: {log}"
            asked = self.run("return performance.getEntriesByType('resource').map(each => each.name)")
            assert all(name.startswith(self.own) for name in asked), asked
        self.driver.get("about:blank")

    def resize(self, width, height, scheme="light"):
        """As a phone has it, where it is narrow."""
        self.width = width
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        found = self.all(selector)
        assert len(found) == 1, (selector, len(found))
        return found[0]

    def text(self, selector):
        return self.one(selector).get_property("textContent")

    def click(self, selector, accept=None):
        """`accept`: what is typed into the question that comes."""
        self.run("arguments[0].scrollIntoView({block: 'center'})", self.one(selector))
        self.one(selector).click()
        if accept is not None:
            alert = self.driver.switch_to.alert
            if accept:
                alert.send_keys(accept)
            alert.accept()

    def wait(self, condition, what):
        def holds():
            with contextlib.suppress(Exception):  # what it looks at is being replaced
                return condition()
        wait_for(holds, what)

    def fits(self):
        wide = self.run("return document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"the page is {wide} px too wide"

    def shoot(self, name):
        folder = os.environ.get("HTW_SCREENSHOTS")
        if folder:
            self.driver.save_screenshot(os.path.join(folder, f"{self.width}-{name}.png"))
