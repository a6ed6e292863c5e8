"""Records of a campaign, and a reader of its page."""

import json
from html.parser import HTMLParser

from slotfuzz.hunt import series
from slotfuzz.schema.record import ERROR, DedupKey

START = {"record": "start", "hunt": "a", "started": "2024-01-02T03:04:05+00:00", "subject": "core",
         "sanitizer": "address", "targets": ["storage"], "seed": 7, "jobs": 1, "versions": {}}
SAMPLE = {"record": "sample", "hunt": "a", "seconds": 2.0, "programs": 100, "rate": 50,
          "coverage": 30, "corpus": 4, "new": 0, "known": 1, "unreproduced": 0,
          "spent": {"fuzzing": 1.5, "judging": 0.25, "restarting": 0.25}}


def keys(words):
    """A dedup key for each of the letters WORDS."""
    return [DedupKey(ERROR, words=word).plain() for word in words]


class Names(HTMLParser):
    """All ids of a page, and the targets of its links."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.sources = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values and tag == "a" else []
        self.sources += [values[name] for name in ("src", "href", "srcset", "data", "action")
                         if name in values and tag != "a"]


def write_series(root, *records):
    """Writes RECORDS to the series in ROOT."""
    with open(root / series.NAME, "a") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
