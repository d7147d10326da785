#!/usr/bin/env python3
"""Opens pages in headless Chromium, with no network, and uses them as a person would.

usage: check_page.py HAUL PROFILE TEST_PAGE WORK_DIR

TEST_PAGE is the unit test of pages, which writes one full of hostile names. Drives the browser with
python3-selenium; exits 77 where it, Chromium or chromedriver is absent.
"""
import html.parser
import json
import pathlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    from selenium import webdriver
    from selenium.common.exceptions import SessionNotCreatedException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
except ImportError:
    print("skipped: no python3-selenium")
    sys.exit(77)

# The profile's two kernels as ncu --csv would report them.
COUNTERS = "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"Metric Name\",\"Metric Unit\"," \
    "\"Metric Value\"\n" + "".join(
        f'"{number}","{name}","(16384, 1, 1)","(32, 8, 1)","{metric}","{unit}","{value}"\n'
        for number, (name, metrics) in enumerate([
            ("convolve", [("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", 1212153856),
                          ("dram__bytes_read.sum", "byte", 17000000),
                          ("dram__bytes_write.sum", "byte", 16777216)]),
            ("histogram", [("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", 67108864),
                           ("dram__bytes_read.sum", "byte", 268435456),
                           ("dram__bytes_write.sum", "byte", 1048576)])])
        for metric, unit, value in metrics + [("gpu__time_duration.sum", "ns", 210000)])
CHROMIUM = ["chromium", "chromium-browser", "google-chrome"]


class Browser:
    """What the checks ask of a browser."""

    def __init__(self, program, driver, folder):
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for argument in ["headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
                         "no-first-run", "disable-background-networking", "window-size=1200,900",
                         "disable-component-update", "user-data-dir=" + os.path.join(folder, "user"),
                         # whatever is asked for by name or address fails
                         "host-resolver-rules=MAP * ~NOTFOUND", "proxy-server=127.0.0.1:1"]:
            options.add_argument("--" + argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        log = os.path.join(folder, "chromedriver.txt")
        self.driver = webdriver.Chrome(service=Service(driver, log_path=log), options=options)

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, path):
        self.driver.get("file://" + path)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script):
        """Runs a script that calls arguments[0] with its result."""
        return self.driver.execute_async_script(script)

    def find_all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def point(self, *steps):
        """Moves the mouse: ("move", x, y) from the window's corner, ("down",), ("up",)."""
        chain = ActionChains(self.driver, duration=20)
        pointer = chain.w3c_actions.pointer_action
        for step in steps:
            if step[0] == "move":
                pointer.move_to_location(round(step[1]), round(step[2]))
            elif step[0] == "down":
                pointer.pointer_down()
            else:
                pointer.pointer_up()
        chain.perform()

    def press(self, keys):
        ActionChains(self.driver).send_keys(keys).perform()

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """What was asked for since the last call."""
        messages = [json.loads(entry["message"])["message"]
                    for entry in self.driver.get_log("performance")]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def close(self):
        self.driver.quit()


class Reader(html.parser.HTMLParser):
    """Holds that elements are closed in order, ids occur once, and links lead to one of them."""
    VOID = {"meta", "link", "br", "img", "hr", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.wrong = [], set(), set(), []
        self.feed(text)
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]
        text = re.sub("(?s)<(script|style).*?</\\1>", "", text)
        self.wrong += re.findall(r"<(?![a-zA-Z/!]).{10}", text)
        self.wrong += [f"no '{link}'" for link in self.links - self.ids]

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id" and value in self.ids:
                self.wrong.append(f"a second '{value}'")
            elif name == "id":
                self.ids.add(value)
            elif name == "href" and value.startswith("#"):
                self.links.add(value[1:])

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(f"</{tag}> closes nothing")


failures = []


def check(what, holds, found=""):
    print(("ok      " if holds else "FAILED  ") + what + ("" if holds else f": {found!r}"))
    if not holds:
        failures.append(what)


def check_alone(browser, path):
    """Nothing but the page itself was asked for, and nothing complained."""
    # Chromium's own first tab is a page of chrome: or, in later versions, chrome-untrusted:.
    own = ("data:", "chrome:", "chrome-untrusted:")
    asked = [url for url in browser.requests() if not url.startswith(own)]
    check("only the page itself is read", set(asked) == {"file://" + path}, asked)
    complaints = browser.complaints()
    check("no complaints", not complaints, complaints)


def check_text(browser):
    """What can be read without scripts."""
    body = browser.find_all("body")[0].text
    for words in ["Timeline", "HtoD pinned", "stream 13", "Where the time goes"]:
        check(f"the text has '{words}'", words in body, body[:2000])
    paths = [path.rect for path in browser.find_all("svg.bars path")]
    drawn = [rect for rect in paths if rect["width"] > 100 and rect["height"] > 10]
    check("bars are drawn", len(drawn) >= 3, paths)
    check("the axis has times", "20 ms" in body, "")
    rates = [path.rect for path in browser.find_all("svg.rates path")]
    check("the rates of both directions are drawn",
          len(rates) == 2 and all(rect["width"] > 100 and rect["height"] > 5 for rect in rates), rates)
    check("and their scale is said", "HtoD, to 2" in body and "DtoH, to 2" in body, body[:2000])
    shades = [item.text for item in browser.find_all(".legend li")]
    check("kernels have colours of their own", {"convolve<17>", "histogram"} <= set(shades), shades)
    panels = [rect.rect for rect in browser.find_all(".panel rect")]
    check("histograms are drawn", any(rect["height"] > 50 for rect in panels), panels)
    tables = browser.find_all("main table")
    check("there are tables", len(tables) >= 5, len(tables))


def view_of(browser):
    return browser.run("const d = document.querySelector('.plot').dataset;"
                       "return [Number(d.from), Number(d.to)]")


def settle(browser):
    """The page draws before the next frame; returns after it."""
    browser.wait("const done = arguments[0];"
                 "requestAnimationFrame(() => requestAnimationFrame(() => done()))")


def plot_box(browser):
    return browser.run("const plot = document.querySelector('.plot');"
                       "plot.scrollIntoView({block: 'center'});"
                       "const b = plot.getBoundingClientRect();"
                       "return {x: b.x, y: b.y, width: b.width, height: b.height}")


def check_zoom(browser):
    whole = view_of(browser)
    check("all is shown at first", whole[0] == 0 and whole[1] > 80e6, whole)
    axis = browser.run("return document.querySelector('.axis').textContent")
    browser.run("document.querySelector('.plot').focus()")
    browser.press("++")
    settle(browser)
    near = view_of(browser)
    check("the key + zooms in", abs((near[1] - near[0]) * 4 / whole[1] - 1) < 1e-6, near)
    check("the axis follows",
          browser.run("return document.querySelector('.axis').textContent") != axis)
    browser.press("0")
    settle(browser)
    check("the key 0 shows all again", view_of(browser) == whole, view_of(browser))
    box = plot_box(browser)
    y = box["y"] + box["height"] / 2
    browser.point(("move", box["x"] + box["width"] * 0.4, y), ("down",),
                  ("move", box["x"] + box["width"] * 0.5, y),
                  ("move", box["x"] + box["width"] * 0.6, y), ("up",))
    settle(browser)
    near = view_of(browser)
    check("dragging zooms to the stretch",
          abs(near[0] / whole[1] - 0.4) < 0.01 and abs(near[1] / whole[1] - 0.6) < 0.01, near)
    browser.find_all("[data-zoom=all]")[0].click()
    settle(browser)
    check("the button shows all again", view_of(browser) == whole, view_of(browser))


def check_hover(browser):
    """Over a lane, from left to right, until a kernel's name is said."""
    box = plot_box(browser)
    lanes = browser.run("return Array.from(document.querySelectorAll('.lanes li'), l => l.innerText)")
    y = box["y"] + 22 + 26 * lanes.index("stream 14") + 13
    said = ""
    for part in range(20):
        browser.point(("move", box["x"] + box["width"] * (0.3 + part / 400), y))
        said = browser.run("const t = document.getElementById('tip');"
                           "return t.hidden ? '' : t.innerText")
        if "convolve" in said:
            break
    check("hovering says the kernel's name", "convolve<17>" in said, said)
    check("and its stream, time and start",
          "stream 14" in said and " us" in said and "from " in said, said)
    browser.run("document.querySelector('.plot').focus()")
    browser.press("n")
    spoken = browser.run("return document.querySelector('[aria-live]').textContent")
    check("the keyboard goes through operations", "stream" in spoken, spoken)


def check_search(browser):
    field = browser.find_all("#find")[0]
    field.send_keys("HISTOGRAM")
    settle(browser)
    said = browser.find_all("#found")[0].text
    check("the search counts what it finds", said.startswith("8 found, 1."), said)
    dim = browser.run("return Array.from(document.querySelectorAll('.bars .dim'),"
                      "p => p.getAttribute('d').length).filter(n => n).length")
    check("what is not found is dim", dim >= 3, dim)
    browser.run("document.querySelector('[data-zoom=in]').click()")
    settle(browser)
    field.send_keys("\ue007")
    settle(browser)
    tip = browser.run("return document.getElementById('tip').innerText")
    view = view_of(browser)
    check("Enter goes to it", "histogram" in tip and view[1] > 87e6, (tip, view))
    field.clear()
    field.send_keys("no such operation")
    settle(browser)
    said = browser.find_all("#found")[0].text
    check("a search in vain says so", said == "nothing found", said)
    field.clear()
    field.send_keys(" ")
    settle(browser)
    dim = browser.run("return Array.from(document.querySelectorAll('.bars .dim'),"
                      "p => p.getAttribute('d').length).filter(n => n).length")
    check("without a search nothing is dim", dim == 0, dim)
    browser.find_all("[data-zoom=all]")[0].click()
    settle(browser)


def check_map(browser):
    box = browser.run("const m = document.querySelector('.map'); m.scrollIntoView({block: 'center'});"
                      "const b = m.getBoundingClientRect();"
                      "return {x: b.x, y: b.y, width: b.width, height: b.height}")
    whole = view_of(browser)
    browser.run("document.querySelector('[data-zoom=in]').click()")
    settle(browser)
    browser.run("document.querySelector('.map').scrollIntoView({block: 'center'})")
    middle = box["y"] + box["height"] / 2
    browser.point(("move", box["x"] + box["width"] * 0.1, middle), ("down",),
                  ("move", box["x"] + box["width"] * 0.3, middle), ("up",))
    settle(browser)
    view = view_of(browser)
    check("the map moves the view", abs((view[0] + view[1]) / 2 / whole[1] - 0.3) < 0.02, view)
    frame = browser.run("return Number(document.querySelector('.frame').getAttribute('width'))")
    check("its frame is what is shown", abs(frame / box["width"] - 0.5) < 0.02, frame)
    browser.find_all("[data-zoom=all]")[0].click()
    settle(browser)


def check_range(browser):
    text = browser.find_all("#range")[0].text
    check("the numbers of the range are those of the whole", "Shown: 88.6" in text and
          "2.066 GiB" in text and "136" in text, text)
    box = plot_box(browser)
    y = box["y"] + box["height"] / 2
    browser.run("document.querySelector('.plot').focus()")
    browser.command("Input.dispatchKeyEvent", type="keyDown", key="Shift", modifiers=8)
    for kind, part in [("mousePressed", 0.2), ("mouseMoved", 0.3), ("mouseReleased", 0.4)]:
        browser.command("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1,
                        modifiers=8, x=box["x"] + box["width"] * part, y=y, buttons=1)
    browser.command("Input.dispatchKeyEvent", type="keyUp", key="Shift")
    settle(browser)
    text = browser.find_all("#range")[0].text
    check("Shift and drag selects a range", text.startswith("Selected: 17.7"), text)
    check("without zooming", view_of(browser)[0] == 0 and view_of(browser)[1] > 80e6,
          view_of(browser))
    browser.press("\ue00c")
    settle(browser)
    text = browser.find_all("#range")[0].text
    check("Escape ends the selection", text.startswith("Shown:"), text)


def check_roofline(browser):
    recorded = browser.find_all(".roofline circle.look0")
    check("the roofline has its kernels", len(recorded) == 2, len(recorded))
    predicted = browser.find_all(".roofline circle.look1")
    check("and where they are predicted to be", len(predicted) == 2, len(predicted))
    titles = browser.run("return Array.from(document.querySelectorAll('.roofline title'),"
                         "t => t.textContent)")
    check("and says what they reach", any("convolve" in title and "flops for each byte, 59 % of the "
                                          "roof" in title for title in titles), titles)


def check_policy(browser):
    """What an injected script could try."""
    tried = browser.wait("""
        const done = arguments[0];
        const image = new Image();
        const div = document.createElement('div');
        document.body.append(div);
        div.innerHTML = '<img src="x:" onerror="window.hacked = 9">';
        const script = document.createElement('script');
        script.textContent = 'window.hacked = 8';
        document.body.append(script);
        fetch('http://127.0.0.1:1/').then(() => done('fetched'), () =>
            setTimeout(() => done(window.hacked || 'refused'), 50));""")
    check("the policy refuses scripts and requests", tried == "refused", tried)
    browser.complaints()
    browser.requests()


def check_hostile(browser, path):
    browser.open(path)
    settle(browser)
    check("hostile names run nothing", browser.run("return window.hacked") is None)
    check("the title is the name as it is",
          browser.run("return document.title").startswith("</script><script>"))
    check("no element comes of a name", not browser.find_all("img, header svg, header script"))
    first = browser.run("return document.querySelectorAll('.plot').length")
    check("both timelines are drawn", first == 2, first)
    check_alone(browser, path)


def check_projection(browser):
    plots = browser.run("return document.querySelectorAll('.plot').length")
    check("before and after are drawn", plots == 2, plots)
    browser.run("document.querySelector('.plot').focus()")
    browser.press("+")
    settle(browser)
    views = browser.run("return Array.from(document.querySelectorAll('.plot'),"
                        "p => p.dataset.from + ' ' + p.dataset.to)")
    check("both move together", views[0] == views[1] and not views[0].startswith("0 "), views)
    marked = browser.run("return Array.from(document.querySelectorAll('.bars .critical'),"
                         "p => p.getAttribute('d').length)")
    check("the critical path is marked", marked[-1] > 0, marked)
    points = browser.find_all(".scatter circle, .scatter svg rect")
    check("predicted against measured has points", len(points) >= 5, len(points))


def check_without_scripts(browser, path):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(path)
    check("without scripts there are no buttons", not browser.find_all("#zoom")[0].is_displayed())
    check_text(browser)
    check_alone(browser, path)
    browser.command("Emulation.setScriptExecutionDisabled", value=False)


def check_dark(browser, path):
    grounds = []
    for scheme in ["light", "dark"]:
        browser.command("Emulation.setEmulatedMedia",
                        features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(path)
        grounds.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    check("dark where that is preferred", grounds[0] == "rgb(255, 255, 255)" != grounds[1], grounds)


def check_markup(pages):
    for name, path in pages.items():
        with open(path, encoding="utf-8") as page:
            wrong = Reader(page.read()).wrong
        check(f"{name}: the markup is whole", not wrong, wrong[:10])


def check_pages(browser, pages):
    browser.open(pages["analysis"])
    settle(browser)
    check_text(browser)
    check_zoom(browser)
    check_hover(browser)
    check_search(browser)
    check_map(browser)
    check_range(browser)
    check_alone(browser, pages["analysis"])
    check_policy(browser)
    browser.command("Emulation.setDeviceMetricsOverride", width=380, height=800,
                    deviceScaleFactor=1, mobile=False)
    settle(browser)
    wide = browser.run("return document.documentElement.scrollWidth")
    check("a narrow window needs no scrolling across", wide <= 380, wide)
    browser.command("Emulation.clearDeviceMetricsOverride")
    for name, words in [("overlap", "256 streams"), ("advice", "pin the host buffers"),
                        ("simulation", "engine, by in 0"),
                        ("projection", "on h100-pcie5")]:
        browser.open(pages[name])
        settle(browser)
        body = browser.run("return document.body.textContent")
        check(f"{name}: the text has '{words}'", words in body, body[:500])
        check_alone(browser, pages[name])
    check_projection(browser)
    check_roofline(browser)
    check_hostile(browser, pages["hostile"])
    check_dark(browser, pages["analysis"])
    browser.complaints()
    browser.requests()
    check_without_scripts(browser, pages["analysis"])


def write_pages(haul, profile, test_page, folder):
    workload = os.path.join(os.path.dirname(__file__), "../../examples/workloads/streams.yaml")
    pages = {name: os.path.join(folder, name + ".html")
             for name in ["analysis", "projection", "advice", "simulation", "overlap", "hostile"]}
    quiet = ["-o", os.devnull]
    subprocess.run([haul, "analyze", profile, "--html", pages["analysis"]] + quiet, check=True)
    subprocess.run([haul, "overlap", "--machine", "k20", "--h2d", "672MiB", "--d2h", "672MiB",
                    "--kernel", "30 ms", "--reads", "3", "--html", pages["overlap"]] + quiet, check=True)
    counters = os.path.join(folder, "counters.csv")
    with open(counters, "w", encoding="utf-8") as file:
        file.write(COUNTERS)
    subprocess.run([haul, "project", profile, "--to", "h100-pcie5", "--counters", counters,
                    "--html", pages["projection"]] + quiet, check=True)
    recorder = str(pathlib.Path(__file__).parent.parent / "cli" / "data" / "recorder.yaml")
    subprocess.run([haul, "advise", profile, "--from", recorder, "--html", pages["advice"]] + quiet,
                   check=True)
    subprocess.run([haul, "simulate", workload, "--machine", "k40", "--html", pages["simulation"]]
                   + quiet, check=True)
    subprocess.run([test_page, "write", pages["hostile"]], check=True)
    return pages


def main():
    haul, profile, test_page, folder = sys.argv[1:]
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    driver = shutil.which("chromedriver")
    if not program or not driver:
        print("skipped: no chromium or no chromedriver (chromium, chromium-driver)")
        return 77
    os.makedirs(folder, exist_ok=True)
    pages = write_pages(haul, profile, test_page, os.path.abspath(folder))
    check_markup(pages)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            browser = Browser(program, driver, scratch)
        except SessionNotCreatedException as reason:
            print("skipped:", reason.msg)  # chromedriver is of another version than the browser
            return 77
        try:
            check_pages(browser, pages)
        finally:
            browser.close()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


sys.exit(main())
