#!/usr/bin/env python3
"""browser.py CHROMIUM SITE: opens the built site in a browser without a window, through its debugging pipe, and reads it as a visitor does.

From the start page it follows the navigation, searches, and opens what it finds. It fails if something is not there, if the browser's console
shows an error, if a request fails, or if a page asks any other host: the site works without a network.
"""
import contextlib
import functools
import http.server
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 60  # seconds, for a busy machine


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Browser:
    """A page in the browser. Messages are JSON, ended by a zero byte, on the descriptors 3 and 4 of its process."""

    def __init__(self, program, folder, base):
        self.base, self.problems, self.count, self.answers, self.rest = base, [], 0, {}, b""
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        arguments = [program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--disable-gpu", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
                     "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--window-size=1400,1000", "about:blank"]
        if os.geteuid() == 0:
            arguments.insert(1, "--no-sandbox")

        def pipes():
            first, second = os.dup(theirs_in), os.dup(theirs_out)  # they may be 3 and 4 the other way round
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(arguments, preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder})
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.page = None
        self.page = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.watch(self.page)

    def watch(self, session):
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(f"{domain}.enable", session=session, may_fail=True)
        self.call("Target.setAutoAttach", session=session, may_fail=True, autoAttach=True, waitForDebuggerOnStart=False, flatten=True)

    def call(self, method, session="page", may_fail=False, **parameters):
        self.count += 1
        number = self.count
        message = {"id": number, "method": method, "params": parameters}
        chosen = getattr(self, "page", None) if session == "page" and not method.startswith("Target.") else session if session != "page" else None
        if chosen:
            message["sessionId"] = chosen
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while number not in self.answers:
            self.listen(end, method)
        answer = self.answers.pop(number)
        if "error" in answer and not may_fail:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer.get("result", {})

    def listen(self, end, waits_for):
        ready, _, _ = select.select([self.into], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            raise RuntimeError(f"the browser did not answer in {PATIENCE} s: {waits_for}")
        data = os.read(self.into, 1 << 16)
        if not data:
            raise RuntimeError("the browser ended")
        *messages, self.rest = (self.rest + data).split(b"\0")
        for message in messages:
            self.hear(json.loads(message))

    def hear(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
            return
        method, said = message["method"], message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.problems.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "assert"):
            self.problems.append("console: " + " ".join(str(a.get("value", a.get("description"))) for a in said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.problems.append(f"log: {said['entry']['text']} {said['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            url = said["request"]["url"]
            if not url.startswith((self.base, "data:", "blob:", "about:")):
                self.problems.append(f"asks another host: {url}")
        elif method == "Network.responseReceived" and said["response"]["status"] >= 400:
            self.problems.append(f"status {said['response']['status']}: {said['response']['url']}")
        elif method == "Network.loadingFailed" and not said.get("canceled"):
            self.problems.append(f"a request failed: {said['errorText']}")
        elif method == "Target.attachedToTarget" and said["targetInfo"]["type"] in ("worker", "iframe", "service_worker"):
            for domain in ("Runtime", "Network"):
                self.count += 1  # nobody waits for the answer: this may be inside of another call
                os.write(self.out, json.dumps({"id": self.count, "method": f"{domain}.enable", "params": {}, "sessionId": said["sessionId"]}).encode() + b"\0")

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails'].get('exception', {}).get('description', result['exceptionDetails']['text'])}")
        return result["result"].get("value")

    def until(self, script, what):
        """The value of a script when it is true for the first time."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(RuntimeError):  # a page that is being left has no context
                if value := self.value(script):
                    return value
            time.sleep(0.1)
        raise RuntimeError(f"waited {PATIENCE} s for {what}")

    def open(self, path):
        self.call("Page.navigate", url=self.base + path)
        self.until(f"location.href.startsWith({json.dumps(self.base + path)}) && document.readyState === 'complete'", path)

    def click(self, selector, text, lands_on):
        """Clicks the link with this text, and waits for the page that it leads to."""
        found = self.until(f"""(() => {{
            const link = [...document.querySelectorAll({json.dumps(selector)})].find(a => a.textContent.trim() === {json.dumps(text)});
            if (!link) return '';
            link.click();
            return link.href;
        }})()""", f"a link {text!r}")
        self.until(f"location.pathname.endsWith({json.dumps(lands_on)}) && document.readyState === 'complete'", f"{lands_on} after a click on {found}")

    def end(self):
        with contextlib.suppress(RuntimeError, OSError):
            self.call("Browser.close", session=None)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def search(page, word, wanted):
    """Types a word into the search, and opens the result whose address ends in `wanted`."""
    page.until("!!document.querySelector('[data-md-component=search-query]')", "the search field")
    page.value("""(() => { document.querySelector('[data-md-toggle=search]').click();
                           const field = document.querySelector('[data-md-component=search-query]'); field.value = ''; field.focus(); })()""")
    page.call("Input.insertText", text=word)
    page.value("document.querySelector('[data-md-component=search-query]').dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}))")
    links = "[...document.querySelectorAll('.md-search-result__link')].map(a => a.href)"
    page.until(f"{links}.length > 0", f"results of a search for {word}")
    try:
        page.until(f"{links}.some(a => a.replace(/[?].*#/, '#').endsWith({json.dumps(wanted)}))", f"{wanted} among the results for {word}")
    except RuntimeError as problem:
        raise RuntimeError(f"{problem}; there are {page.value(links)[:12]}") from None
    page.value(f"[...document.querySelectorAll('.md-search-result__link')].find(a => a.href.replace(/[?].*#/, '#').endsWith({json.dumps(wanted)})).click()")
    path, _, anchor = wanted.partition("#")
    page.until(f"location.pathname.endsWith({json.dumps(path)}) && document.readyState === 'complete'", wanted)
    heading = page.until(f"document.getElementById({json.dumps(anchor)})?.textContent", f"the heading #{anchor} of {path}")
    if word not in heading:
        raise RuntimeError(f"{wanted} is headed {heading!r}, without {word}")


def read(page):
    page.open("/index.html")
    if page.value("document.querySelector('h1').innerText.trim()").rstrip("¶") != "leat":
        raise RuntimeError("the start page is headed otherwise")
    page.until("[...document.images].every(i => i.complete && i.naturalWidth > 0)", "the pictures of the start page")
    for section in ("One program", "Two commands", "Three ways on"):
        page.until(f"[...document.querySelectorAll('h2')].some(h => h.textContent.includes({json.dumps(section)}))", f"the section {section}")
    page.click(".md-nav--primary a", "Introduction", "/introduction.html")
    page.click(".md-nav--primary a", "Training", "/docs/training.html")
    page.click(".md-nav--primary a", "Clusters", "/docs/cluster.html")
    page.click(".md-content a", "collectives", "/docs/cluster.html")
    page.click(".md-nav--primary a", "Start", "/index.html")
    page.click(".md-content a", "reference", "/reference/index.html")
    page.click(".md-content a", "Derivatives", "/reference/derivatives.html")
    page.click(".md-content a", "leat/passes/gradient.hpp", "/include/leat/passes/gradient.hpp.html")
    page.click("a", "leat", "/index.html")
    search(page, "gradients", "/reference/derivatives.html#gradients")
    search(page, "huber_loss", "/reference/losses_of_graphs.html#losses-huber_loss")
    search(page, "replica_device_setter", "/reference/placing_variables.html#replica_device_setter")
    before = page.value("document.body.getAttribute('data-md-color-scheme')")
    page.value("[...document.querySelectorAll('[data-md-component=palette] label')].find(l => !l.hidden).click()")
    page.until(f"document.body.getAttribute('data-md-color-scheme') !== {json.dumps(before)}", "the other colors")


def main():
    program, site = shutil.which(sys.argv[1]), sys.argv[2]
    server = Server(("127.0.0.1", 0), functools.partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    problems = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = None
        try:
            page = Browser(program, folder, f"http://127.0.0.1:{server.server_address[1]}")
            read(page)
        except RuntimeError as problem:
            problems.append(str(problem))
        finally:
            if page:
                problems += page.problems
                page.end()
    server.shutdown()
    for problem in problems:
        print(f"FAILED: {problem}")
    print("read in the browser" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
