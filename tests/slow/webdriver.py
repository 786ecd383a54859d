"""A browser through the WebDriver protocol, with nothing but the standard library."""
import base64
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request


class Browser:
    def __init__(self, width, height, dark=False):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", "--port=%d" % self.port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       start_new_session=True)
        self.session = None
        args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        try:
            self._wait()
            caps = {"browserName": "chrome", "goog:chromeOptions": {"args": args}, "goog:loggingPrefs": {"browser": "ALL"}}
            self.session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": caps}}, raw=True)["sessionId"]
            self.window(width, height, dark)
        except Exception:
            self.close()
            raise

    def _wait(self):
        for _ in range(600):
            try:
                with urllib.request.urlopen("http://127.0.0.1:%d/status" % self.port, timeout=60) as r:
                    if json.load(r)["value"]["ready"]:
                        return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method, path, body=None, raw=False):
        if not raw:
            path = "/session/%s%s" % (self.session, path)
        data = None if method in ("GET", "DELETE") else json.dumps(body or {}).encode()
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.port, path), data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=180) as r:
                return json.load(r)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(e.read().decode()[:500])

    def devtools(self, command, **params):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def window(self, width, height, dark=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def js(self, code, *args):
        return self._call("POST", "/execute/sync", {"script": code, "args": list(args)})

    def keys(self, *keys):
        actions = [a for k in keys for a in ({"type": "keyDown", "value": k}, {"type": "keyUp", "value": k})]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def click(self, x, y):
        move = {"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}
        press = [move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._call("POST", "/actions", {"actions": [{"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"}, "actions": press}]})

    def log(self):
        return self._call("POST", "/se/log", {"type": "browser"})

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self._call("GET", "/screenshot")))

    def close(self):
        if self.session:
            try:
                self._call("DELETE", "")
            except (OSError, RuntimeError):
                pass
            self.session = None
        # Also end a browser that did not end with its session.
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
