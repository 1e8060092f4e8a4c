"""The policy panel: which policies make the stack, in which order, with which parameters. Every key acts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Input

from ctxview.errors import UsageError
from ctxview.policies import POLICIES, PRESETS, Layer, Param, Policy, Stack, parse_stack
from ctxview.policies.stack import accepted, written
from ctxview.policies.vendors import VENDORS
from ctxview.tui.cells import fit, shown
from ctxview.tui.lines import Title
from ctxview.tui.overlays import MOVES, ReportLines
from ctxview.tui.palette import Words
from ctxview.tui.reports import Report, ReportLine
from ctxview.tui.stacks import HONEST, RECORDED, StackNote, Stacks, failure_words, fault_words

SCENARIOS: Final[tuple[Policy, ...]] = tuple(p for p in POLICIES if p not in VENDORS)
QUICK: Final = 9
"""Policies that a digit toggles."""


# ----------------------------------------------------------------------------------------------- stacks from stacks


def toggled(stack: Stack, policy: Policy) -> str:
    """The stack with `policy` on top, or without it where it was. What is left without layers is the recorded window.

    On the recorded window a first policy replaces what the client did: it starts from everything that arrived.
    """
    left = tuple(layer for layer in stack.layers if layer.policy.name != policy.name)
    if len(left) == len(stack.layers):
        base = stack.base if stack.layers else "history"
        return Stack(base, (*left, Layer(policy, policy.defaults()))).text
    return Stack(stack.base, left).text if left else RECORDED


def moved(stack: Stack, policy: Policy, by: int) -> str:
    """The stack with the policy's first layer one place on."""
    layers = list(stack.layers)
    at = next((i for i, layer in enumerate(layers) if layer.policy.name == policy.name), None)
    if at is not None and 0 <= at + by < len(layers):
        layers[at], layers[at + by] = layers[at + by], layers[at]
    return Stack(stack.base, tuple(layers)).text


def other_base(stack: Stack) -> str:
    return Stack("history" if stack.base == "recorded" else "recorded", stack.layers).text


def with_params(stack: Stack, policy: Policy, words: str) -> str:
    """The stack with other parameters for `policy`, which is added where it is not in it. Raises UsageError."""
    text = ":".join([policy.name, *words.replace(":", " ").split()])
    layer = parse_stack(text).layers[0]
    layers = list(stack.layers)
    at = next((i for i, known in enumerate(layers) if known.policy.name == policy.name), None)
    if at is None:
        return Stack(stack.base if layers else "history", (*layers, layer)).text
    layers[at] = layer
    return Stack(stack.base, tuple(layers)).text


def params_of(stack: Stack, policy: Policy) -> str:
    """What was stated for a policy, as one types it."""
    layer = next((known for known in stack.layers if known.policy.name == policy.name), None)
    return " ".join(f"{name}={written(layer.params[name])}" for name in layer.given) if layer else ""


# -------------------------------------------------------------------------------------------------------- the panel


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that can be chosen."""

    what: Literal["preset", "base", "policy"]
    name: str
    policy: Policy | None = None
    digit: int | None = None


def entries() -> tuple[Entry, ...]:
    presets = [Entry("preset", name) for name in (RECORDED, "history", *PRESETS)]
    scenarios = [Entry("policy", p.name, p, i if i <= QUICK else None) for i, p in enumerate(SCENARIOS, 1)]
    return (*presets, Entry("base", "base"), *scenarios, *(Entry("policy", p.name, p) for p in VENDORS))


def panel_report(found: Sequence[Entry], stack: Stack) -> Report:
    """The panel's lines for a stack."""
    lines: list[ReportLine] = []
    group = ""
    at = 0
    for index, entry in enumerate(found):
        is_vendor = entry.policy is not None and entry.policy in VENDORS
        heads = {"preset": "presets", "base": "start from", "policy": "vendor policies" if is_vendor else "policies"}
        if heads[entry.what] != group:
            group = heads[entry.what]
            lines += [ReportLine([])] if lines else []
            lines.append(ReportLine([(group, "dim")]))
        if entry.what == "policy" and entry.policy is SCENARIOS[0]:
            at = len(lines)
        lines.append(ReportLine(_words(entry, stack), choice=index))
    return Report("", lines, at)


def _words(entry: Entry, stack: Stack) -> Words:
    if entry.policy is not None:
        places = [i for i, layer in enumerate(stack.layers, 1) if layer.policy.name == entry.name]
        box = f"[{places[0]}] " if places else "[ ] "
        stated = params_of(stack, entry.policy)
        digit = f"{entry.digit} " if entry.digit else "  "
        words: Words = [
            (box, "accent" if places else "dim"),
            (digit, "accent"),
            (fit(entry.name, 27), "text" if places else "dim"),
        ]
        if stated:
            words.append((f"{shown(stated, 60)}  ", "warn"))
        words.append((entry.policy.title, "text" if places else "dim"))
        if entry.policy.unsafe:
            words.append((" · unsafe: pairing is not mended", "bad"))
        return words
    if entry.what == "base":
        recorded = stack.base == "recorded"
        says = "the recorded window, client's cuts and all" if recorded else "everything that arrived (history)"
        return [("    ", "dim"), (f"{'recorded' if recorded else 'history':<9}", "text"), (says, "dim")]
    text = PRESETS.get(entry.name, entry.name)
    here = parse_stack(text).text == stack.text
    return [
        ("(•) " if here else "( ) ", "accent" if here else "dim"),
        (f"{entry.name:<29}", "text" if here else "dim"),
        ("" if text == entry.name else text, "dim"),
    ]


def about(policy: Policy) -> Words:
    """A policy's parameters with their ranges, and where it comes from."""
    params = [f"{p.name}={_default(p)} ({p.range})" for p in accepted(policy)]
    return [(f"{policy.name}: {' · '.join(params)}", "text"), (f"from {shown(policy.source, 300)}", "dim")]


def _default(param: Param) -> str:
    return shown(param.default, 24) if isinstance(param.default, str) else written(param.default)


class PanelLines(ReportLines):
    """Lines that say when the cursor moves."""

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        if isinstance(self.screen, PolicyScreen):
            self.screen.tell()

    def on_resize(self) -> None:
        """The cursor stays in sight when what stands below takes more room."""
        top, height = self.scroll_offset.y, self.size.height
        if height and not top <= self.cursor < top + height:
            self.scroll_to(y=max(0, self.cursor - height // 2), animate=False, immediate=True, force=True)


class PolicyScreen(ModalScreen[None]):
    """Toggles a policy, reorders, edits parameters or the whole stack as text; what is below follows each key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        Binding("space", "put", show=False),
        Binding("enter", "params", show=False),
        Binding("e", "text", show=False),
        Binding("u", "undo", show=False),
        Binding("K,less_than_sign", "shift(-1)", show=False),
        Binding("J,greater_than_sign", "shift(1)", show=False),
        *(Binding(str(n), f"quick({n})", show=False) for n in range(1, QUICK + 1)),
        Binding("escape,p,q", "close", show=False),
    ]

    def __init__(self, stacks: Stacks) -> None:
        super().__init__()
        self._stacks = stacks
        self._entries = entries()
        self._editing: Policy | None = None
        self._error = ""

    def compose(self) -> ComposeResult:
        keys: Words = []
        for key, does in (("Space", "toggle"), ("Enter", "parameters"), ("K J", "order"), ("e", "edit text"),
                          ("u", "undo"), ("Esc", "close")):  # fmt: skip
            keys += [(key, "accent"), (f" {does}  ", "dim")]
        with Vertical(classes="overlay"):
            yield Title([("Policies", "accent"), (f" · {HONEST}", "dim")], classes="title")
            yield PanelLines(panel_report(self._entries, self._stack))
            yield Input(compact=True, id="edit", select_on_focus=False)
            yield StackNote(id="about")
            yield Title(keys, classes="keys")

    def on_mount(self) -> None:
        self._input.display = False
        self._stacks.changed = self.follow
        self._stacks.prepare()
        self.tell()

    def on_unmount(self) -> None:
        self._stacks.changed = None

    def on_resize(self, event: Resize) -> None:
        self.query_one(".overlay").styles.height = max(5, event.size.height - 2)

    @property
    def body(self) -> PanelLines:
        return self.query_one(PanelLines)

    @property
    def _input(self) -> Input:
        return self.query_one("#edit", Input)

    @property
    def _stack(self) -> Stack:
        return parse_stack(self._stacks.wanted)

    @property
    def here(self) -> Entry | None:
        body = self.body
        choice = body.lines[body.cursor].choice if 0 <= body.cursor < len(body.lines) else None
        return None if choice is None else self._entries[choice]

    def follow(self) -> None:
        """Another stack is shown below, or was asked for."""
        if self.is_mounted:
            self.body.load(panel_report(self._entries, self._stack))
            self.tell()
            self.refresh()

    def tell(self) -> None:
        """What stands under the lines: the stack as text, what is wrong with it, the policy under the cursor."""
        stacks, entry = self._stacks, self.here
        words: Words = [(f"stack  {stacks.wanted}", "accent")]
        fault = self._error or stacks.fault
        if fault:
            words.append((fault, "bad"))
        elif stacks.shown is not None and stacks.shown.stack == stacks.wanted:
            words += [(failure_words(f), "bad") for f in stacks.shown.replayed.failures[:1]]
        if entry is not None and entry.policy is not None:
            words += about(entry.policy)
        self.query_one("#about", StackNote).show(words)

    # ------------------------------------------------------------------ the keys

    def _use(self, text: str) -> None:
        self._error = ""
        self._stacks.use(text)
        self.follow()

    def action_put(self) -> None:
        entry = self.here
        if entry is None:
            return
        if entry.policy is not None:
            self._use(toggled(self._stack, entry.policy))
        else:
            self._use(other_base(self._stack) if entry.what == "base" else entry.name)

    def action_quick(self, number: int) -> None:
        if number <= len(SCENARIOS):
            self._use(toggled(self._stack, SCENARIOS[number - 1]))

    def action_shift(self, by: int) -> None:
        entry = self.here
        if entry is not None and entry.policy is not None:
            self._use(moved(self._stack, entry.policy, by))

    def action_undo(self) -> None:
        self._error = "" if self._stacks.undo() else "nothing to take back"
        self.follow()

    def action_params(self) -> None:
        entry = self.here
        if entry is not None and entry.policy is not None:
            self._edit(entry.policy, params_of(self._stack, entry.policy), f"{entry.name}: name=value …")
        elif entry is not None:
            self.action_put()

    def action_text(self) -> None:
        self._edit(None, self._stacks.wanted, "stack")

    def _edit(self, policy: Policy | None, value: str, prompt: str) -> None:
        self._editing = policy
        box = self._input
        box.placeholder, box.value = prompt, value
        box.cursor_position = len(value)
        box.display = True
        box.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        try:
            text = with_params(self._stack, self._editing, event.value) if self._editing else event.value
            parse_stack(text)
        except UsageError as error:
            self._error = shown(fault_words(error), 400)
            self.tell()
            return
        self._hide()
        self._use(text)

    def _hide(self) -> None:
        self._input.display = False
        self._error = ""
        self.body.focus()

    def on_report_lines_chosen(self) -> None:
        self.action_put()

    def action_move(self, by: int) -> None:
        self.body.step(by)

    def action_page(self, by: int) -> None:
        self.body.step(by * max(1, self.body.size.height - 1))

    def action_ends(self, by: int) -> None:
        self.body.step(by * len(self.body.lines))

    def action_close(self) -> None:
        if self._input.display:
            self._hide()
            self.tell()
        else:
            self.dismiss(None)
