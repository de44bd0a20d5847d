"""documents.py: a Markdown document in parts, and output compared with what was printed; for check-docs."""
import difflib
import re

KEYS = {"run", "output", "file", "from", "exit", "varies", "lists", "cells", "by"}
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")


class Element:
    """A block of code, a paragraph (or table) or a heading, with the comments in front of it."""

    def __init__(self, kind, line, lines, markers, info="", indent=""):
        self.kind, self.line, self.lines, self.markers = kind, line, lines, markers
        self.info, self.indent = info, indent

    def marked(self, key):
        return [value for name, value in self.markers if name == key]


class Document:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.findings = []
        self.edits = []  # (first line, line behind the last, new lines)
        self.elements = list(self.parse())

    def report(self, line, what):
        if (line, what) not in self.findings:
            self.findings.append((line, what))

    def parse(self):
        """Markdown as far as these documents use it; lines are counted from 0."""
        i, markers = 0, []
        while i < len(self.lines):
            line = self.lines[i]
            if not line.strip():
                i += 1
                continue
            first = i
            if line.startswith("<!--"):
                while i < len(self.lines) - 1 and "-->" not in self.lines[i]:
                    i += 1
                i += 1
                markers += self.read_markers(first, "\n".join(self.lines[first:i]))
                continue
            if line.startswith("```"):
                i += 1
                while i < len(self.lines) and not self.lines[i].startswith("```"):
                    i += 1
                i += 1
                yield Element("code", first + 1, self.lines[first + 1:i - 1], markers, line[3:].strip())
            elif line.startswith("    "):
                while i < len(self.lines) and (not self.lines[i].strip() or self.lines[i].startswith("    ")):
                    i += 1
                while not self.lines[i - 1].strip():
                    i -= 1
                yield Element("code", first, [l[4:] for l in self.lines[first:i]], markers, indent="    ")
            elif line.startswith("#"):
                i += 1
                yield Element("heading", first, [line], markers)
            else:
                while i < len(self.lines) and self.lines[i].strip() and \
                        not self.lines[i].startswith(("```", "#", "<!--")):
                    i += 1
                yield Element("text", first, self.lines[first:i], markers)
            markers = []

    def read_markers(self, line, comment):
        found = []
        for part in comment.strip()[4:-3].strip().split("\n"):
            key, colon, value = part.strip().partition(":")
            if key.strip() not in KEYS:
                self.report(line, "a comment that says nothing to this script: " + part.strip())
            found.append((key.strip(), value.strip() if colon else None))
        return found

    def headings(self):
        """The anchors of a page, as they are made of its headings."""
        names = set()
        for element in self.elements:
            if element.kind == "heading":
                text = element.lines[0].lstrip("#").strip().lower()
                slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
                while slug in names:
                    slug += "-1"
                names.add(slug)
        return names

    def edit(self, first, behind, lines):
        self.edits.append((first, behind, lines))

    def write(self):
        for first, behind, lines in sorted(self.edits, reverse=True):
            self.lines[first:behind] = lines
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines))


# ---- comparing ----

class Tolerance:
    """How far numbers in a line may be off, as a share and a distance: the first rule that concerns a
    number counts."""

    EXACT, ANY = (-1, -1), (float("inf"), 0)

    def __init__(self, rules):
        self.rules, self.strict = [], False
        for rule in rules:
            size, slash, pattern = rule.partition("/")
            size = size.strip()
            if size == "any":
                allowed = self.ANY
            elif size.endswith("%"):
                allowed = float(size[:-1]) / 100, 0
            else:
                allowed = 0, float(size)
            self.rules.append((allowed, re.compile(pattern.rstrip().rstrip("/")) if slash else None))

    def of(self, line, begin, end):
        for allowed, pattern in self.rules:
            if pattern is None:
                return allowed
            for match in pattern.finditer(line):
                first, last = match.span(1 if pattern.groups else 0)
                if first < end and begin < last:
                    return allowed
        return 0, 0

    def only_any(self):
        """The same without what is merely a share: what --write goes by."""
        strict = Tolerance([])
        strict.strict = True
        strict.rules = [(a, p) for a, p in self.rules if a == self.ANY] + [(self.EXACT, None)]
        return strict


def same_number(expected, got, allowed):
    if expected == got or allowed == Tolerance.ANY:
        return True
    if allowed == Tolerance.EXACT:
        return False
    e, g = float(expected.replace("−", "-")), float(got.replace("−", "-"))
    if abs(e - g) <= allowed[0] * max(abs(e), abs(g)) + allowed[1]:
        return True
    if "." not in expected and "e" not in expected:
        return False
    mantissa, _, power = expected.lower().partition("e")
    if len(mantissa.replace(".", "").lstrip("-−0")) < 3:
        return False  # 1e-08 is a setting, and not the last digit of something computed
    digits = len(mantissa.partition(".")[2])
    return abs(e - g) <= 1.001 * 10.0 ** (int(power or 0) - digits)


def same_line(expected, got, tolerance):
    cut = expected.endswith(" ...")
    if cut:
        expected = expected[:-4]
    e, g = list(NUMBER.finditer(expected)), list(NUMBER.finditer(got))
    if tolerance.strict and not cut and all(tolerance.of(expected, *n.span()) == Tolerance.EXACT for n in e):
        return expected == got
    texts_e, texts_g = NUMBER.split(expected), NUMBER.split(got)
    words_e, words_g = [" ".join(t.split()) for t in texts_e], [" ".join(t.split()) for t in texts_g]
    if cut:
        if len(g) < len(e) or not words_g[len(e)].startswith(words_e[-1]):
            return False
        g, words_g = g[:len(e)], words_g[:len(e)] + [words_e[-1]]
    return words_e == words_g and all(
        same_number(a.group(), b.group(), tolerance.of(expected, *a.span())) for a, b in zip(e, g))


def pieces(lines):
    """Runs of lines between lines '...'."""
    runs = [[]]
    for line in lines:
        if line.strip() == "...":
            runs.append([])
        else:
            runs[-1].append(line)
    return runs


def difference(expected, got, tolerance):
    """None, or the number of the first expected line that is not as it was printed, and what was."""
    runs, at, number = pieces(expected), 0, 0
    for k, run in enumerate(runs):
        last = k == len(runs) - 1
        if k == 0:
            places = [0]
        elif last and run:
            places = [max(at, len(got) - len(run))]
        else:
            places = range(at, len(got) + 1)
        best = None
        for place in places:
            equal = 0
            while equal < len(run) and place + equal < len(got) and \
                    same_line(run[equal], got[place + equal], tolerance):
                equal += 1
            if best is None or equal > best[0]:
                best = (equal, place)
            if equal == len(run):
                break
        equal, place = best
        if equal < len(run):
            known = place + equal < len(got) and (k == 0 or last or equal > 0)
            return number + equal, got[place + equal] if known else None
        at = place + len(run)
        number += len(run) + 1
    if at < len(got) and runs[-1] and len(runs) == 1:
        return len(expected), got[at]
    return None


def masked(line):
    return " ".join(NUMBER.sub("#", line).split())


def renewed(expected, got):
    """The lines printed, with what was left out in the expected ones left out again."""
    runs = pieces(expected)
    if len(runs) == 1:
        return [cut_like(e, g) for e, g in zip(expected, got)] + got[len(expected):]
    lines, at = [], 0
    for k, run in enumerate(runs):
        if k > 0:
            lines.append("...")
        if not run:
            continue
        if k == len(runs) - 1:
            at = max(at, len(got) - len(run))
        elif k > 0:
            likeness = [difflib.SequenceMatcher(None, masked(run[0]), masked(line)).ratio() for line in got[at:]]
            at += likeness.index(max(likeness)) if likeness else 0
        size = len(run)
        if k < len(runs) - 1:  # as far as the line that looks like the last one
            ends = [j for j in range(at, len(got)) if masked(got[j]) == masked(run[-1])]
            if ends:
                size = min(ends, key=lambda j: abs(j - at - len(run) + 1)) - at + 1
        taken = got[at:at + size]
        lines += [cut_like(e, g) for e, g in zip(run, taken)] + taken[len(run):]
        at += size
    return lines


def cut_like(expected, line):
    if not expected.endswith(" ...") or len(line) <= len(expected):
        return line
    return line[:len(expected) - 3].rsplit(" ", 1)[0] + " ..."
