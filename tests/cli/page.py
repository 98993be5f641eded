# SPDX-License-Identifier: Apache-2.0
# page.py -- reads a page of `autocast report --html` as a machine would.
#   check PAGE JSON     well formed, nothing to fetch, every number the JSON's
#   order PAGE KEY      prints whether the rows are in that order, and which
#                       are hidden; "-KEY" is upwards
#   sums PAGE           rows and rest make up the sum of all
#   probe PAGE WIDTH    prints a page that shows PAGE so wide and makes its own
#                       title of what does not fit and which labels overlap
import html
import json
import math
import re
import sys
import xml.etree.ElementTree as tree
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "img", "link", "hr"}
COLUMNS = ["site", "operation", "caller", "rung", "calls", "share", "before",
           "now", "gain", "speed", "error"]


class Page(HTMLParser):
    """Elements as (name, attributes, parts), parts being text or elements."""

    def __init__(self, text):
        super().__init__()
        self.root = ("page", {}, [])
        self.stack = [self.root]
        self.faults = []
        self.feed(text)
        self.close()
        if len(self.stack) > 1:
            self.faults.append("open at the end: " + self.stack[-1][0])

    def handle_starttag(self, tag, attrs):
        element = (tag, dict(attrs), [])
        if len(dict(attrs)) != len(attrs):
            self.faults.append("an attribute twice in " + tag)
        self.stack[-1][2].append(element)
        if tag not in VOID:
            self.stack.append(element)

    def handle_startendtag(self, tag, attrs):
        self.stack[-1][2].append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        if self.stack[-1][0] != tag:
            self.faults.append("%s ends %s" % (tag, self.stack[-1][0]))
        if any(e[0] == tag for e in self.stack[1:]):
            while self.stack.pop()[0] != tag:
                pass

    def handle_data(self, data):
        self.stack[-1][2].append(data)


def walk(element):
    yield element
    for part in element[2]:
        if not isinstance(part, str):
            yield from walk(part)


def text_of(element):
    return "".join(part if isinstance(part, str) else text_of(part)
                   for part in element[2])


def find(root, name=None, **wanted):
    return [e for e in walk(root) if name in (None, e[0]) and
            all(e[1].get(k) == v for k, v in wanted.items())]


def one(root, name=None, **wanted):
    found = find(root, name, **wanted)
    assert len(found) == 1, (name, wanted, len(found))
    return found[0]


def numbers(element):
    return [float(e[1]["value"]) for e in find(element, "data")]


def rows_of(page):
    table = one(page.root, "table", id="sites")
    rows = []
    for body in find(table, "tbody"):
        first = find(body, "tr")[0]
        cells = [e for e in first[2] if e[0] in ("td", "th")]
        assert len(cells) == len(COLUMNS), cells
        rows.append((body, dict(zip(COLUMNS, cells))))
    return rows


def number(cell):
    found = numbers(cell)
    return found[0] if found else None


# ---- What the JSON says of a site, over all its rungs ---------------------

def key_of(site):
    return json.dumps([site[k] for k in (
        "id", "operation", "symbol", "caller", "ta", "tb", "type", "asked",
        "shape", "m", "n", "k", "batch", "region")])


def times_of(course):
    if course["keep_us"] > 0 and course["recast_us"] > 0:
        return course["keep_us"], course["recast_us"]
    if course["keep_predicted_us"] > 0 and course["recast_predicted_us"] > 0:
        return course["keep_predicted_us"], course["recast_predicted_us"]
    return None


def expect(report):
    """Rows by id: what the page is to show of each."""
    groups = {}
    for site in report["sites"]:
        groups.setdefault(key_of(site), []).append(site)
    rows = {}
    flops = report["totals"]["flops"]
    for parts in groups.values():
        parts.sort(key=lambda s: (-s["course"]["chosen"],
                                  -s["recast_calls"], -s["calls"]))
        timed = [s for s in parts if times_of(s["course"])]
        before = sum(s["recast_calls"] * times_of(s["course"])[0]
                     for s in timed)
        now = sum(s["recast_calls"] * times_of(s["course"])[1] for s in timed)
        errors = [s["course"]["error"] / s["tol"] for s in parts
                  if not s["not_judged"] and s["tol"] > 0 and
                  s["recast_calls"]]
        rows.setdefault(parts[0]["id"], []).append({
            "rung": parts[0]["rung"] if any(
                s["recast_calls"] for s in parts) else "keep",
            "caller": parts[0]["name"] or parts[0]["caller"],
            "calls": sum(s["calls"] for s in parts),
            "share": sum(s["flops_per_call"] * s["calls"] for s in parts)
            / flops if parts[0]["type"] in ("f32", "c32") else None,
            "before": before or None,
            "now": now if before else None,
            "gain": before - now if before else None,
            "speed": (times_of(timed[0]["course"])[0] /
                      times_of(timed[0]["course"])[1]) if timed else None,
            "error": max(errors) if errors else None,
        })
    return rows


def near(got, wanted, size):
    """The JSON's numbers have six digits, 5e-6 of each at most, and so has
    what the page says; what is subtracted or divided errs by that of both."""
    if got is None or wanted is None:
        return got is wanted
    return math.isclose(got, wanted, rel_tol=0, abs_tol=2e-5 * size)


# ---- Checks ---------------------------------------------------------------

def check_form(page, text):
    faults = list(page.faults)
    ids = [e[1]["id"] for e in walk(page.root) if "id" in e[1]]
    faults += ["id twice: " + i for i in set(ids) if ids.count(i) > 1]
    for element in walk(page.root):
        name, attributes = element[0], element[1]
        if name in ("img", "link", "iframe", "object", "base", "form"):
            faults.append("an element " + name)
        for key, value in attributes.items():
            if key.startswith("on"):
                faults.append("a handler: %s in %s" % (key, name))
            if key in ("src", "action") or (
                    key == "href" and not (value or "").startswith("#")):
                faults.append("something to fetch: %s" % value)
            if key in ("aria-labelledby", "href"):
                faults += ["no element %s" % i for i in
                           value.replace("#", "").split() if i not in ids]
    if len(find(page.root, "script")) != 1 or len(find(page.root,
                                                       "style")) != 1:
        faults.append("scripts or styles: not one each")
    for scheme in re.findall(r"(?:https?:|//)[^\s\"'<]*\.\w+", text):
        faults.append("an address: " + scheme)
    faults += ["style fetches: " + m for m in
               re.findall(r"@import|url\([^)]*\)", text)]
    return faults


def check_plots(text):
    faults = []
    plots = re.findall(r"<svg.*?</svg>", text, re.S)
    for plot in plots:
        # Chromium writes a hard space as an entity that XML does not have.
        root = tree.fromstring(plot.replace("&nbsp;", "\u00a0"))
        if root.find("title") is None or root.find("desc") is None or \
                not root.find("title").text or not root.find("desc").text:
            faults.append("a plot without title or description")
        faults += ["not a number in a plot: " + value for e in root.iter()
                   for value in e.attrib.values()
                   if re.search(r"\b(nan|inf)", value)]
    if not plots:
        faults.append("no plot")
    return faults


def check_rows(page, report):
    faults = []
    wanted = expect(report)
    seen = 0
    for body, cells in rows_of(page):
        site = body[1]["id"][2:]
        row = wanted[site].pop(0)
        seen += 1
        if text_of(find(cells["rung"], "b")[0]) != row["rung"]:
            faults.append("%s: rung" % site)
        clean = re.sub("[\x01-\x1f\x7f-\x9f\u202a-\u202e\ufffd]", "?",
                       row["caller"])
        if text_of(cells["caller"]) != clean:
            faults.append("%s: caller %r, %r" % (
                site, text_of(cells["caller"]), clean))
        for key in ("calls", "share", "before", "now", "gain", "speed",
                    "error"):
            size = abs(row["before"] if key == "gain" and row["before"]
                       else row[key] or 0)
            exact = key == "calls" and number(cells[key]) != row[key]
            if exact or not near(number(cells[key]), row[key], size):
                faults.append("%s: %s is %s, %s in JSON" % (
                    site, key, number(cells[key]), row[key]))
    if seen != sum(map(len, expect(report).values())):
        faults.append("%d rows" % seen)
    return faults


def check_totals(page, report):
    totals = report["totals"]
    faults = []

    def same(what, got, wanted):
        if len(got) != len(wanted) or any(
                not near(a, b, abs(b)) for a, b in zip(got, wanted)):
            faults.append("%s: %s, %s in JSON" % (what, got, wanted))

    whole = totals["whole"]
    if totals["recast_calls"] and whole["before_us"] > 0:
        part = [whole["known_calls"]] if \
            whole["known_calls"] < whole["calls"] else []
        same("whole", numbers(one(page.root, "p", id="whole")),
             [whole["before_us"], whole["now_us"]] + part + [whole["calls"]])
    for name, id_ in (("measured", "gain-timed"),
                      ("predicted", "gain-predicted")):
        gain = totals[name]
        if gain["keep_us"] > 0:
            same(name, numbers(one(page.root, "p", id=id_)),
                 [gain["keep_us"], gain["recast_us"], gain["calls"]])
    same("recast", numbers(one(page.root, "div", id="recast"))[:1],
         [totals["recast_share"]])
    same("rungs", sorted(numbers(one(page.root, "ul", id="rungs"))),
         sorted(v / totals["flops"] for v in
                totals["flops_by_rung"].values()))
    worst = totals["worst"]
    same("error", numbers(one(page.root, "div", id="error")),
         [worst["error"] / worst["tol"], worst["error"], worst["tol"]])
    sites = len(rows_of(page))
    same("counts", numbers(one(page.root, "div", id="counts")),
         [totals["calls"], sites, totals["flops"], totals["recast_calls"],
          totals["demotions"], totals["peak_scratch_bytes"]])
    same("markers", numbers(one(page.root, "table", id="markers")),
         [m["calls"] for m in report["markers"]])
    gains = [totals["measured"], totals["predicted"]]
    same("all", numbers(one(page.root, "tr", id="all"))[1:5],
         [totals["calls"], 1, sum(g["keep_us"] for g in gains),
          sum(g["recast_us"] for g in gains)])
    kept = one(page.root, "figure", id="kept")
    for name, reason in totals["kept"].items():
        if "%d call" % reason["calls"] not in text_of(kept) or \
                name not in text_of(kept):
            faults.append("kept: " + name)
    if report["clock"] == "modelled" and \
            "estimated" not in text_of(one(page.root, "dl", **{
                "class": "facts"})):
        faults.append("nobody says that times are estimated")
    return faults


def check_events(page, report):
    """A mark for each, a title with its site, call, rung and error; further to
    the right what was later, higher what erred by more."""
    figure = one(page.root, "figure", id="events")
    faults, shown, samples = [], [], []
    for e in walk(figure):
        kind = e[1].get("class")
        if e[0] not in ("a", "g") or kind is None:
            continue
        path, title = one(e, "path"), text_of(one(e, "title"))
        site = e[1].get("href", "#s-" + title[:8])[3:]
        call = int(re.search(r", at call (\d+): ", title).group(1))
        rung = path[1]["class"].split()[1]
        shown.append((site, call, kind, rung))
        if rung not in title:
            faults.append("a mark without its rung: " + title)
        x, y = map(float, re.match(r"M(\S+) ([\d.]+)", path[1]["d"]).groups())
        samples.append((call, x))
        if kind == "worst":
            error, tol = re.search(r": error (\S+) of (\S+) on ",
                                   title).groups()
            shown[-1] += (float(error), float(tol), -y)
    wanted = sorted(
        (e["site"], e["call"], e["kind"], e["rung"]) +
        ((e["error"], e["tol"]) if e["kind"] == "worst" else ())
        for e in report["events"])
    for got, want in zip(sorted(shown), wanted):
        # Two digits err by one in twenty.
        if got[:4] != want[:4] or not all(
                math.isclose(a, b, rel_tol=0.051)
                for a, b in zip(got[4:6], want[4:])):
            faults.append("event %s, %s in JSON" % (got, want))
    if len(shown) != len(wanted):
        faults.append("%d events, %d in JSON" % (len(shown), len(wanted)))
    if bool(wanted) != bool(find(figure, "svg")) or \
            bool(wanted) == ("None: " in text_of(figure)):
        faults.append("a plot of no events, or none of some")
    right = [x for _, x in sorted(samples)]
    high = [e[6] for e in sorted((e for e in shown if len(e) > 4),
                                 key=lambda e: (e[4] / e[5], e[6]))]
    if right != sorted(right):
        faults.append("a later event to the left")
    # What two digits tell apart may be the wrong way around: 300 units are
    # at least a decade.
    if any(a > b + 16 for a, b in zip(high, high[1:])):
        faults.append("a larger error below a smaller one")
    return faults


def check(page_file, json_file):
    with open(page_file, encoding="utf-8") as f:
        text = f.read()
    with open(json_file, encoding="utf-8") as f:
        report = json.load(f)
    page = Page(text)
    faults = check_form(page, text) + check_plots(text)
    return faults + check_rows(page, report) + check_totals(
        page, report) + check_events(page, report)


def order(page_file, key):
    page = Page(open(page_file, encoding="utf-8").read())
    column = key.lstrip("-")
    rows = rows_of(page)
    values = [number(cells[column]) if column in COLUMNS[4:]
              else text_of(cells[column]) for _, cells in rows]
    known = [v for v in values if v is not None]
    assert all(v is None for v in values[len(known):]), values
    down = not key.startswith("-")
    if column in COLUMNS[:4]:
        down = not down
        known = [v.lower() for v in known]
    print("sorted" if known == sorted(known, reverse=down) else known,
          len(rows), sum("hidden" in body[1] for body, _ in rows),
          one(page.root, "th", **{"data-key": column})[1].get("aria-sort"))


def sums(page_file):
    page = Page(open(page_file, encoding="utf-8").read())
    every = numbers(one(page.root, "tr", id="all"))
    total = numbers(one(page.root, "tr", id="rest"))
    shown = rows_of(page)
    total[0] += len(shown)
    for _, cells in shown:
        for i, key in enumerate(COLUMNS[4:9]):
            total[1 + i] += number(cells[key]) or 0
    # As many roundings to six digits as there are rows, half up, half down:
    # far less than one of the whole.
    return ["%s, %s" % (a, b) for a, b in zip(total, every)
            if not near(a, b, abs(b))]


PROBE = """
const frame = document.querySelector("iframe");
const box = e => e.getBoundingClientRect();
frame.onload = () => {
	const page = frame.contentDocument, faults = [];
	const wide = page.documentElement.scrollWidth;
	if (wide > frame.clientWidth)
		faults.push("the page is " + wide + " wide");
	for (const svg of page.querySelectorAll("svg")) {
		const labels = [...svg.querySelectorAll("text")];
		const card = box(svg.closest(".card"));
		const boxes = labels.map(box);
		labels.forEach((label, i) => {
			const a = boxes[i];
			if (a.left < card.left || a.right > card.right)
				faults.push("cut: " + label.textContent);
			for (let j = i + 1; j < labels.length; j++) {
				const b = boxes[j];
				/* A pixel is the anti-aliasing of both. */
				if (a.left + 1 < b.right && b.left + 1 < a.right &&
				    a.top + 1 < b.bottom && b.top + 1 < a.bottom)
					faults.push(label.textContent + " overlaps " +
					    labels[j].textContent);
			}
		});
	}
	for (const e of page.querySelectorAll("td, th, p, dd, dt, h1, h2, li"))
		if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth &&
		    page.defaultView.getComputedStyle(e).position !== "absolute")
			faults.push("cut: " + e.textContent.slice(0, 40));
	document.title = faults.length ? faults.slice(0, 9).join("; ") :
	    "fits, " + page.querySelectorAll("svg text").length + " labels";
};
"""


def probe(page_file, width):
    page = open(page_file, encoding="utf-8").read()
    print('<!DOCTYPE html><title>not loaded</title><body>'
          '<iframe width="%s" height="900" style="border:0"></iframe>'
          '<script>%s\nframe.srcdoc = %s;</script>' % (
              width, PROBE, json.dumps(page).replace("</", "<\\/")))
    return []


def title(page_file):
    text = open(page_file, encoding="utf-8").read()
    print(html.unescape(re.search("<title>(.*?)</title>", text,
                                  re.S).group(1)))


if __name__ == "__main__":
    faults = globals()[sys.argv[1]](*sys.argv[2:]) or []
    for fault in faults[:20]:
        print(fault)
    sys.exit(bool(faults))
