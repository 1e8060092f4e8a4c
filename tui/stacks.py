"""The stack whose windows are shown: replayed in a thread, kept for the next toggle, and taken back by undo.

The recorded answers stay as they are under every stack, and the note over the list says so for as long as one is shown.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from textual.geometry import Size
from textual.strip import Strip

from ctxview.errors import CtxviewError, UsageError
from ctxview.focus import Focus
from ctxview.quiet import no_collection
from ctxview.tui.cells import Part, row, shown, wrap
from ctxview.tui.facts import Scene, Trouble, make_scene
from ctxview.tui.lines import Line
from ctxview.tui.palette import Words, brush

if TYPE_CHECKING:
    from ctxview.policies import Stack
    from ctxview.replay import BudgetUnsatisfiable, Replay
    from ctxview.tui.main_screen import MainScreen

RECORDED: Final = "recorded"
HONEST: Final = "recorded answers stay as they are; behaviour is not re-simulated"
_KEPT: Final = 8
"""Stacks whose windows are kept: a view holds the spans of a whole session."""
_READY_BLOCKS: Final = 40_000
"""Sessions of more blocks are made ready when the policies are opened: what that takes is memory for each block."""
_UNDO: Final = 100
_NAMED: Final = 8
"""Protected blocks that a failure names."""


@dataclass(frozen=True)
class Alternate:
    """One session under one stack, ready to be shown."""

    replayed: Replay
    scene: Scene

    @property
    def stack(self) -> str:
        return self.replayed.stack.text


_one_at_a_time: Final = Lock()
"""Replays of one session share texts that grow."""


def make_alternate(recorded: Scene, stack: Stack) -> Alternate:
    """What one window of another stack is drawn from; `finished` has the rest. Call it in a thread."""
    from ctxview.replay import replay

    with _one_at_a_time, no_collection():
        replayed = replay(recorded.view, stack)
        view = replayed.view
    if stack.is_recorded:
        return Alternate(replayed, recorded)
    view.postpone()
    return Alternate(replayed, Scene(view, (), view.is_estimated, is_whole=False))


def finished(alternate: Alternate, stop: Callable[[], bool] = lambda: False) -> Alternate:
    """With the sizes of all turns and what went wrong: call it in a thread. As it was when `stop()` turned true."""
    replayed, stack = alternate.replayed, alternate.replayed.stack
    if alternate.scene.is_whole or not replayed.view.settle(stop):
        return alternate
    is_paired = bool(stack.layers) and not any(layer.unsafe for layer in stack.layers)
    failures = [Trouble(f.turn, f"{f.layer}: over its budget", None) for f in replayed.failures]
    return Alternate(replayed, make_scene(replayed.view, failures, is_paired=is_paired))


def failure_words(failure: BudgetUnsatisfiable) -> str:
    """Which budget cannot be kept, from which turn, and the pinned blocks with their sizes that stand in its way."""
    turns = f"turn {failure.turn:,}"
    if failure.until != failure.turn:
        turns = f"turns {failure.turn:,} to {failure.until:,}"
    named = ", ".join(f"{shown(block, 40)} {tokens:,}" for block, tokens in failure.protected[:_NAMED])
    rest = len(failure.protected) - _NAMED
    more = f" and {rest:,} more" if rest > 0 else ""
    return (
        f"{failure.layer} cannot keep its budget of {failure.budget:,} tokens, {turns}: {failure.tokens:,} at turn "
        f"{failure.turn:,}; pinned or needed: {named}{more}"
    )


def fault_words(error: CtxviewError) -> str:
    return f"{error.cause}; {error.fix}" if error.fix else error.cause


class StackNote(Line):
    """Over the list while a stack is shown: what it is, and what it cannot keep to. At most four rows."""

    DEFAULT_CSS = "StackNote { height: auto; max-height: 4; }"
    pieces: Sequence[tuple[str, str]] = ()

    def show(self, pieces: Words) -> None:
        """Each piece begins on a line of its own."""
        self.display = bool(pieces)
        if pieces != self.pieces:
            self.pieces = pieces
            self.refresh(layout=True)

    def _lines(self, width: int) -> Words:
        return [(line, ink) for text, ink in self.pieces for line in wrap(text, max(10, width - 2))]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        width, base, paint = self.size.width, self.visual_style.rich_style, brush(self)
        lines = self._lines(width)
        if y >= len(lines):
            return Strip.blank(width, base)
        parts: list[Part] = [(" ", paint("text")), (lines[y][0], paint(lines[y][1]))]
        return row(parts, width, base)


class Stacks:
    """Which stack is shown and which were before it. It moves the main screen."""

    def __init__(self, main: MainScreen) -> None:
        self._main = main
        self.recorded: Scene = main.scene
        """The session as it was recorded."""
        self.shown: Alternate | None = None
        """None while the recorded windows are shown."""
        self.fault: str = ""
        """Why the stack that was asked for cannot be shown."""
        self.wanted: str = RECORDED
        """The stack that was asked for last: it is shown, or on its way."""
        self._known: OrderedDict[tuple[int, str], Alternate] = OrderedDict()
        self._past: list[str] = []
        self.unpinned: set[tuple[str, str]] = set()
        """Session and block of what was unpinned by hand since the trace was opened."""
        self.changed: Callable[[], None] | None = None
        """Called when another stack is shown."""

    def open(self, scene: Scene, focus: Focus, then: Callable[[], None] = lambda: None) -> None:
        """A session was read: show it as recorded, then under the stack of the focus; `then` is called after that."""
        if scene.view.row.session != self.recorded.view.row.session:
            self._past = []
        self.recorded = scene
        self.shown, self.fault, self.wanted = None, "", RECORDED
        if focus.stack == RECORDED:
            self._main.show_scene(scene, focus)
            if len(scene.view.blocks) <= _READY_BLOCKS:
                self._main.call_after_refresh(self.prepare)
            then()
            return
        block = focus.block if focus.block is not None and _has(scene, focus.block) else None
        self._main.show_scene(scene, replace(focus, stack=RECORDED, block=block))
        self.use(focus.stack, focus, then, remember=False)

    def complete(self, scene: Scene) -> None:
        """All that went wrong in the recorded session is known."""
        if scene.view is not self.recorded.view:
            return
        self.recorded = scene
        for key, made in self._known.items():
            if made.scene.view is scene.view:
                self._known[key] = replace(made, scene=scene)
        if self.shown is None:
            self._main.finish_scene(scene)

    def words(self) -> Words:
        """What the note says."""
        words: Words = [(self.fault, "bad")] if self.fault else []
        if self.shown is not None:
            words.append((f"simulated · {HONEST}", "warn"))
            failures = self.shown.replayed.failures
            words += [(failure_words(f), "bad") for f in failures[:1]]
        return words

    # -------------------------------------------------------------------- choosing

    def use(
        self, text: str, focus: Focus | None = None, then: Callable[[], None] = lambda: None, *, remember: bool = True
    ) -> bool:
        """Show the session under a stack, at a focus or where one is, and call `then`; False when the text means
        none."""
        from ctxview.policies import parse_stack

        main = self._main
        try:
            stack = parse_stack(text)
        except UsageError as error:
            self.fault = shown(fault_words(error), 400)
            main.redraw_notes()
            return False
        before, self.wanted, self.fault = self.wanted, stack.text, ""
        if remember and before != stack.text:
            self._past = [*self._past[-_UNDO:], before]

        def made(alternate: Alternate) -> None:
            if alternate.stack == self.wanted:  # else another one was asked for meanwhile
                self._show(alternate, focus)
                then()

        self.fetch(stack.text, made)
        return True

    def prepare(self) -> None:
        """While the person reads, make the first stack that is asked for as quick as the next."""
        view = self.recorded.view

        def work(stop: Callable[[], bool]) -> None:
            from ctxview.replay import prepare

            with _one_at_a_time:
                prepare(view, stop)

        self._main.ctxview.compute("prepare", work, lambda _: None)

    def fetch(self, text: str, then: Callable[[Alternate], None], group: str = "stack", whole: bool = False) -> None:
        """Hand over the windows of a stack: at once where they are known, else when a thread has made them. `whole`:
        with what all of its turns have to be looked through for.

        Raises UsageError.
        """
        from ctxview.policies import parse_stack

        stack, recorded = parse_stack(text), self.recorded
        known = self._known.get((id(recorded.view), stack.text))
        if known is not None and (known.scene.is_whole or not whole):
            self._known.move_to_end((id(recorded.view), stack.text))
            then(known)
            return

        def make(stop: Callable[[], bool]) -> Alternate:
            made = known or make_alternate(recorded, stack)
            return finished(made, stop) if whole else made

        def done(made: Alternate) -> None:
            if recorded.view is self.recorded.view:
                self._keep(made)
                then(made)

        self._main.ctxview.compute(group, make, done)

    def _keep(self, made: Alternate) -> None:
        self._known[id(self.recorded.view), made.stack] = made
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def _finish(self, alternate: Alternate, then: Callable[[], None] | None = None) -> None:
        """Look through all turns for what is not drawn yet; another stack that is asked for comes first."""
        if alternate is not self.shown:
            return
        recorded = self.recorded

        def done(made: Alternate) -> None:
            if recorded.view is not self.recorded.view:
                return
            self._keep(made)
            if self.shown is not None and self.shown.replayed is made.replayed:
                self.shown = made
                self._main.finish_scene(made.scene)
                if then is not None:
                    then()

        self._main.ctxview.compute("stack", lambda stop: finished(alternate, stop), done)

    def _show(self, alternate: Alternate, focus: Focus | None) -> None:
        main = self._main
        self.shown = None if alternate.replayed.stack.is_recorded else alternate
        place = main.place
        wanted = focus or place
        if focus is None and wanted.block is not None and not _has(alternate.scene, wanted.block):
            wanted = replace(wanted, block=None)
        main.show_scene(alternate.scene, replace(wanted, stack=alternate.stack, query=place.query))
        if self.changed is not None:
            self.changed()
        if self.shown is not None and not self.shown.scene.is_whole:
            main.call_after_refresh(self._finish, self.shown)  # the window itself is on the screen by then

    def toggle(self, number: int) -> None:
        """Put the policy of a digit on the stack, or take it away."""
        from ctxview.policies import parse_stack
        from ctxview.tui.policies import SCENARIOS, toggled

        if number <= len(SCENARIOS):
            self.use(toggled(parse_stack(self.wanted), SCENARIOS[number - 1]))

    @property
    def beside(self) -> Sequence[int] | None:
        """The recorded sizes, while another stack is shown."""
        return self.recorded.sizes if self.shown is not None else None

    def compare(self) -> None:
        """The window of the focus' base, else the recorded one, beside the one that is shown."""
        main, shown_now = self._main, self.shown
        base = main.place.base or RECORDED
        if shown_now is None and base == RECORDED:
            main.say("nothing to compare with: p or 1–9 choose a stack", "warn")
            return
        if shown_now is not None and not shown_now.scene.is_whole:
            self._finish(shown_now, self.compare)
            return
        other = shown_now.scene if shown_now is not None else self.recorded

        def opened(made: Alternate) -> None:
            from ctxview.tui.beside import BesideScreen

            focus = replace(main.place, block=main.place.block or main.here())
            if main.app.screen is main and main.scene.view is other.view:
                main.app.push_screen(BesideScreen(made.scene, main.scene, focus), main.chosen)

        try:
            self.fetch(base, opened, "base", whole=True)
        except UsageError as error:
            main.say(shown(fault_words(error), 200), "bad")

    def undo(self) -> bool:
        """Go back to the stack before; False when there is none."""
        if not self._past:
            return False
        return self.use(self._past.pop(), remember=False)


def _has(scene: Scene, block: str) -> bool:
    try:
        scene.view.block(block)
    except UsageError:
        return False
    return True
