# SPDX-License-Identifier: MIT
"""A headless Chromium, driven through the pipe of its DevTools protocol."""
import base64
import json
import os
import shutil
import subprocess
import threading

import pytest
from lab import PATIENCE, wait_until


def need_chromium():
    if not shutil.which("chromium"):
        pytest.skip("chromium is not installed")


class Browser:
    """One browser with one page."""

    def __init__(self, folder):
        """`folder` is for what it leaves."""
        theirs, self._write = os.pipe()
        self._read, back = os.pipe()

        def as_3_and_4():  # by way of numbers that neither has
            os.dup2(os.dup2(theirs, 100), 3)
            os.dup2(os.dup2(back, 101), 4)
        self._process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
             "--mute-audio", "--autoplay-policy=no-user-gesture-required",
             "--disable-background-networking", "--disable-component-update",
             "--no-first-run", "--disable-dev-shm-usage",
             f"--user-data-dir={folder}", "--remote-debugging-pipe"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=as_3_and_4, close_fds=False,
            env=os.environ | {"HOME": str(folder)})
        os.close(theirs)
        os.close(back)
        self._answers, self._session, self._n = {}, None, 0
        self._changed = threading.Condition()
        self.console = []   # what the page and the browser had to say
        self.requests = []  # the URLs that were asked for
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()
        target = self.call("Target.createTarget", url="about:blank")
        self._session = self.call("Target.attachToTarget", flatten=True,
                                  targetId=target["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(f"{domain}.enable")

    def _listen(self):
        with os.fdopen(self._read, "rb") as pipe:
            rest = b""
            while data := pipe.read1(1 << 16):
                *messages, rest = (rest + data).split(b"\0")
                for message in messages:
                    self._hear(json.loads(message))
        with self._changed:
            self._answers = None
            self._changed.notify_all()

    def _hear(self, message):
        method, what = message.get("method"), message.get("params", {})
        with self._changed:
            if "id" in message:
                self._answers[message["id"]] = message
            elif method == "Runtime.consoleAPICalled":
                self.console.append(str(what["args"]))
            elif method == "Runtime.exceptionThrown":
                self.console.append(str(what["exceptionDetails"]))
            elif method == "Log.entryAdded":
                self.console.append(str(what["entry"]))
            elif method == "Network.requestWillBeSent":
                self.requests.append(what["request"]["url"])
            self._changed.notify_all()

    def call(self, method, **params):
        """A command of the protocol; returns its result."""
        with self._changed:
            self._n += 1
            number = self._n
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        with self._changed:
            assert self._changed.wait_for(
                lambda: self._answers is None or number in self._answers,
                PATIENCE), method
            assert self._answers is not None, "chromium has ended"
            answer = self._answers.pop(number)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)
        wait_until(lambda: self.run("document.readyState") == "complete" and
                   self.run("location.href") == url, f"{url} is loaded")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def text(self, selector):
        return self.run("document.querySelector("
                        f"{json.dumps(selector)})?.textContent ?? ''")

    def look(self, width, height, scheme="light"):
        """From now on the window is so wide, and the user likes it dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(data["data"]))

    def close(self):
        os.close(self._write)  # it ends with the pipe
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            self._listener.join()
