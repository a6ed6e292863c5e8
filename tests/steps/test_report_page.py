"""The page of a campaign in a browser: filters, links, keyboard, screen readers, every width.

The campaign has the findings of repro/, a hunt, an unreproduced finding, and an unreadable one.
"""

import shutil
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from slotfuzz import report
from slotfuzz.finding import finding
from slotfuzz.hunt import series
from slotfuzz.hunt.plan import Plan, Result
from slotfuzz.paths import ROOT
from slotfuzz.report.causes import merged
from slotfuzz.report.page import page

WIDTHS = (400, 768, 1600)
SCHEMES = ("light", "dark")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync")
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = arguments[0]; })"
VISIBLE = "return [...document.querySelectorAll('.rows > li')].filter(one => one.offsetHeight)"
NPM_SECONDS_MAX = 120


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A campaign with everything that a page can show."""
    root = tmp_path_factory.mktemp("campaign") / "repro"
    shutil.copytree(ROOT / "repro", root)
    seen = finding.load(next(root.glob("torch-*/*/finding.json")).parent)
    finding.write(root, replace(seen, id="unreproduced-x", rate=0.0), {
        "program.py": "t0 = T.ones(1)\n", "NOTES.md": "# x\n\nSeen once, in a hunt.\n"})
    (root / "broken").mkdir()
    (root / "broken" / "finding.json").write_text("null")
    subject = SimpleNamespace(name="core", sanitizer="address")
    written = series.Series(Plan(subject, ["storage", "tensor"], root), {"python": "3.11"})
    spent = {"fuzzing": 3.0, "judging": 2.0, "restarting": 1.0}
    for count in range(40):
        written.sample(programs=count ** 3, rate=100 * count, coverage=500 + count, corpus=count,
                       new=count // 9, known=count // 2, unreproduced=0, spent=spent)
    written.found(next(root.glob("torch-*/*/finding.json")).parent.name)
    written.end(Result(programs=70000, seconds=9.0,
                            spent={"storage.0": spent, "tensor.0": spent}))
    return report.collect(root)


@pytest.fixture(scope="module")
def address(found, tmp_path_factory):
    """The address of the page."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    text, unreadable = page(found)
    assert [place for place, _ in unreadable] == ["broken"]
    path.write_text(text)
    return path.as_uri()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A browser."""
    options = webdriver.ChromeOptions()
    for word in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as made:
        yield made


@pytest.fixture
def browser(driver, address):
    """The browser after loading the page."""
    driver.get("about:blank")
    seen_as(driver, 1000, "light")
    driver.get(address)
    return driver


def seen_as(driver, width, scheme):
    """Sets the window to WIDTH pixels and the system to the colour SCHEME."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})


def test_the_page_loads_nothing_and_has_no_error(browser):
    browser.execute_script(OPEN_ALL, True)
    assert browser.execute_script("return performance.getEntriesByType('resource')") == []
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_scrolls_sideways(browser, width, scheme):
    seen_as(browser, width, scheme)
    for is_open in (False, True):
        browser.execute_script(OPEN_ALL, is_open)
        wide, shown = browser.execute_script(
            "const root = document.documentElement; return [root.scrollWidth, innerWidth];")
        assert shown == width and wide <= width


def test_dark_is_dark_and_light_is_light(browser):
    grounds = []
    for scheme in SCHEMES:
        seen_as(browser, 1000, scheme)
        colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        grounds.append(sum(int(part) for part in colour[4:-1].split(",")))
    assert grounds[0] > 700 and grounds[1] < 100


def test_each_link_leads_to_its_target(browser):
    links = browser.find_elements(By.CSS_SELECTOR, "a[href]")
    targets = [link.get_attribute("href").partition("#")[2] for link in links]
    assert len(targets) > 90 and all(targets)
    missing = browser.execute_script(
        "return arguments[0].filter(one => !document.getElementById(decodeURIComponent(one)))",
        targets)
    assert missing == []


def test_a_link_to_a_root_cause_opens_its_row_even_if_it_is_filtered_out(browser):
    browser.find_element(By.NAME, "words").send_keys("no row has this")
    assert browser.execute_script(VISIBLE) == []
    link = browser.find_element(By.CSS_SELECTOR, ".found a")
    link.click()
    row = browser.find_element(By.ID, link.get_attribute("href").partition("#")[2])
    assert row.get_attribute("open") and row.is_displayed()
    top = browser.execute_script("return arguments[0].getBoundingClientRect().top", row)
    assert 0 <= top < 900


def rows_that(found, matches):
    """The number of root causes of FOUND for which MATCHES holds."""
    return sum(bool(matches(cause)) for cause in merged(found.entries))


def choose(browser, name, value):
    """Chooses VALUE in the filter NAME."""
    Select(browser.find_element(By.NAME, name)).select_by_value(value)


@pytest.mark.parametrize("name, values, matches", [
    ("release", ["core", "1.13.1", "2.14.1"], lambda row, value: row.fails_in.get(value)),
    ("contract", ["P3", "none"], lambda row, value: (row.first.record.contract or "none")
     == value),
    ("oracle", ["signal", "contract"], lambda row, value: row.first.record.oracle == value),
    ("tier", list(report.TIERS_IN_WORDS), lambda row, value: row.first.tier == value),
])
def test_a_filter_leaves_the_rows_that_match(browser, found, name, values, matches):
    everything = len(browser.execute_script(VISIBLE))
    for value in values:
        choose(browser, name, value)
        expected = rows_that(found, lambda row, value=value: matches(row, value))
        assert 0 < expected < everything
        assert len(browser.execute_script(VISIBLE)) == expected
        said = browser.find_element(By.ID, "shown").text
        assert said == f"{expected} of {everything} root causes"


def test_filters_combine_and_can_be_reset(browser, found):
    everything = len(browser.execute_script(VISIBLE))
    choose(browser, "release", "2.6.0")
    choose(browser, "tier", "public")
    both = rows_that(found, lambda row: row.fails_in.get("2.6.0") and row.first.tier == "public")
    assert len(browser.execute_script(VISIBLE)) == both
    browser.find_element(By.NAME, "words").send_keys("Resize_")
    some = browser.execute_script(VISIBLE)
    assert 0 < len(some) < both
    assert all("resize_" in row.get_attribute("textContent") for row in some)
    browser.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    browser.execute_async_script("setTimeout(arguments[0])")  # after the page's own reset handler
    assert len(browser.execute_script(VISIBLE)) == everything


def test_the_keyboard_alone_filters_and_opens_a_row(browser):
    reached = []
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.switch_to.active_element
        reached.append(focused.get_attribute("name"))
        if focused.tag_name == "summary" and focused.find_elements(
                By.XPATH, "ancestor::ol[@class='rows']"):
            break
    assert [name for name in reached if name] == ["release", "contract", "oracle", "tier", "words"]
    row = focused.find_element(By.XPATH, "..")
    outline = "return getComputedStyle(arguments[0]).outlineStyle"
    assert browser.execute_script(outline, focused) == "solid", "the focus shows"
    assert not row.get_attribute("open")
    focused.send_keys(Keys.ENTER)
    assert row.get_attribute("open")
    for expected in ("a", "pre"):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        assert browser.switch_to.active_element.tag_name == expected


def test_texts_of_a_timeline_are_inside_its_picture(browser):
    browser.execute_script(OPEN_ALL, True)
    outside = browser.execute_script("""
      return [...document.querySelectorAll(".timeline svg")].flatMap(picture => {
        const card = picture.getBoundingClientRect();
        return [...picture.querySelectorAll("text")].filter(text => {
          const box = text.getBoundingClientRect();
          return box.left < card.left || box.right > card.right + 0.5 ||
            box.top < card.top || box.bottom > card.bottom + 0.5;
        }).map(text => text.textContent);
      })""")
    drawn = browser.find_elements(By.CSS_SELECTOR, ".timeline svg text")
    assert len(drawn) > 20 and outside == []


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The text of axe-core, from npm."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm, which provides axe-core, is not installed")
    folder = tmp_path_factory.mktemp("npm")
    done = subprocess.run([npm, "install", "--no-audit", "--no-fund", "axe-core"], cwd=folder,
                          capture_output=True, text=True, check=False, timeout=NPM_SECONDS_MAX)
    if done.returncode:
        pytest.skip(f"npm cannot install axe-core here: {done.stderr.strip()[-200:]}")
    return (folder / "node_modules/axe-core/axe.min.js").read_text()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", (400, 1600))
def test_axe_finds_no_violation(browser, axe, width, scheme):
    """Opens all hunts, and all parts of the first three rows and the last; removes other rows."""
    seen_as(browser, width, scheme)
    browser.execute_script("""
      const rows = [...document.querySelectorAll(".rows > li")];
      rows.slice(3, -1).forEach(row => { row.querySelectorAll("details").forEach(
        one => { one.remove(); }); row.remove(); });""" + OPEN_ALL, True)
    browser.execute_script(axe)
    done = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then(done, error => done({error: String(error)}))")
    told = [(one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"])
            for one in done["violations"]]
    assert told == [] and len(done["passes"]) > 20
