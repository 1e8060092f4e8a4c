"""Every key of the main screen in one table: the bindings and the help screen are both made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Key:
    group: str
    shown: str
    """As the help screen writes it."""
    keys: str
    """Textual's key names, separated by commas."""
    action: str
    says: str
    """What it does; empty for the second half of a pair, which the help screen joins with the first."""


KEYS: Final = (
    Key("Block", "j ↓", "j,down", "block(1)", "next block"),
    Key("Block", "k ↑", "k,up", "block(-1)", "previous block"),
    Key("Block", "^d PgDn", "ctrl+d,pagedown", "page(1)", "a page down"),
    Key("Block", "^u PgUp", "ctrl+u,pageup", "page(-1)", "a page up"),
    Key("Block", "Home", "home", "first_block", "first block of the window"),
    Key("Block", "End", "end", "last_block", "last block of the window"),
    Key("Block", "Enter", "enter", "detail", "this block in full; Esc goes back"),
    Key("Block", "{", "left_curly_bracket", "change(-1)", "turn of this block's previous change"),
    Key("Block", "}", "right_curly_bracket", "change(1)", "turn of this block's next change"),
    Key("Block", "v", "v", "life", "this block's whole life"),
    Key("Block", "y", "y", "copy", "copy this block's text"),
    Key("Block", "P", "P", "pin", "pin or unpin this block by hand; kept beside the trace"),
    Key("Turn", "l →", "l,right", "turn(1)", "next turn"),
    Key("Turn", "h ←", "h,left", "turn(-1)", "previous turn"),
    Key("Turn", ")", "right_parenthesis,shift+right", "turn(10)", "ten turns on"),
    Key("Turn", "(", "left_parenthesis,shift+left", "turn(-10)", "ten turns back"),
    Key("Turn", "g", "g", "first_turn", "first turn"),
    Key("Turn", "G", "G", "last_turn", "last turn; one more → is what stands now"),
    Key("Turn", "]", "right_square_bracket", "cut(1)", "next cut"),
    Key("Turn", "[", "left_square_bracket", "cut(-1)", "previous cut"),
    Key("Turn", "!", "exclamation_mark", "trouble", "what went wrong first; again: what went wrong next"),
    Key("Turn", "m", "m", "mark", "mark this turn, for d and '"),
    Key("Turn", "'", "apostrophe", "to_mark", "go to the marked turn"),
    Key("Find", "/", "slash", "search", "search whole texts: this window, else the session"),
    Key("Find", "n", "n", "hit(1)", "next hit"),
    Key("Find", "N", "N", "hit(-1)", "previous hit"),
    Key("Find", "f", "f", "filter", "filter the list by state, kind, tool; again: all blocks"),
    Key("Find", "Esc", "escape", "clear", "take away the filter, then what was searched"),
    Key("Look into", "d", "d", "compare", "what differs from the marked turn, else from the turn before"),
    Key("Look into", "L", "L", "ledger", "what was noted, and whether it was written"),
    Key("Look into", "x", "x", "loss", "what this cut threw away and kept"),
    Key("Look into", "b", "b", "budget", "what fills the window, and the audit"),
    Key("Look into", "S", "S", "sessions", "sessions of this trace"),
    Key("Look into", "e", "e", "report", "load report: files and issues"),
    Key("Policies", "p", "p", "policies", "policy panel: toggle with Space, order, parameters, presets"),
    Key("Policies", "1–9", "1", "quick(1)", "toggle one of the first nine policies; p lists them"),
    *(Key("Policies", "", str(n), f"quick({n})", "") for n in range(2, 10)),
    Key("Policies", "c", "c", "beside", "the recorded window beside the one under the stack"),
    Key("Policies", "u", "u", "undo_stack", "take back the last change of the stack"),
    Key("Move about", "^o", "ctrl+o", "history(-1)", "back to where you were"),
    Key("Move about", "^i Tab", "ctrl+i,tab", "history(1)", "forward again"),
    Key("Move about", ":", "", "", "command palette; :120 goes to turn 120"),
    Key("Move about", "Y", "Y", "permalink", "copy the command that opens this very place"),
    Key("Screen", "r", "r", "mode", "text in the detail: wrapped, raw, as JSON"),
    Key("Screen", "+", "plus", "zoom(1)", "more room for the list"),
    Key("Screen", "_", "underscore", "zoom(-1)", "more room for the detail"),
    Key("Screen", "#", "number_sign", "numbers", "line numbers in the detail"),
    Key("Screen", "t", "", "", "light or dark"),
    Key("Screen", "?", "question_mark", "help", "this list"),
    Key("Screen", "q", "", "", "quit"),
)
"""Keys without an action here are bound by the app, for every screen."""


def bindings() -> list[Binding]:
    return [Binding(k.keys, k.action, k.says, show=False) for k in KEYS if k.action]


FOOTER: Final = (
    ("h l", "turn", "l"),
    ("[ ]", "cut", "right_square_bracket"),
    ("j k", "block", "j"),
    ("Enter", "detail", "enter"),
    ("x", "loss", "x"),
    ("p", "policy", "p"),
    ("b", "budget", "b"),
    ("/", "search", "slash"),
    ("?", "keys", "question_mark"),
    ("!", "wrong", "exclamation_mark"),
    ("q", "quit", "q"),
    ("c", "compare", "c"),
    ("d", "diff", "d"),
    ("f", "filter", "f"),
    (":", "go to", "colon"),
    ("v", "life", "v"),
    ("S", "sessions", "S"),
    ("L", "ledger", "L"),
    ("m", "mark", "m"),
    ("e", "report", "e"),
    ("y", "copy", "y"),
    ("t", "theme", "t"),
)
"""Keys of the last line, the most wanted first: (shown, word, the key a click presses). A narrow line shows fewer."""
