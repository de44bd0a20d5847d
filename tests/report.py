"""report.py: report pages in Chromium, used as a person uses them.

    /usr/bin/python3 report.py PAGE.html MANY.html FAILED.html FOLDER

PAGE is a run of tests/models/Report.mo to t = 4, MANY the same with so many rows that each curve
has times of its own, FAILED a run that did not begin. Prints a line for each case in cmocka's
words; pictures of the page go to FOLDER. The browser lives in the current folder and leaves
nothing elsewhere. Uses Debian's python3-selenium and chromium-driver.
"""
import base64
import json
import math
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

PATIENCE = 60  # seconds that a loaded machine may take for what a person sees at once
MARKUP = "'</script><img src=x onerror=alert(1)>'"
failed = 0


def check(name, what):
    """A case: what() answers True, or something to be seen."""
    global failed
    print("[ RUN      ] " + name, flush=True)
    try:
        answer = what()
        why = "" if answer is True else "answered %r" % (answer,)
    except Exception as e:  # whatever a browser can say
        why = "%s: %s" % (type(e).__name__, str(e).split("Stacktrace")[0].strip())
    failed += why != ""
    print("[  FAILED  ] %s: %s" % (name, why) if why else "[       OK ] " + name, flush=True)


def until(what, patience=PATIENCE):
    """Waits for True; answers what came last."""
    end = time.monotonic() + patience
    while True:
        answer = what()
        if answer is True or time.monotonic() > end:
            return answer
        time.sleep(0.05)


def again(act, what):
    """What a loaded machine may take for two clicks is done again."""
    for _ in range(4):
        act()
        answer = until(what, PATIENCE / 4)
        if answer is True:
            break
    return answer


def launch(home):
    """Chromium as root or anyone, without a home, a network or shared memory."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            del os.environ[name]
    for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        os.environ[name] = home
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu",
                 "disable-background-networking", "disable-component-update",
                 "disable-breakpad", "disable-extensions", "disable-sync", "no-first-run",
                 "hide-scrollbars", "force-device-scale-factor=1", "window-size=1280,1000",
                 "user-data-dir=" + os.path.join(home, "profile")):
        options.add_argument("--" + word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    browser.set_page_load_timeout(PATIENCE)
    browser.set_script_timeout(PATIENCE)
    return browser


class Page:
    """A page in the browser. Positions are those of the window."""

    def __init__(self, browser, path):
        self.browser = browser
        self.url = Path(path).resolve().as_uri()
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(self.url)
        until(lambda: self.js("return document.readyState") == "complete")

    def js(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def one(self, selector):
        return self.all(selector)[0]

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])]"
                       ".map((e) => e.textContent)", selector)

    def labels(self):
        return self.texts(".legend b")

    def box(self, selector, number=0):
        """[left, top, width, height], after scrolling to it."""
        return self.js("""const e = document.querySelectorAll(arguments[0])[arguments[1]];
            e.scrollIntoView({ block: "nearest" });
            const b = e.getBoundingClientRect();
            return [b.left, b.top, b.width, b.height];""", selector, number)

    def axis(self, letter, number=0):
        """The function from a value of an axis of a panel to a position, told by its numbers."""
        self.box(".panel", number)
        marks = self.js("""return [...document.querySelectorAll(".panel")[arguments[1]]
            .querySelectorAll(".dygraph-axis-label-" + arguments[0])].map((e) => {
                const b = e.getBoundingClientRect();
                return [Number(e.textContent), b.left + b.width / 2, b.top + b.height / 2]; })""",
                        letter, number)
        marks = sorted((m[0], m[1] if letter == "x" else m[2]) for m in marks)
        (a, p), (b, q) = marks[0], marks[-1]
        return lambda v: p + (v - a) / (b - a) * (q - p)

    def span(self, letter, number=0):
        """The numbers at the ends of an axis: [least, greatest]."""
        values = [float(v) for v in self.js(
            "return [...document.querySelectorAll('.panel')[arguments[1]].querySelectorAll("
            "'.dygraph-axis-label-' + arguments[0])].map((e) => e.textContent)", letter, number)]
        return [min(values), max(values)]

    def middle(self, number=0):
        left, top, width, height = self.box(".graph", number)
        return left + width / 2, top + height / 2

    def move(self, x, y):
        chain = ActionChains(self.browser, duration=20)
        chain.w3c_actions.pointer_action.move_to_location(round(x), round(y))
        chain.perform()

    def read(self, t, number=0):
        """What the legend of a panel says with the mouse at a time: [time, value, ...]."""
        x, y = self.axis("x", number)(t), self.middle(number)[1]
        self.move(x - 3, y)
        self.move(x, y)
        return self.js("return [...document.querySelectorAll('.legend')[arguments[0]]"
                       ".querySelectorAll('output')].map((e) => e.textContent)", number)

    def numbers(self, t, number=0):
        return [float(v) for v in self.read(t, number)]

    def drag(self, start, end, key=None):
        if key:
            ActionChains(self.browser).key_down(key).perform()
        chain = ActionChains(self.browser, duration=20)
        pointer = chain.w3c_actions.pointer_action
        pointer.move_to_location(round(start[0]), round(start[1]))
        pointer.pointer_down()
        for part in (0.3, 0.7, 1):
            pointer.move_to_location(round(start[0] + part * (end[0] - start[0])),
                                     round(start[1] + part * (end[1] - start[1])))
        pointer.pointer_up()
        chain.perform()
        if key:
            ActionChains(self.browser).key_up(key).perform()

    def zoom(self, a, b, number=0):
        x, y = self.axis("x", number), self.middle(number)[1]
        self.drag((x(a), y), (x(b), y))

    def reset(self):
        self.one("#reset").click()
        return until(lambda: self.span("x") == [0, 4] or self.span("x"))

    def toggle(self, name):
        for label in self.all("#list label"):
            if label.find_element("css selector", "span").text == name:
                label.click()
                return
        raise LookupError("no variable %s in the list" % name)

    def search(self, words):
        self.js("const e = document.getElementById('search'); e.value = arguments[0];"
                "e.dispatchEvent(new Event('input'));", words)

    def ink(self, x, y, colour="--c0"):
        """How many pixels within 2 of a place are of a colour, that of the first curve."""
        return self.js("""
            const c = document.querySelector(".graph canvas"), b = c.getBoundingClientRect();
            const copy = document.createElement("canvas"), scale = c.width / b.width;
            copy.width = c.width;
            copy.height = c.height;
            const context = copy.getContext("2d", { willReadFrequently: true });
            context.drawImage(c, 0, 0);
            context.fillStyle = getComputedStyle(document.documentElement)
                .getPropertyValue(arguments[2]).trim();
            const colour = [1, 3, 5].map((i) => parseInt(context.fillStyle.substr(i, 2), 16));
            const d = context.getImageData((arguments[0] - b.left - 2) * scale,
                (arguments[1] - b.top - 2) * scale, 5 * scale, 5 * scale).data;
            let count = 0;
            for (let i = 0; i < d.length; i += 4)
                if (d[i + 3] > 100 && colour.every((v, k) => Math.abs(v - d[i + k]) < 40))
                    count++;
            return count;""", x, y, colour)

    def trouble(self):
        """What the console said, and what was asked of a network or a disk."""
        said = [e["message"] for e in self.browser.get_log("browser")]
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                request = message["params"]
                if request["documentURL"] == self.url != request["request"]["url"]:
                    said.append("request: " + request["request"]["url"])
        return said

    def peace(self):
        said = self.trouble()
        return said == [] or said

    def picture(self, path):
        """The whole page; answers the number of its bytes."""
        height = self.js("return document.documentElement.scrollHeight")
        width = self.js("return innerWidth")
        png = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})["data"]
        return Path(path).write_bytes(base64.b64decode(png))


def close(a, b, tolerance):
    return abs(a - b) < tolerance


def reading(p, folder):
    check("before the mouse comes there is no value",
          lambda: set(p.texts(".legend output")) == {"–"})

    def hovering():
        t, x = p.numbers(2)
        return (close(t, 2, 0.05) and close(x, math.exp(-t), 1e-5)) or [t, x]
    check("hovering shows time and value", hovering)
    check("hovering marks the time, and the curve", lambda: p.js(
        "return [...document.querySelectorAll('.hair, .dot')].every((e) => !e.hidden)"))

    def drawn():
        x, y = p.axis("x"), p.axis("y")
        on = [p.ink(x(t), y(math.exp(-t))) for t in (0.5, 1, 2, 3)]
        off = [p.ink(x(t), y(math.exp(-t) + 0.2)) for t in (0.5, 1, 2, 3)]
        return (min(on) > 0 and max(off) == 0) or [on, off]
    check("the curve is where its values are", drawn)

    def event():
        x, y = p.axis("x"), p.axis("y")(0.8)
        on, off = p.ink(x(2), y, "--soft"), [p.ink(x(t), y, "--soft") for t in (1.3, 2.7)]
        return (on > 0 and max(off) == 0) or [on, off]
    check("an event is marked at its time", event)
    check("axes have names and units", lambda: p.texts(".ylabel") == ["x [m]"] and
          p.texts(".xlabel") == ["time [s]"])
    check("a picture of it", lambda: p.picture(folder + "/report-1280.png") > 20000)

    def leaving():
        p.move(2, 2)
        return until(lambda: set(p.texts(".legend output")) == {"–"})
    check("when the mouse leaves the values go", leaving)


def zooming(p):
    def ends(least, greatest):
        return until(lambda: (close(p.numbers(p.span("x")[0])[0], least, 0.12) and
                              close(p.numbers(p.span("x")[1])[0], greatest, 0.12)) or p.span("x"))

    def once():
        p.zoom(1, 2)
        return ends(1, 2)
    check("dragging zooms", once)

    def twice():
        p.zoom(1.2, 1.4)
        return until(lambda: (p.span("x")[0] > 1.15 and p.span("x")[1] < 1.45) or p.span("x"))
    check("zooming again goes deeper", twice)

    def values_fit():
        low, high = p.span("y")
        return (low > math.exp(-1.45) and high < math.exp(-1.15)) or [low, high]
    check("values fill the panel", values_fit)

    def moved():
        before, x, y = p.span("x"), p.axis("x"), p.middle()[1]
        p.drag((x(1.35), y), (x(1.25), y), Keys.SHIFT)
        return until(lambda: close(p.span("x")[0], before[0] + 0.1, 0.03) or p.span("x"))
    check("dragging with shift moves", moved)

    def double_click():
        p.move(*p.middle())
        ActionChains(p.browser).double_click().perform()
    check("a double click shows all again",
          lambda: again(double_click, lambda: p.span("x") == [0, 4] or p.span("x")))

    def upwards():
        x, y, before = p.middle()[0], p.axis("y"), p.span("y")
        p.drag((x, y(0.2)), (x, y(0.6)))
        seen = until(lambda: (p.span("y")[0] >= 0.2 and p.span("y")[1] <= 0.6 and
                              p.span("x") == [0, 4]) or p.span("y"))
        p.reset()
        return (seen is True and p.span("y") == before) or [seen, before, p.span("y")]
    check("dragging upwards zooms the values", upwards)


def choosing(p):
    panels = lambda: len(p.all(".panel"))

    def another():
        p.toggle("y")
        return (p.labels() == ["x [m]", "y [m]"] and panels() == 1) or p.labels()
    check("a check mark adds a curve, to the panel of its unit", another)

    def meant():
        t = p.numbers(1)[0]
        x, y = p.axis("x")(t), p.axis("y")(2 * math.exp(-t) + math.sin(t))
        p.move(x, y - 4)
        return until(lambda: p.texts(".legend .meant b") == ["y [m]"] or
                     p.texts(".legend .meant b"))
    check("a curve near the mouse stands out", meant)

    def panel():
        p.toggle("angle")
        return (panels() == 2 and p.texts(".ylabel") == ["[m]", "angle [rad]"]) or panels()
    check("another unit gets a panel of its own", panel)

    def together():
        p.zoom(2, 3)
        seen = until(lambda: p.span("x", 1) == p.span("x", 0) and p.span("x", 1)[0] >= 2)
        t, angle = p.numbers(2.5, 1)
        upper = [float(v) for v in p.texts(".legend output")[:3]]
        p.reset()
        return (seen is True and close(t, 2.5, 0.05) and close(angle, t, 1e-5) and
                upper[0] == t and close(upper[1], math.exp(-t), 1e-5)) or [seen, t, angle, upper]
    check("panels zoom together, and are read together", together)

    def jump():
        p.toggle("jump")
        p.zoom(1.9, 2.1, 2)
        until(lambda: p.span("x", 2)[0] > 1.8)
        t, value = p.read(2, 2)
        before, after = p.numbers(1.98, 2)[1], p.numbers(2.02, 2)[1]
        p.reset()
        p.toggle("jump")
        return ((t, value, before, after) == ("2", "1 → -1", 1, -1)) or [t, value, before, after]
    check("a jump has both its values", jump)

    def little():
        p.toggle("pressure")
        t, value = p.numbers(1, 2)
        low, high = p.span("y", 2)
        p.toggle("pressure")
        return (close(value, 101325 + 1e-3 * math.sin(t), 1e-9) and
                101324.999 < low < high <= 101325.001) or [t, value, low, high]
    check("what varies little about a large value is seen to vary", little)

    def aligned():
        p.toggle("jump")
        p.toggle(MARKUP)
        lefts = [p.box(".graph", k)[0] for k in range(panels())]
        p.toggle("jump")
        p.toggle(MARKUP)
        return (len(lefts) == 3 and len(set(lefts)) == 1) or lefts
    check("the same time stands below the same time", aligned)

    def away():
        p.toggle("y")
        return "y [m]" not in p.labels() or p.labels()
    check("the second click takes it away", away)

    def search():
        every = len(p.texts("#list label"))
        p.search("ANG")
        few = p.texts("#list label")
        p.search("nothing like it")
        note = p.texts("#list p")
        p.search("")
        return (every > 3 and len(few) == 1 and few[0].startswith("angle") and
                "no variable" in note[0] and len(p.texts("#list label")) == every) or [few, note]
    check("search", search)

    def clear():
        p.one("#none").click()
        return (panels() == 0 and not p.all("#list input:checked")) or panels()
    check("clear, and a word instead of curves", clear)

    def markup():
        p.toggle(MARKUP)
        return (p.labels() == [MARKUP] and p.texts(".ylabel") == [MARKUP] and
                not p.all("img")) or p.labels()
    check("names that look like markup are text", markup)


def the_rest(p):
    colour = lambda: p.js("return getComputedStyle(document.body).backgroundColor")

    def theme():
        before = colour()
        p.one("#theme").click()
        after = colour()
        p.one("#theme").click()
        return (before != after and colour() == before) or [before, after]
    check("light and dark", theme)

    def resized():
        size = lambda: p.js("const c = document.querySelector('.graph canvas');"
                            "return [c.width, c.clientWidth, c.parentNode.parentNode.clientWidth]")
        before = size()
        p.browser.set_window_size(1000, 900)
        seen = until(lambda: (size()[0] < before[0] - 200 and len(set(size())) == 1) or size())
        p.browser.set_window_size(1280, 1000)
        return seen is True and until(lambda: size() == before or size()) or [before, seen]
    check("curves follow the width of the window, pixel by pixel", resized)

    def structure():
        width, height = p.box("#structure svg")[2:]
        titles = p.texts("#structure .hit title")
        cells, rows = len(p.all(".signature td.match")), len(p.all(".signature tr"))
        return (width > 200 and close(width, height, 2) and cells == rows - 2 and
                any(t.startswith("der(x) in 'der(x) = ") for t in titles)) or \
            [width, height, titles, cells, rows]
    check("the structure: a matrix with its entries named, the signature", structure)

    def text():
        p.one("#text summary").click()
        words = p.one("#text pre").text
        return ("der(x) = -k * x" in words and "</script>" in words) or words
    check("the model's text, with numbers of lines", text)

    def licence():
        p.one("footer summary").click()
        words = p.one("footer pre").text
        return ("Permission is hereby granted" in words and "WITHOUT WARRANTY" in words and
                "Copyright" in words) or words
    check("the licence of dygraphs", licence)
    check("nothing was loaded, nothing complained", p.peace)


def at_a_desk(browser, path, folder):
    p = Page(browser, path)
    until(lambda: p.span("x") == [0, 4])
    reading(p, folder)
    zooming(p)
    choosing(p)
    the_rest(p)


def with_many_rows(browser, path):
    p = Page(browser, path)

    def two():
        p.toggle("y")
        t, x, y = p.numbers(1)
        return (close(t, 1, 0.05) and close(x, math.exp(-t), 1e-5) and
                close(y, 2 * math.exp(-t) + math.sin(t), 1e-5)) or [t, x, y]
    check("curves with times of their own are read together", two)
    check("many rows: nothing complained", p.peace)


def without_a_run(browser, path):
    p = Page(browser, path)
    check("a run that did not begin has no panel", lambda: (
        not p.all("#plot") and "no curves" in p.one("body").text) or p.one("body").text)
    p.one("#theme").click()
    check("no run: nothing complained", p.peace)


def on_a_phone(browser, path, folder):
    tell = browser.execute_cdp_cmd
    tell("Emulation.setDeviceMetricsOverride",
         {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
    tell("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    tell("Emulation.setEmulatedMedia",
         {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    p = Page(browser, path)
    until(lambda: p.span("x")[1] > 3)

    def fingers(kind, *places):
        tell("Input.dispatchTouchEvent", {"type": "touch" + kind, "touchPoints": [
            {"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]})

    def width():
        found = p.js("return document.documentElement.scrollWidth")
        return found <= 390 or found
    check("a phone's width is enough", width)

    def tap():
        place = p.axis("x")(2), p.middle()[1]
        fingers("Start", place)
        fingers("End")
        until(lambda: "–" not in p.texts(".legend output"))
        t, x = [float(v) for v in p.texts(".legend output")]
        return (close(t, 2, 0.1) and close(x, math.exp(-t), 1e-5)) or [t, x]
    check("a tap shows a value", tap)

    def pinch():
        x, y = p.axis("x"), p.middle()[1]
        time.sleep(0.4)  # it is not the second tap
        a, b, left, right = x(1.5), x(2.5), x(0.5), x(3.5)
        fingers("Start", (a, y), (b, y))
        for part in (0.25, 0.5, 0.75, 1):
            fingers("Move", (a + part * (left - a), y), (b + part * (right - b), y))
        fingers("End")
        return until(lambda: (p.span("x")[0] > 1.2 and p.span("x")[1] < 2.8) or p.span("x"))
    check("two fingers zoom", pinch)

    def double_tap():
        time.sleep(0.4)
        place = p.middle()
        tell("Input.synthesizeTapGesture", {"x": round(place[0]), "y": round(place[1]),
                                            "tapCount": 2, "duration": 30})
    check("a double tap shows all again", lambda: again(
        double_tap, lambda: (p.span("x")[0] == 0 and p.span("x")[1] > 3) or p.span("x")))

    def structure():
        left, _, wide, _ = p.box("#structure svg")
        return (left >= 0 and left + wide <= 390 and wide > 200) or [left, wide]
    check("a phone: the structure fits", structure)
    check("a phone: dark as its system", lambda: p.js(
        "return getComputedStyle(document.body).backgroundColor") == "rgb(20, 25, 31)")
    check("a phone: a picture of it", lambda: p.picture(folder + "/report-390.png") > 20000)
    check("a phone: nothing complained", p.peace)


def living(home):
    """The numbers of processes of the browser: nobody else has this home."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"HOME=" + home.encode() in words and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def end(home):
    """The last processes end a while after the browser; what does not end is made to."""
    until(lambda: living(home) == [], 10)
    for number in living(home):
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            pass
    until(lambda: living(home) == [], 10)


def main():
    page, many, failure, folder = sys.argv[1:]
    home = os.getcwd()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that the browser ends as well
    try:
        browser = launch(home)
        try:
            at_a_desk(browser, page, folder)
            with_many_rows(browser, many)
            without_a_run(browser, failure)
            on_a_phone(browser, page, folder)
        finally:
            browser.quit()
    finally:
        end(home)
    sys.exit(1 if failed else 0)


main()
