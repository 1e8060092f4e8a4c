"""Loops over words that the line names: `for f in a.py b.py; do cat "$f"; done` is its body once for each word.

It prevents files that were shown one after another from counting as a search. A body that may leave out one of them
(a condition, a search, hidden errors) does not tell which were shown: there the name stands for nothing that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from ctxview.annotate.observations.ask import names
from ctxview.annotate.observations.formatters import formatted
from ctxview.annotate.observations.shell_changes import is_silent_change
from ctxview.annotate.observations.views import narrow, viewed
from ctxview.annotate.observations.words import LONGEST, Command, Pipeline, Redirect, Word

_BEFORE: Final = ("then", "do", "else", "{")
_LOOPS: Final = ("for", "while", "until", "select")
_PLAIN: Final = names("echo printf true : sleep mkdir touch chmod rm unlink mv cp ln install truncate")
"""Commands that do the same to every word, beside those that show a file or change it in place."""
_MOST: Final = 500
"""Commands that a loop may come to, and variables beside its own: with more of them a line would take too long."""
_NAME: Final = "\x00for"
"""Stands for the loop's word while the body is read. No file's name, and no line that is read, can hold it."""


def unrolled(found: Iterator[Pipeline], values: dict[str, Word]) -> Iterator[Pipeline]:
    """The pipelines of a line with the body of each such loop in the place of the loop.

    `values` holds the variables known so far, for `found` as for the caller: a loop sets its name.
    """
    for pipeline in found:
        name = _forget(pipeline, values)
        words = _bare(pipeline.commands[0])[3:] if name is not None else []
        if name is None or not words or None in words or len(values) > _MOST:
            yield pipeline
            continue
        values[name] = _NAME
        body, is_whole = _body(found, values)
        told = is_whole and len(words) * len(body) <= _MOST and all(map(_is_told, body))
        for word in words if told else [None]:
            yield from (_with(word, part) for part in body)
        last = words[-1] if told else None
        values |= {key: _put(last, value) for key, value in values.items()}


def _forget(pipeline: Pipeline, values: dict[str, Word]) -> str | None:
    """The variable of a loop over words that begins with a pipeline; what it was before is gone."""
    name: str | None = None
    for command in pipeline.commands:
        words = _bare(command)
        if words[:1] == ["for"] and len(words) > 1 and words[1] is not None:
            values[words[1]] = None
            if len(pipeline.commands) == 1 and words[2:3] == ["in"]:
                name = words[1]
    return name


def _bare(command: Command) -> list[Word]:
    at = 0
    while at < len(command.words) and command.words[at] in _BEFORE:
        at += 1
    return command.words[at:]


def _body(found: Iterator[Pipeline], values: dict[str, Word]) -> tuple[list[Pipeline], bool]:
    """The pipelines up to the loop's end, and whether they are the body of one loop, all of whose output is shown."""
    body: list[Pipeline] = []
    inner, nested = 0, False
    for pipeline in found:
        first = pipeline.commands[0]
        if first.words[:1] == ["done"]:
            if not inner:
                return body, not nested and len(pipeline.commands) == 1 and not first.redirects
            inner -= 1
        for command in pipeline.commands:
            if _bare(command)[:1] and _bare(command)[0] in _LOOPS:
                inner, nested = inner + 1, True
        _forget(pipeline, values)
        body.append(pipeline)
    return body, False


def _is_told(pipeline: Pipeline) -> bool:
    """Whether a pipeline of a body does the same for every word, or says where it could not."""
    words = _bare(pipeline.commands[0])
    if pipeline.before == "||":
        return False
    first = replace(pipeline.commands[0], words=words)
    if not words:
        return not first.redirects
    if len(pipeline.commands) == 1 and (words[0] in _PLAIN or is_silent_change(words) or formatted(words)):
        return True
    if any(r.op in ("2>", "2>>", "&>") for c in pipeline.commands for r in c.redirects):
        return False
    view = viewed(first)
    for command in pipeline.commands[1:]:
        view = narrow(view, command) if view is not None else None
    return view is not None


def _with(word: Word, pipeline: Pipeline) -> Pipeline:
    return Pipeline([_command(word, command) for command in pipeline.commands], pipeline.before)


def _command(word: Word, command: Command) -> Command:
    if not any(w is not None and _NAME in w for w in chain(command.words, (r.target for r in command.redirects))):
        return command
    redirects = [Redirect(r.op, _put(word, r.target)) for r in command.redirects]
    return replace(command, words=[_put(word, w) for w in command.words], redirects=redirects)


def _put(word: Word, text: Word) -> Word:
    """`text` with the loop's word in it; None where that is not known."""
    if text is None or _NAME not in text:
        return text
    if word is None or text.count(_NAME) * len(word) > LONGEST:
        return None
    return text.replace(_NAME, word)
