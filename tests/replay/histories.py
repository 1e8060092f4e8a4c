"""Generated sessions: parallel calls, missing, late and crossed results, thinking, images, empty texts, notes, usage,
what the client cut, cleared or took back; and their facts."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from ctxview.annotate import Facts
from ctxview.model import Block, Edit, Observation, Pin, ResourceChange
from ctxview.window import SessionView

from .sessions import SESSION, Script, words

TEXTS = st.sampled_from(
    ["", "ok", "go on with the next one", "word " * 30, "never touch auth", "I prefer two decimals", "we decided on b"]
)
RESULTS = st.sampled_from(["", "fine", "line\n" * 40, "DENIED by policy: too large", "x " * 120])
NOTES = "append_ledger"


@dataclass(frozen=True)
class Tool:
    file: int
    answered: bool
    result: str
    extra: int
    """The result has a second part: 1 text, 2 an image."""
    notes: bool = False
    """It is no reading of the file but a row for the ledger, about the file."""


@dataclass(frozen=True)
class Turn:
    """One model call: what comes before it, what it answers, what comes of that."""

    user: str | None
    image: bool
    note: bool
    thinks: bool
    says: str | None
    tools: tuple[Tool, ...]
    prompt: int | None
    crossed: bool = False
    """The results come in the other order than their calls."""
    late: bool = False
    """The person says something between the calls and their results."""
    client: str = ""
    """What the client does before all this: `compact`, `clear` the oldest result, `rewind` to the last request."""


TOOLS = st.builds(
    Tool,
    st.integers(0, 3),
    st.sampled_from([True, True, True, False]),
    RESULTS,
    st.integers(0, 2),
    st.sampled_from([False, False, False, True]),
)
TURNS = st.builds(
    Turn,
    st.one_of(st.none(), TEXTS),
    st.sampled_from([False, False, True]),
    st.sampled_from([False, False, True]),
    st.booleans(),
    st.one_of(st.none(), TEXTS),
    st.lists(TOOLS, max_size=3).map(tuple),
    st.one_of(st.none(), st.integers(5, 900)),
    st.sampled_from([False, False, False, True]),
    st.sampled_from([False, False, False, True]),
    st.sampled_from(["", "", "", "", "", "compact", "clear", "rewind"]),
)
HISTORIES = st.lists(TURNS, min_size=1, max_size=9)
LONG = st.lists(TURNS, min_size=10, max_size=25)

FULL = [
    Turn(
        user="I prefer two decimals" if number == 2 else "go on" if number % 3 == 0 else None,
        image=number == 5,
        note=number == 4,
        thinks=True,
        says="word " * 30 if number % 4 == 0 else None,
        tools=(
            Tool(0, True, "line\n" * 40, number % 3),
            Tool(1, number != 3, "DENIED by policy: too large" if number == 6 else "x " * 120, 0, number == 1),
        ),
        prompt=380,
        client={9: "compact", 11: "clear"}.get(number, ""),
    )
    for number in range(1, 13)
]
"""A history on which every policy has something to do."""


def write(turns: list[Turn], upto: int | None = None) -> Script:
    """The events of a history. `upto`: as if the file had been cut right after that call was made."""
    script = Script()
    script.system("you are helpful")
    script.user("GOAL migrate the tables and leave auth alone")
    calls = 0
    for number, turn in enumerate(turns, 1):
        _meddle(script, turn.client)
        if turn.user is not None:
            script.user(turn.user)
        if turn.image:
            script.block("user", "image", "", human=True)
        if turn.note:
            script.block("user", "note", f"reminder {number}", injected=True)
        script.call(turn.prompt)
        if number == upto:
            break
        if turn.thinks:
            script.think("let me think about it")
        if turn.says is not None or not (turn.thinks or turn.tools):
            script.say(turn.says if turn.says is not None else "done")
        asked = []
        for tool in turn.tools:
            calls += 1
            asked.append((f"c{calls}", tool))
            if tool.notes:
                row = {"finding": f"limit_{calls} is {calls}000", "value": f"{calls}000", "source": f"f{tool.file}:1-2"}
                script.use(f"c{calls}", NOTES, json.dumps(row))
            else:
                script.use(f"c{calls}", text=f'{{"path": "f{tool.file}"}}')
        if turn.late:
            script.user("and one more thing")
        for call_id, tool in reversed(asked) if turn.crossed else asked:
            if tool.answered:
                message = f"r{call_id}"
                script.result(call_id, tool.result, message, NOTES if tool.notes else "read")
                if tool.extra == 1:
                    script.block("tool", "tool_result", "part two", message, tool="read", call_id=call_id)
                elif tool.extra == 2:
                    script.block("user", "image", "[image]", message)
                if tool.extra:
                    script.events[-1] = _same_line(script)
    return script


def _meddle(script: Script, client: str) -> None:
    """What the client does to the window that stands."""
    gone = {e.block for e in script.edits() if e.action == "drop"}
    standing = [e for e in script.events if isinstance(e, Block) and e.id not in gone and e.role != "system"]
    if client == "compact":
        script.cut([b.id for b in standing])
        script.block("user", "summary", "what happened before", inserted=True)
    elif client == "rewind":
        asked = [i for i, b in enumerate(standing) if b.human and b.kind == "user"]
        script.cut([b.id for b in standing[asked[-1] :]] if len(asked) > 1 else [], "rewind")
    elif client == "clear":
        cleared = {e.block for e in script.edits() if e.action == "replace"}
        for block in standing:
            if block.kind == "tool_result" and block.text and block.id not in cleared:
                script.events.append(
                    Edit(SESSION, "replace", block.id, "microcompact", "cleared", text="[cleared]", form="placeholder")
                )
                break


def _same_line(script: Script):  # type: ignore[no-untyped-def]
    first, second = script.events[-2], script.events[-1]
    return replace(second, origin=first.origin)  # type: ignore[union-attr, type-var]


def facts_of(view: SessionView) -> Facts:
    """Pins by the words of the generated texts; readings of files by the call's argument, each superseding the last."""
    pins: list[Pin] = []
    observations: list[Observation] = []
    changes: list[ResourceChange] = []
    newest: dict[str, int] = {}
    keys = {b.call_id: view.text(b.content) for b in view.blocks if b.kind == "tool_call"}
    goal = True
    for block in view.blocks:
        text, since = view.text(block.content), block.turn + 1
        if block.kind == "user" and goal:
            pins.append(Pin(block.n, "goal", "matched", "first", since, priority=9))
            goal = False
        for word, kind in (("never", "constraint"), ("prefer", "preference"), ("decided", "decision")):
            if block.kind == "user" and word in text:
                pins.append(Pin(block.n, kind, "matched", word, since, priority=5, quote=text))  # type: ignore[arg-type]
        if block.kind == "tool_result" and text.startswith("DENIED"):
            pins.append(Pin(block.n, "denial", "matched", "DENIED", since, priority=8, quote=text))
        if block.kind == "tool_result" and block.tool != NOTES and text != "part two":
            key = "file:" + keys[block.call_id]
            observations.append(Observation(block.n, key, "read", block.turn, since, content=str(hash(text))))
            if key in newest:
                changes.append(ResourceChange(newest[key], key, since, "superseded", block.n, "read again"))
            newest[key] = block.n
    return Facts(tuple(pins), tuple(observations), tuple(changes))


def session(turns: list[Turn], upto: int | None = None, limit: int | None = 400) -> SessionView:
    script = write(turns, upto)
    bare = script.view(limit=limit)
    return script.view(limit=limit, facts=facts_of(bare), count=words)
