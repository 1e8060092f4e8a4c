"""A tool result's text: whether the call failed, and what of it is the content asked for.

It prevents a client's words around a content (exit codes, timings, reminders) from making two equal readings differ,
and a failed call from counting as having seen or changed anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import orjson

from ctxview.annotate.observations.seen import Span, numbered
from ctxview.annotate.patterns import lazy
from ctxview.values import dataclass

_FAILED_START: Final = lazy(
    r"\s*(?:<tool_use_error>|error\b\s*[:\[({-]|error (?:executing|editing|reading|writing|calling|while)"
    r"|errors? occurred"
    r"|traceback \(most recent|file has not been read yet|file does not exist|file not found|no such file"
    r"|string to replace not found|no replacement was performed|invalid `?\w+`? parameter|ran into \[errno|\[errno"
    r"|permission denied|permission to use|failed to |cannot |could not |user rejected|the user doesn't want"
    r"|\[request interrupted|the path [^\n]{0,300} (?:does not exist|is not an absolute)|denied by policy"
    r"|apply_patch verification failed|patch failed|file has been (?:unexpectedly )?modified since"
    r"|file has been modified|E(?:NOENT|ISDIR|NOTDIR|ACCES|PERM|EXIST)\b|no changes (?:were )?made\b"
    r"|input ?validation ?error|execution failed|tool \"?\w+\"? (?:failed|not found)"
    r"|unknown (?:tool|user|order|record|reservation)|\{\"error\"\s*:|\{\"success\"\s*:\s*false|\{'error'"
    r"|\{\"is_?error\"\s*:\s*true)",
    re.IGNORECASE,
)
_NOT_THERE: Final = lazy(
    r"^(?:(?:/bin/)?(?:ba|z)?sh: (?:line \d+: )?)?(?:\w+: )[^\n]{0,300}"
    r"(?:No such file or directory|Is a directory|Permission denied|cannot open [^\n]*for reading|can't read [^\n]*)$",
    re.MULTILINE,
)
_UNREAD: Final = lazy(
    r"^(?:/bin/)?\w+: (?:can't read |cannot open )?['‘]?([^\n:'’]{1,400})['’]?(?: for reading)?: "
    r"(?:No such file or directory|Is a directory|Permission denied)$",
    re.MULTILINE,
)
_CHANGED: Final = lazy(r"^(?:\t| {8})(?:modified|deleted|new file): +([^\n]+)$", re.MULTILINE)
_EXIT_HEAD: Final = lazy(r"(?:Exit code:?|Process exited with code|exit status)\s*(-?\d{1,9})(?!\d)", re.IGNORECASE)
_EXIT_TAIL: Final = lazy(
    r"\n?\[(?:The )?[Cc]ommand (?:completed|finished|execution failed)[^\n\]]* exit code (-?\d{1,9})(?!\d)[^\n]*"
)
_CWD_TAIL: Final = lazy(r"\[Current working directory: ([^\n]+)\]")
_CWD_RESET: Final = lazy(r"\n?Shell cwd was reset to ([^\n]+)\s*\Z")
_RETURNCODE: Final = lazy(
    r"\s*<returncode>(-?\d{1,9})</returncode>\s*(?:<warning>.*?</warning>\s*)?(?:<output(?:_head)?>\n?)?", re.DOTALL
)
_OUTPUT_ENDS: Final = ("</output>", "</output_tail>")
_HEAD_END: Final = "\n</output_head>"
_CLEARED: Final = (
    "[cleared]",
    "[tool result cleared]",
    "[superseded file read]",
    "[old tool result content cleared]",
    "<masked>",
    "content omitted",
    "[tool result removed to free up context.",
    "<tool_output_masked>",
    "old environment output:",
)
_LINES_HEAD: Final = lazy(r"\A\s*(?:Warning: truncated output[^\n]*\n)?Total output lines: \d+\n\n?")
_NOTHING: Final = (
    "(Bash completed with no output)",
    "(no output)",
    "<system>Tool ran without output or errors</system>",
    "Tool ran without output or errors",
    "Your command ran successfully and did not produce any output.",
)
_PERSISTED: Final = "<persisted-output>"
_PREVIEW: Final = lazy(
    r"<persisted-output>\n[^\n]*\n\s*Preview \([^\n)]*\):\n(.*?)\n?</persisted-output>\s*\Z", re.DOTALL
)
_CODEX_HEADS: Final = ("Chunk ID:", "Exit code:", "Wall time", "Script completed", "Script failed", "Process exited")
_SNIPPET: Final = lazy(
    r"(?:snippet of|running `cat -n` on|review the changes)[^\n]*:[ \t]*\n(?=[ \t]*\d+[\t→])", re.IGNORECASE
)
_SNIPPET_MARKS: Final = ("snippet of", "running `cat -n` on", "review the changes")
_LEAD: Final = lazy(r"(?:NOTE: We only show [^\n]*\n)?[^\n]*running `cat -n` on[^\n]*:[ \t]*\n")
_WINDOW: Final = lazy(r"^\[File: ([^\n]+?) \((\d{1,9}) lines total\)\]\n", re.MULTILINE)
_UNCHANGED: Final = lazy(
    r"\s*(?:<[a-z-]+>\s*)?File unchanged since last read|\s*File .{0,400} is unchanged since", re.IGNORECASE
)
_OPENED: Final = lazy(r"(?:<path>[^\n]*</path>\n<type>(file|directory)</type>\n<(content|entries)>|<file>)\n")
_ANSWERS: Final = ('{"query"', '[{"query"')
_ASKED: Final = lazy(r"(.+?)(?::(\d{1,9})-(\d{1,9}))?\Z", re.DOTALL)
_BARS: Final = lazy(r"^( *\d+) \| ?", re.MULTILINE)
_REMINDER: Final = "<system-reminder>"
_HEAD_CHARS: Final = 600
_TAIL_CHARS: Final = 1500


@dataclass(frozen=True, slots=True)
class Payload:
    """A shell's output without what the client put around it."""

    text: str
    exit: int | None = None
    cwd: str | None = None
    """Where the shell stands now, as the client says."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the answers that Cline's tools give: each to one file or edit."""

    path: str
    """As asked, without the lines; for an edit with the tool's word in front."""
    spans: tuple[Span, ...]
    """The lines asked for; empty for all."""
    text: str
    """Its lines numbered with a tab."""
    succeeded: bool


@dataclass(frozen=True, slots=True)
class Opened:
    """What stands between the words that a client puts around a file."""

    body: str
    to_the_end: bool
    """Whether it says that this is all there is behind the first line shown."""
    is_folder: bool


def is_command_answer(text: str) -> bool:
    """Whether a harness answers a command that stood in the agent's words (mini-swe-agent)."""
    return text.startswith("<returncode>")


def is_codex_output(text: str) -> bool:
    """Whether a result holds what a program printed, as Codex wraps it."""
    return text.startswith(_CODEX_HEADS)


def failed(text: str) -> bool:
    """Whether a tool's own answer says that the call did not do what it was asked."""
    return _FAILED_START.match(text, 0, _HEAD_CHARS) is not None


def is_cleared(text: str) -> bool:
    """Whether the log only holds what a client put in the place of an old result."""
    return text[:60].lstrip().lower().startswith(_CLEARED)


def says_unchanged(text: str) -> bool:
    """Whether a read was answered by a pointer to the earlier one."""
    return _UNCHANGED.match(text, 0, _HEAD_CHARS) is not None


def without_reminders(text: str) -> str:
    """The text before the reminders that a client put at its end."""
    at = text.rfind("\n" + _REMINDER)
    while at >= 0:
        text = text[:at].rstrip("\n")
        at = text.rfind("\n" + _REMINDER)
    return "" if text.startswith(_REMINDER) else text


def shell_payload(text: str) -> Payload:
    """The output in a shell tool's answer (Claude Code, Codex, OpenHands, mini-swe-agent)."""
    text = _as_far_as_shown(without_reminders(text))
    payload = _unwrapped(text)
    body = payload.text
    if "Total output lines:" in body[:_HEAD_CHARS]:
        body = _LINES_HEAD.sub("", body, count=1)
    if body.strip() in _NOTHING:
        body = ""
    return payload if body is payload.text else Payload(body, payload.exit, payload.cwd)


def is_preview(text: str) -> bool:
    """Whether Claude Code kept a long result in a file and showed the model its beginning alone."""
    return text.startswith(_PERSISTED)


def _as_far_as_shown(text: str) -> str:
    """A preview as the beginning of what was asked for, cut off before its last line, which may not be whole; any other
    text as it is."""
    match = _PREVIEW.match(text) if is_preview(text) else None
    if match is None:
        return text
    shown, newline, _ = match[1].removesuffix("\n...").rpartition("\n")
    return f"{shown}{newline}[truncated]"


def _unwrapped(text: str) -> Payload:
    if text.startswith('{"output"'):
        return _codex_json(text)
    if is_codex_output(text):
        head, _, rest = text.partition("Output:\n")
        code = _EXIT_HEAD.search(head, 0, _HEAD_CHARS)
        exit_ = int(code[1]) if code else 1 if head.startswith("Script failed") else None
        return Payload(rest, exit_)
    if text.startswith(("Exit code ", "exit code ")):
        head, _, rest = text.partition("\n")
        code = _EXIT_HEAD.match(head)
        return Payload(rest, int(code[1]) if code else None)
    if "<returncode>" in text[:_HEAD_CHARS] and (match := _RETURNCODE.match(text)):
        body = text[match.end() :]
        ended = body.rstrip()
        if ended.endswith(_OUTPUT_ENDS):
            body = ended[: ended.rindex("</output")]
        return Payload(body.replace(_HEAD_END, "", 1), int(match[1]))
    tail = max(0, len(text) - _TAIL_CHARS)
    if text.endswith("]") and (match := _EXIT_TAIL.search(text, tail)):
        cwd = _CWD_TAIL.search(text, tail)
        return Payload(text[: match.start()], int(match[1]), cwd[1] if cwd else None)
    if "Shell cwd was reset to " in text[tail:] and (match := _CWD_RESET.search(text, tail)):
        return Payload(text[: match.start()], None, match[1].strip())
    return Payload(text)


def _codex_json(text: str) -> Payload:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return Payload(text)
    output = value.get("output")
    metadata = value.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return Payload(output if isinstance(output, str) else text, code if isinstance(code, int) else None)


def says_stashed(text: str) -> bool:
    """Whether git put changes away and did not bring them back."""
    return "Saved working directory and index state" in text and "Dropped refs/stash" not in text


def says_nothing_stashed(text: str) -> bool:
    """Whether git found nothing to put away."""
    return "No local changes to save" in text


def changed_files(text: str) -> list[str]:
    """The files that git lists as changed, by their paths from the folder it was run in."""
    return [match[1].strip() for match in _CHANGED.finditer(text)]


def not_there(text: str) -> bool:
    """Whether a shell's output says that a file could not be read."""
    return len(text) < 4000 and _NOT_THERE.search(text) is not None


def unread_paths(text: str) -> Iterator[str]:
    """The files, as a shell's output spells them, that could not be read while others were."""
    if "No such file" in text or "Permission denied" in text or "Is a directory" in text:
        for found in _UNREAD.finditer(text):
            yield found[1].strip()


def snippet(text: str) -> tuple[int, int, str] | None:
    """The numbered lines that an editor shows around its change: first, last, text."""
    head = text[: _HEAD_CHARS + 400]
    if not any(map(head.lower().__contains__, _SNIPPET_MARKS)) or (match := _SNIPPET.search(head)) is None:
        return None
    start = match.end()
    lines = []
    for line in text[start:].split("\n"):
        if not _is_numbered(line):
            break
        lines.append(line)
    return numbered("\n".join(lines))


def _is_numbered(line: str) -> bool:
    rest = line.lstrip(" ").lstrip("0123456789")
    return rest[:1] in ("\t", "→") and len(rest) < len(line)


def file_body(text: str) -> str:
    """What a file tool shows of a file, without its lead and the client's reminders."""
    text = _as_far_as_shown(without_reminders(text))
    match = _LEAD.match(text, 0, _HEAD_CHARS)
    return text[match.end() :] if match else text


def opened(text: str) -> Opened | None:
    """The file or folder in an answer of OpenCode's tool; None for any other answer."""
    match = _OPENED.match(text) if text.startswith(("<path>", "<file>")) else None
    if match is None:
        return None
    body, mark, _ = text.rpartition(f"\n</{match[2] or 'file'}>")
    body = (body if mark else text)[match.end() :]
    content, mark, says = body.rpartition("\n\n(")
    told = mark != "" and says.startswith(("End of file", "Showing lines", "Output capped", "File has more lines"))
    return Opened(content if told else body, told and says.startswith("End of file"), match[1] == "directory")


def answers(text: str) -> list[Answer] | None:
    """The answers in a result of Cline's tools (`[{"query": "a.py:1-9", "result": "1 | x", "success": true}]`); None
    for any other result."""
    if not text.startswith(_ANSWERS):
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    found = []
    for row in value if isinstance(value, list) else [value]:
        query = row.get("query") if isinstance(row, dict) else None
        asked = _ASKED.match(query) if isinstance(query, str) else None
        if asked is None or not isinstance(row.get("success"), bool):
            return None
        shown = row.get("result")
        spans = ((int(asked[2]), int(asked[3])),) if asked[2] else ()
        body = _BARS.sub(r"\1\t", shown) if isinstance(shown, str) else ""
        found.append(Answer(asked[1], spans, body, row["success"]))
    return found


def window(text: str) -> tuple[str, Span, int, str] | None:
    """SWE-agent's file window: path, lines shown, lines in all, text."""
    at = text.rfind("[File: ")
    match = _WINDOW.search(text, max(0, at)) if at >= 0 else None
    if match is None:
        return None
    lines = []
    for line in text[match.end() :].split("\n"):
        if re.match(r"\d+:", line):
            lines.append(line)
        elif lines or not line.startswith("("):
            break
    found = numbered("\n".join(lines)) if lines else None
    return (match[1], found[:2], int(match[2]), found[2]) if found else None


def is_listing(text: str) -> bool:
    """Whether a view was answered by a folder's content."""
    return text.startswith("Here's the files and directories") or text.startswith("Here are the files and directories")
