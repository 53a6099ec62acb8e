# SPDX-License-Identifier: MIT
"""A page in headless Chromium, and the tests that use one."""

import os
import pathlib
import tempfile
import time
import traceback

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 30
tests = []


def test(function):
    tests.append(function)
    return function


class Page:
    """A browser with a page. At its end nothing may have been said on the console, nor asked of a network."""

    def __init__(self, path, calm=False):
        self.path, self.calm = path, calm

    def __enter__(self):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for word in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                     "--window-size=1220,900", "--disable-background-networking"]:
            options.add_argument(word)
        if self.calm:
            options.add_argument("--force-prefers-reduced-motion")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        try:
            self.driver.get(self.path.resolve().as_uri())
        except BaseException:
            self.driver.quit()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                log = self.driver.get_log("browser")
                assert log == [], f"the console says: {log}"
                asked = self.run("return performance.getEntriesByType('resource').map(each => each.name)")
                assert asked == [], f"the page has fetched: {asked}"
        finally:
            self.driver.quit()

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def state(self):
        return self.run("return htwReplay.state()")

    def call(self, name, *arguments):
        return self.run(f"return htwReplay.{name}(...arguments)", *arguments)

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def wait(self, condition, what):
        WebDriverWait(self.driver, PATIENCE, 0.05).until(lambda _: condition(), what)

    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)

    def shoot(self, name):
        folder = os.environ.get("HTW_SCREENSHOTS")
        if folder:
            self.driver.save_screenshot(os.path.join(folder, name + ".png"))


def main(names):
    """Runs the tests of these names; of none: all."""
    chosen = [each for each in tests if not names or each.__name__ in names]
    failed = 0
    for function in chosen:
        began = time.monotonic()
        try:
            with tempfile.TemporaryDirectory() as folder:
                function(pathlib.Path(folder))
            print(f"ok {function.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception:  # a fault of the test is a failed test, not the end of all
            failed += 1
            print(f"FAIL {function.__name__}: {traceback.format_exc()}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0
