"""Shapes: texts that make a pattern or a step go over the same characters again and again, at any length."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Final

_MARKS: Final = ".\"'([{<>)]}\t\n\r-#|`~*_\\/%=@&:;,!?+$^"
_RUNS: Final = {
    **{f"run of {one!r}": one for one in _MARKS},
    "blanks": " ",
    "tabs": "\t",
    "newlines": "\n",
    "carriage returns": "\r\n",
    "digits": "1",
    "letters": "a",
    "capitals": "A",
    "long s": "ſ",
    "no-break spaces": "\xa0",
    "ideographic spaces": "\u3000",
    "form feeds": "\f",
    "line separators": "\u2028",
    "NULs": "\0",
    "zero-width": "\u200b",
    "soft hyphens": "\xad",
    "combining marks": "\u0301",
    "letters with marks": "a\u0301",
    "joined emoji": "\U0001f469\u200d",
    "emoji": "\U0001f600",
    "flags": "\U0001f1e9",
    "Chinese": "\u8bb0",
    "kana": "\u30ab",
    "Hangul": "\uae30",
    "Cyrillic": "\u0436",
    "Arabic": "\u0639",
    "Thai": "\u0e01",
    "Devanagari": "\u0915\u094d",
}
_PIECES: Final = {
    "JSON objects, nested": '{"a":',
    "JSON arrays, nested": "[1,[",
    "JSON lines": '{"role": "user", "content": "I like tea"}\n',
    "JSON strings": '"a", ',
    "JSON, escaped": '{\\"a\\": \\"b\\", ',
    "XML tags": "<a><b>",
    "tags, unclosed": "<a ",
    "tags, closing": "</div>\n",
    "attributes": ' a="b"',
    "comments, unclosed": "<!-- ",
    "entities": "&amp;",
    "entities, unclosed": "&#x",
    "URLs, unclosed": "http://",
    "URLs": "https://a.de/b?c=d&e=f#g ",
    "URLs with passwords": "https://user:p4ss@",
    "mail addresses": "a@b.c,",
    "mail, unclosed": "a@a.",
    "dotted": "a.a.",
    "dotted capitals": "A.",
    "hyphenated": "a-",
    "snake": "a_",
    "camel case": "aB",
    "kebab capitals": "Ab-",
    "initials": "A. ",
    "capitalised": "A ",
    "words": "a ",
    "names": "John Smith ",
    "names, three": "Ann Bea Cox, ",
    "paths": "/a",
    "paths, relative": "../",
    "paths, Windows": "C:\\a\\",
    "paths with files": "src/a.py ",
    "wiki links, unclosed": "[[a",
    "wiki links": "[[a|b]] ",
    "links": "[a](b) ",
    "links, unclosed": "[a](",
    "link definitions": "[a]: b\n",
    "images, unclosed": "![",
    "footnotes": "[^1]: a\n",
    "footnote marks": "a[^1] ",
    "brackets, nested": "((",
    "brackets, empty": "()",
    "brackets, mixed": "([{",
    "emphasis": "**a** ",
    "emphasis, unclosed": "*a _b ",
    "code, unclosed": "`a ",
    "code": "`a` ",
    "fences, unclosed": "```\n",
    "fences": "```py\na = 1\n```\n",
    "tildes": "~~~\n~~~~\n",
    "front matter, unclosed": "---\na: b\n",
    "front matter keys": "a: b\n",
    "rules": "---\n",
    "headings": "# A\n",
    "headings, deep": "###### a b\n\n",
    "headings, setext": "a\n===\n",
    "lists": "- a\n",
    "lists, numbered": "1. a\n",
    "lists, indented": "  - a\n",
    "tasks": "- [ ] a\n",
    "quotes": "> a\n",
    "quotes, nested": "> > ",
    "table rows": "| a | b |\n",
    "table rules": "|---|:--:|\n",
    "table cells": "|a",
    "tab separated": "a\tb\t",
    "comma separated": "a,b,1\n",
    "semicolons": "a;b; ",
    "short lines": "a\n",
    "blank lines": "a\n\n",
    "white lines": " \n",
    "indented lines": "    a\n",
    "sentences": "I am a. ",
    "sentences, long": "I like tea, and oolong, and what is made of it, ",
    "questions": "what is a? ",
    "exclamations": "No! ",
    "quoted sentences": '"I said so." ',
    "quoted, unclosed": '"I said ',
    "single quotes": "it's 'a ",
    "curly quotes": "\u201ca\u201d \u2018b\u2019 ",
    "guillemets": "\xaba\xbb ",
    "dashes between": "a \u2014 b \u2013 ",
    "ellipses": "a\u2026 ... ",
    "numbers": "1,234.56 ",
    "numbers, joined": "1.",
    "numbers with commas": "1,",
    "numbers with blanks": "12 345 ",
    "amounts": "$1.50, 20 %, 3 kg ",
    "phone numbers": "+49 170 1234-",
    "cards": "4111 1111 ",
    "versions": "v1.2.3-rc.1 ",
    "dates": "2026-03-01 ",
    "dates, joined": "2026-",
    "dates, written": "1 March 2026, ",
    "dates, slashed": "3/1/",
    "times": "10:00 ",
    "times, joined": "10:",
    "time words": "three days ago ",
    "time words, joined": "last week next month since ",
    "weekdays": "on Monday, Tue and ",
    "relative": "two weeks before the day after ",
    "base64": "QUJDREVG0aB+/x9",
    "base64, padded": "QUJD==",
    "hex": "deadbeef01",
    "hashes": "d41d8cd98f00b204e9800998ecf8427e ",
    "UUIDs": "123e4567-e89b-12d3-",
    "keys": "key=",
    "keys with values": "key=a1b2 ",
    "password labels": "password: ",
    "password questions": "what is the password? ",
    "password words": "password password ",
    "passwords": "password is hunter2 and ",
    "tokens": "gh" + "p_a1B2 ",
    "PEM begins": "-----BEGIN PRIVATE KEY-----\n",
    "bearer": "Authorization: Bearer a1 ",
    "private tags": "<private>",
    "dialogue": "user: a\nassistant: b\n",
    "dialogue, bold": "**User:** a\n\n",
    "dialogue, one line": "user: a assistant: ",
    "speakers": "Ann: ",
    "shell": "$ a -b --c=d | e && ",
    "flags of programs": "--a ",
    "assignments": "a = b; ",
    "calls": "a(b(",
    "functions": "def a(b):\n    return c\n",
    "Python strings": "'a', \"b\", ",
    "SQL": "SELECT a FROM b WHERE c = 'd' AND ",
    "tracebacks": '  File "a.py", line 1, in b\n',
    "logs": "2026-03-01 10:00:00,000 INFO a: b\n",
    "diffs": "+a\n-b\n",
    "hash tags": "#a ",
    "mentions": "@a ",
    "negations": "not no never ",
    "first person": "I I'm my mine ",
    "conditions": "if a then b else ",
    "conjunctions": "and or but ",
    "preferences": "I prefer a to b, ",
    "from now on": "from now on always never ",
    "changes": "instead of a we use b, no longer c, ",
    "causes": "because of a, so that b, ",
    "beings": "is are was were be been ",
    "possessives": "Ann's Bea's ",
    "contractions": "don't can't won't ",
    "German": "Ich hei\xdfe A und wohne in B, weil ",
    "French": "J'aime l'a et d'b, parce que c'est ",
    "Russian": "\u043c\u0435\u043d\u044f \u0437\u043e\u0432\u0443\u0442 ",
    "Chinese sentences": "\u6211\u559c\u6b22\u8336\u3002",
    "Japanese": "\u79c1\u306f\u30ab\u30bf\u304c\u597d\u304d\u3067\u3059\u3002",
    "Korean": "\ub098\ub294 \ucc28\ub97c ",
    "mixed scripts": "a\u0436\u8bb0\u0639 ",
    "full width": "\uff21\uff22\uff11 ",
    "ligatures": "\ufb01\ufb02",
    "capitals that grow": "\u0130\xdf",
    "surrogate-like": "\\ud83d\\ude00",
    "escapes": "\\n\\t\\x41",
    "backslash ends": "\\\n",
    "TeX": "$a_{b^{c",
    "percent codes": "%20%",
    "ANSI": "\x1b[31m",
    "bidi marks": "\u202e\u2066",
    "dots and blanks": ". ",
    "dots and dashes": ".-",
    "commas and blanks": ", ",
    "colons and blanks": ": ",
    "slashes and blanks": "/ ",
    "quotes and blanks": "' ",
    "double quotes and blanks": '" ',
    "brackets and blanks": "( ",
    "equals and blanks": "= ",
    "dashes and blanks": "- ",
    "hashes and blanks": "# ",
    "pipes and blanks": "| ",
    "digits and blanks": "1 ",
    "digits and letters": "1a",
    "letters and newlines": "a \n ",
    "tabs and blanks": "\t ",
    "newlines and dashes": "\n- \n",
    "quotes and dots": '".',
    "brackets and dots": "(.",
    "ats and dots": "@.",
    "quotes and newlines": '"\n',
}
_ENDS: Final = ("", "\n", "!", "a", '"')
"""What stands behind the run: a pattern that goes over all of it and then fails shows only there."""


def _varied(size: int) -> str:
    """Words of which each is another: steps that hold all that they saw."""
    made = (f"w{n * 7919:x}{n} " for n in range(size // 4 + 1))
    return "".join(made)[:size]


def _names(size: int) -> str:
    made = (
        f"Ann{chr(97 + n % 26)}{chr(97 + n // 26 % 26)} Bo{chr(97 + n // 676 % 26)}x met "
        for n in range(size // 12 + 1)
    )
    return "".join(made)[:size]


def _nested_list(size: int) -> str:
    made, length = [], 0
    for depth in cycle(range(60)):
        made.append("  " * depth + "- a\n")
        length += len(made[-1])
        if length >= size:
            return "".join(made)[:size]
    return ""


def _deep(size: int) -> str:
    return ("> " * (size // 3) + "a\n" * (size // 3))[:size]


def _json(size: int) -> str:
    half = size // 12
    return ('{"a": ' * half + "1" + "}" * half)[:size]


def _sentences(size: int) -> str:
    made = (
        f"On {n % 28 + 1} March 2026 Ann{n} moved to Town{n % 977}, and pays {n}.50 EUR. "
        for n in range(size // 50 + 1)
    )
    return "".join(made)[:size]


_MADE: Final = {
    "words, all different": _varied,
    "names, all different": _names,
    "lists, nested": _nested_list,
    "quotes, then lines": _deep,
    "JSON, closed": _json,
    "sentences, all different": _sentences,
}


def shapes(size: int) -> dict[str, str]:
    """Every shape by its name, each ``size`` characters long."""
    pieces = {**_RUNS, **_PIECES}
    assert len(pieces) > 100
    ends = cycle(_ENDS)
    made = {}
    for name, piece in pieces.items():
        (end,) = islice(ends, 1)
        made[name] = (piece * (size // len(piece) + 1))[: size - len(end)] + end
    return made | {name: make(size) for name, make in _MADE.items()}
