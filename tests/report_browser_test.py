"""Draws the page of `heddle report` with headless Chromium, without a network. The page makes no request, prints nothing
on the console, and is drawn within 3 s of processor time. Nothing overlaps or is cut off at 1280 and 390 pixels,
figures answer to the mouse, and the page prints to PDF. Skipped if Chromium or Selenium is missing
(scripts/packages.sh browser).

HEDDLE_SCREENSHOTS=docs/verbs/report makes the pictures of the documentation again, one of each figure.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from script_arguments import script_arguments

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
except ImportError:
    # Debian's package is for Debian's Python, which may not be the first one on the path.
    DEBIAN_PYTHON = "/usr/bin/python3"
    if os.path.exists(DEBIAN_PYTHON) and sys.executable != DEBIAN_PYTHON and not os.environ.get("HEDDLE_OTHER_PYTHON"):
        os.execve(DEBIAN_PYTHON, [DEBIAN_PYTHON, "-B", *sys.argv], {**os.environ, "HEDDLE_OTHER_PYTHON": "1"})
    webdriver = None

DRAWN_SECONDS_MAX = 3
HOSTILE = "<script>alert(1)<b>x<b>"

# Visible elements with a text of their own that leave the page, and pairs of figures or paragraphs that overlap.
LAYOUT = """
const problems = [];
const width = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > width) problems.push("the page is wider than the window: " + document.documentElement.scrollWidth);
for (const element of document.querySelectorAll("main *")) {
  if (element.closest(".scroll, svg, .modebar, .js-plotly-plot, details:not([open])")) continue;
  const box = element.getBoundingClientRect();
  if (box.width > 0 && (box.left < -1 || box.right > width + 1)) problems.push(element.tagName + " is cut off: " + element.textContent.slice(0, 40));
}
const blocks = [...document.querySelectorAll("main > p, main > h2, main > h3, main > figure, main > .table, main > ul, header > *")]
  .map((element) => [element, element.getBoundingClientRect()]).filter(([, box]) => box.height > 0);
for (let i = 1; i < blocks.length; ++i)
  if (blocks[i][1].top < blocks[i - 1][1].bottom - 1) problems.push("overlap: " + blocks[i][0].textContent.slice(0, 40));
// Texts of a figure stay within it, and its ticks do not overlap each other or the legend.
for (const plot of document.querySelectorAll(".js-plotly-plot")) {
  const frame = plot.getBoundingClientRect();
  for (const text of plot.querySelectorAll("svg text")) {
    const box = text.getBoundingClientRect();
    if (box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1))
      problems.push(plot.id + ": cut off: " + text.textContent);
  }
  for (const axis of [".xaxislayer-above", ".yaxislayer-above"]) {
    const boxes = [...plot.querySelectorAll(axis + " text")].map((text) => text.getBoundingClientRect()).filter((box) => box.width > 0);
    for (let i = 1; i < boxes.length; ++i) {
      const [a, b] = [boxes[i - 1], boxes[i]];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
        problems.push(plot.id + ": ticks overlap: " + plot.querySelectorAll(axis + " text")[i].textContent);
    }
  }
  const legend = plot.querySelector(".legend"), area = plot.querySelector(".cartesianlayer .plot .overplot") || plot.querySelector(".nsewdrag");
  const drag = plot.querySelector(".nsewdrag").getBoundingClientRect();
  if (legend && legend.getBoundingClientRect().bottom > drag.top + 3) problems.push(plot.id + ": the legend covers the figure");
}
return problems;
"""


class Browser:
    def __init__(self, folder):
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
                         "--proxy-server=127.0.0.1:9", f"--user-data-dir={folder}/profile"):
            options.add_argument(argument)
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)

    def resize(self, width, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def open(self, path, width):
        """Waits until all figures are drawn; returns the processor time that it took, which a busy machine does not change."""
        self.resize(width)
        self.driver.get("about:blank")
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # of what the browser did before
        self.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        before = self.busy_seconds()
        self.driver.get("file://" + path)
        end = time.monotonic() + 60
        while self.driver.execute_script("return document.body.dataset.drawn") != "all":
            assert time.monotonic() < end, "it is not drawn"
            time.sleep(0.02)
        return self.busy_seconds() - before

    def busy_seconds(self):
        """Processor time of the page's main thread."""
        return {metric["name"]: metric["value"] for metric in self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}["TaskDuration"]

    def check_quiet(self, path):
        """No message on the console, and no request but that of the page and of texts within it."""
        said = self.driver.get_log("browser")
        assert not said, said
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                assert url == "file://" + path or url.startswith(("data:", "blob:")), url


def check_page(browser, path, figures):
    for width in (1280, 390):
        took = browser.open(path, width)
        assert took < DRAWN_SECONDS_MAX, f"{path} was drawn in {took:.2f} s"
        browser.check_quiet(path)
        problems = browser.driver.execute_script(LAYOUT)
        assert not problems, (path, width, problems)
        drawn = {plot.get_attribute("id") for plot in browser.driver.find_elements(By.CSS_SELECTOR, ".js-plotly-plot")}
        assert figures <= drawn, (figures, drawn)
        print(f"{os.path.basename(path)}, {width} pixels: {len(drawn)} figures in {took:.2f} s", flush=True)
    browser.open(path, 1280)
    pdf = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert pdf.startswith(b"%PDF") and len(pdf) > 20_000, len(pdf)


def check_mouse(browser, path):
    """Pointing at a bar shows its label, a click on the legend hides a state, and a drag zooms."""
    browser.open(path, 1280)
    driver = browser.driver
    plot = driver.find_element(By.ID, "states-figure")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    bar = plot.find_element(By.CSS_SELECTOR, ".bars .point")
    ActionChains(driver).move_to_element(bar).pause(0.5).perform()
    label = plot.find_elements(By.CSS_SELECTOR, ".hoverlayer .hovertext")
    assert label and "working" in label[0].text, [text.text for text in label]
    shown = len(plot.find_elements(By.CSS_SELECTOR, ".trace.bars"))
    toggle = plot.find_element(By.CSS_SELECTOR, ".legend .legendtoggle")
    ActionChains(driver).move_to_element(toggle).click().perform()
    end = time.monotonic() + 5
    while len(plot.find_elements(By.CSS_SELECTOR, ".trace.bars")) == shown and time.monotonic() < end:
        time.sleep(0.05)
    assert len(plot.find_elements(By.CSS_SELECTOR, ".trace.bars")) == shown - 1, "a click on the legend hides a state"
    before = driver.execute_script("return arguments[0]._fullLayout.xaxis.range.slice()", plot)
    area = plot.find_element(By.CSS_SELECTOR, ".nsewdrag")
    ActionChains(driver).move_to_element(area).click_and_hold().move_by_offset(120, 0).pause(0.2).release().pause(0.5).perform()
    assert driver.execute_script("return arguments[0]._fullLayout.xaxis.range.slice()", plot) != before, "a drag zooms"


# Which figures the documentation shows, and of which results: a name, and the words after `heddle` that make them.
EXPLAINED = {
    "stealing": (("compare", "configs/experiments/first.yaml", "--record"),
                 {"curve-1": "curve", "dots-2": "dots", "states-figure": "states", "steal-distance-figure": "steal-distances", "steal-matrix": "steal-matrix"}),
    "placement": (("compare", "{folder}/placement.yaml", "--record"),
                  {"heat-1": "heat-map", "gantt": "gantt", "workers": "workers", "causes-figure": "causes", "path-figure": "critical-path"}),
    "grain": (("compare", "{folder}/grain.yaml"), {"granularity-figure": "granularity"}),
    "worlds": (("compare", "configs/experiments/worlds.yaml"), {"worlds-figure": "worlds"}),
}
PLACEMENT = ("workload: {name: cholesky, tiles: 6}\nplatform: {nodes: 2, cores: 2}\nbackend: sim\nrepeat: 3\n"
             "compare: {schedule.placement: [heft, cyclic, dsc], schedule.stealing.victim: [none, random]}\n")
GRAIN = ("workload: {name: bag, tasks: 512}\nplatform: {nodes: 4, cores: 4}\nbackend: sim\nschedule: {stealing: {victim: random}}\n"
         "compare: {workload.task_cost: [100f, 1kf, 10kf, 100kf, 1Mf]}\n")


def kind_of(figure):
    """A figure's identifier without its number on the page."""
    return re.sub(r"-\d+$", "", figure)


def take_pictures(browser, run, folder, pictures):
    """One of each figure of `EXPLAINED`, as files `pictures`/NAME.png. Each figure that a page draws must be explained."""
    for name, text in (("placement", PLACEMENT), ("grain", GRAIN)):
        with open(f"{folder}/{name}.yaml", "w", encoding="utf-8") as file:
            file.write(text)
    for name, (words, figures) in EXPLAINED.items():
        out = f"{folder}/explained-{name}"
        run(*(word.format(folder=folder) for word in words), "--out", out)
        run("report", out, "--out", out + ".html")
        browser.open(out + ".html", 1000)
        drawn = {kind_of(plot.get_attribute("id")) for plot in browser.driver.find_elements(By.CSS_SELECTOR, ".js-plotly-plot")}
        unexplained = drawn - {kind_of(figure) for _, explained in EXPLAINED.values() for figure in explained}
        assert not unexplained, f"the documentation shows no {unexplained}"
        for figure, picture in figures.items():
            plot = browser.driver.find_element(By.ID, figure)
            browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
            assert plot.screenshot(f"{pictures}/{picture}.png"), figure


def check_pictures(browser, run, folder, source):
    """The documentation shows each figure."""
    made = os.environ.get("HEDDLE_SCREENSHOTS") or f"{folder}/pictures"
    os.makedirs(made, exist_ok=True)
    take_pictures(browser, run, folder, made)
    for name, (_, figures) in EXPLAINED.items():
        check_page(browser, f"{folder}/explained-{name}.html", set(figures))
    shown = {name for name in os.listdir(os.path.join(source, "docs", "verbs", "report")) if name.endswith(".png")}
    assert shown == set(os.listdir(made)), (shown, os.listdir(made))
    with open(os.path.join(source, "docs", "verbs", "report.md"), encoding="utf-8") as file:
        page = file.read()
    missing = [name for name in shown if f"](report/{name})" not in page]
    assert not missing, f"docs/verbs/report.md does not show {missing}"


def main():
    arguments = script_arguments("heddle", "simulator")
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("chromium, chromium-driver and python3-selenium are not all there")
        return 77
    os.chdir(arguments.source)
    heddle = os.path.abspath(arguments.heddle)

    def run(*words):
        subprocess.run([heddle, *words], check=True, capture_output=True, text=True)

    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)
        with open(path("hostile.yaml"), "w", encoding="utf-8") as file:
            file.write(f"name: \"{HOSTILE}\"\nworkload: {{name: cholesky, tiles: 5}}\nplatform: {{nodes: 2, cores: 2}}\nbackend: sim\n"
                       "compare: {schedule.placement: [heft, cyclic], schedule.stealing.victim: [none, random]}\n")
        run("compare", path("hostile.yaml"), "--out", path("hostile"), "--record")
        run("compare", "configs/experiments/first.yaml", "--out", path("first"), "--record")
        run("run", "configs/quickstart.yaml", "--set", "platform.nodes=1000", "--out", path("large"), "--record")
        pages = {"hostile": {"heat-1", "gantt", "path-figure", "causes-figure"}, "first": {"dots-1", "curve-1", "steal-matrix", "gantt"},
                 "large": {"steal-matrix", "gantt", "workers"}}
        browser = Browser(folder)
        try:
            for name, figures in pages.items():
                run("report", path(name), "--out", path(name + ".html"), "--title", f"{name} {HOSTILE}")
                check_page(browser, path(name + ".html"), figures)
            browser.open(path("hostile.html"), 1280)
            assert HOSTILE in browser.driver.find_element(By.TAG_NAME, "h1").text
            check_mouse(browser, path("first.html"))
            check_pictures(browser, run, folder, arguments.source)
        finally:
            browser.driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
