"""A headless Chromium, driven over the DevTools protocol: pages, scripts, keys, screenshots."""

import base64
import json
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

WAIT = 90


class Page:
    """One page; *call* sends a command of the DevTools protocol and returns its answer."""

    def __init__(self, wire):
        self._wire = wire
        self._sent = 0

    def call(self, method, **parameters):
        """Send one command and return its answer, discarding events received in the meantime."""
        self._sent += 1
        self._wire.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while (answer := json.loads(self._wire.recv(timeout=WAIT))).get("id") != self._sent:
            pass
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def ask(self, script):
        """Evaluate a JavaScript expression and return its value."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script):
        """Wait until the JavaScript expression is true."""
        end = monotonic() + WAIT
        while not self.ask(f"!!({script})"):
            assert monotonic() < end, f"never true: {script}\n{self.ask('document.body.innerText')}"
            sleep(0.1)

    def open(self, address):
        """Navigate to *address* and wait until the page has loaded."""
        self.call("Page.enable")
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.protocol !== 'about:'")

    def type(self, text):
        """Type *text* at the cursor."""
        self.call("Input.insertText", text=text)

    def press(self, key, code, modifiers=0):
        """Press and release a key: 13 is Enter; modifier 2 is Control."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def drop(self, selector, path):
        """Drop a file on the element, as if the user had dragged it there."""
        held = base64.b64encode(path.read_bytes()).decode()
        self.ask(
            "(() => { const carried = new DataTransfer();"
            f"const bytes = Uint8Array.from(atob({json.dumps(held)}), sign => sign.charCodeAt(0));"
            f"carried.items.add(new File([bytes], {json.dumps(path.name)}));"
            f"document.querySelector({json.dumps(selector)}).dispatchEvent("
            "new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: carried})) })()"
        )

    def click(self, selector):
        """Click the element as soon as it exists."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.wait(element)
        self.ask(f"{element}.click()")

    def picture(self, path):
        """Save a PNG screenshot."""
        Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def chromium(size=(1400, 1000)):
    """A page of a fresh headless Chromium; skips the test if none is installed."""
    connect = pytest.importorskip("websockets.sync.client", reason="needs websockets (the streams extra)").connect
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-port=0",
                f"--user-data-dir={profile}",
                f"--window-size={size[0]},{size[1]}",
                "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            with connect(_endpoint(Path(profile)), max_size=None) as wire:
                yield Page(wire)
        finally:
            process.terminate()
            process.wait()


def _endpoint(profile):
    """The debugger address of the first page; Chromium writes its port into its profile."""
    from http.client import HTTPConnection  # noqa: PLC0415

    end = monotonic() + WAIT
    while not (noted := profile / "DevToolsActivePort").is_file() or "\n" not in noted.read_text(encoding="utf-8"):
        assert monotonic() < end, "Chromium did not start"
        sleep(0.05)
    asked = HTTPConnection("127.0.0.1", int(noted.read_text(encoding="utf-8").splitlines()[0]), timeout=WAIT)
    try:
        asked.request("GET", "/json")
        pages = json.loads(asked.getresponse().read())
    finally:
        asked.close()
    return next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
