"""Pinning by hand: the block under the cursor, kept in the file beside the trace, and seen by every policy at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ctxview.errors import CtxviewError
from ctxview.tui.cells import shown
from ctxview.tui.facts import Scene, make_scene
from ctxview.tui.stacks import fault_words

if TYPE_CHECKING:
    from ctxview.tui.main_screen import MainScreen

_BY_HAND: Final = "pinned by hand"


def toggle_pin(main: MainScreen) -> None:
    """Pin what is not pinned, unpin what is. Unpinning what was pinned by hand lets the rules decide again."""
    number, turn, trace = main.block_here(), main.place.turn, main.trace
    recorded = main.stacks.recorded
    view, known = recorded.view, recorded.late  # a pin changes none of that
    if number is None or turn is None:
        main.say("this row is no block", "warn")
        return
    block = main.scene.view.blocks[number]
    if number >= len(view.blocks) or view.blocks[number].id != block.id:
        main.say("a policy put this block in: only recorded blocks can be pinned", "warn")
        return
    pins = [p for p in view.facts.pins if p.block == number]
    by_hand = any(p.rule == _BY_HAND for p in pins)
    session = view.row.session
    key = (session, block.id)
    wanted = None if by_hand or (key in main.stacks.unpinned and not pins) else not pins

    def make() -> tuple[Scene | None, str]:
        try:
            return make_scene(trace.pin(session, block.id, wanted), late=known), ""
        except CtxviewError as error:
            return None, fault_words(error)
        except OSError as error:
            return None, f"the pin cannot be kept: {error.strerror or error}"

    def done(made: tuple[Scene | None, str]) -> None:
        scene, fault = made
        if scene is None:
            main.say(shown(fault, 200), "bad")
            return
        if main.place.session != session:
            return
        main.stacks.unpinned -= {key}
        if wanted is False:
            main.stacks.unpinned.add(key)
        pinned = any(p.block == number for p in scene.view.facts.pins)
        words = "◆ pinned by hand" if wanted else "unpinned by hand" if wanted is False else "the rules decide again"
        if wanted is None:
            words += ": pinned" if pinned else ": not pinned"
        place = replace(main.place, block=block.id)
        main.stacks.open(scene, place, lambda: main.say(f"{words} · kept beside the trace", "good"))

    main.say("keeping the pin …", "dim")
    main.ctxview.compute("pin", lambda stop: make(), done)
