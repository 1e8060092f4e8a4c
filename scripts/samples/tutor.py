"""S1, `tutor`: sixty turns of worked solutions, and one automatic compaction that forgets how they were wanted.

The teacher states two preferences at the start (complete the square; two decimals) and later hands over the
substitutions that Noor, a student, used. The compaction after turn 34 carries none of the three. From then on answers
use the formula with four decimals, nothing is checked with the tool any more, and at turn 56 there is no record of
Noor's substitutions.
"""

from __future__ import annotations

from math import isqrt, sqrt
from typing import Final

from samples.claude_code import ClaudeSession, numbered
from samples.common import Clock

CWD: Final = "/home/dev/evening-algebra"
SHEET: Final = CWD + "/worksheets/quadratics.md"

GOAL: Final = (
    "Goal: write worked solutions for the quadratics worksheet of my evening class, one exercise at a time, in words "
    "that a beginner can follow. The worksheet is worksheets/quadratics.md."
)
METHOD: Final = "I prefer one method throughout: complete the square, rather than the quadratic formula."
ROUNDING: Final = "I also prefer that you round every result to two decimals."
SUBSTITUTIONS: Final = (
    "Keep this for the correction sheet. Noor's substitutions were: exercise 3, u = x + 2; exercise 7, u = x + 4; "
    "bonus exercise, u = x^2 + 1."
)
SUMMARY: Final = """This session goes on from an earlier conversation that no longer fits into the context. Summary:

1. Task: worked solutions for the exercises of worksheets/quadratics.md, one at a time, for an evening class of \
beginners. The teacher types an exercise and expects a short solution in plain words.
2. Done: exercises 1 to 13 are solved and the teacher has accepted them. No exercise had to be redone.
3. Facts: the worksheet holds 33 exercises of the form x^2 + bx + c = 0, all with two real solutions. check.py in the \
course folder prints both solutions for given b and c.
4. Tone: friendly, short sentences, one step per sentence.
5. Next: exercise 14, then the rest in the order of the worksheet."""

TALK: Final[dict[int, tuple[str, str]]] = {
    34: (
        "Good pace. Where are we?",
        "Exercises 1 to 13 are solved and checked. Exercise 14 is next, and after it 19 remain.",
    ),
    35: (
        "We are back. Remind me in one sentence what a solution of such an equation is.",
        "A solution is a number that makes the left side zero when you put it in for x.",
    ),
    40: (
        "A learner asks why there are two solutions.",
        "The curve is a bowl. If its lowest point lies below the x axis, the bowl crosses the axis on both sides.",
    ),
    45: (
        "Can the two solutions be equal?",
        "Yes, when the bowl only touches the axis. None of the exercises on this worksheet is of that kind.",
    ),
    50: (
        "How can they check a pair of solutions quickly?",
        "Add them and multiply them: the sum is minus b, and the product is c.",
    ),
    56: (
        "Now the correction sheet. Which substitutions did Noor use?",
        "I have no record of Noor's substitutions. Nothing in our conversation mentions a student of that name.",
    ),
    57: (
        "I gave them to you earlier today, for exercises 3 and 7 and the bonus.",
        "I am sorry, I cannot find them: no substitutions were shared with me. Could you send them again?",
    ),
}
"""Turns on which the teacher asks something other than an exercise."""

SQUARE_WORDS: Final = (
    ("Move the constant to the right", "Now undo the shift"),
    ("First bring the constant over", "Take the shift away"),
    ("Put the constant on the other side", "Last step, the shift"),
)
FORMULA_WORDS: Final = (
    "We use the quadratic formula",
    "The quadratic formula gives",
    "Put the numbers into the quadratic formula",
)


def exercises(count: int) -> list[tuple[int, int]]:
    """(b, c) of x^2 + bx + c = 0 with b even and two irrational solutions."""
    out: list[tuple[int, int]] = []
    step = 0
    while len(out) < count:
        b, c = 2 * (step * 5 % 9 + 1) * (-1 if step % 3 == 1 else 1), step * 7 % 13 - 5
        step += 1
        inside = b * b // 4 - c
        if c and inside > 0 and isqrt(inside) ** 2 != inside and (b, c) not in out:
            out.append((b, c))
    return out


def signed(value: int) -> str:
    return f"+ {value}" if value >= 0 else f"- {-value}"


def equation(b: int, c: int) -> str:
    return f"x^2 {signed(b)}x {signed(c)} = 0"


def by_square(n: int, b: int, c: int) -> str:
    """Completes the square, two decimals: what the teacher asked for."""
    half = b // 2
    inside = half * half - c
    root = sqrt(inside)
    opening, closing = SQUARE_WORDS[n % 3]
    return (
        f"Exercise {n}: {equation(b, c)}. {opening}: x^2 {signed(b)}x = {-c}. Half of {b} is {half}, and its square is "
        f"{half * half}. Add that on both sides to complete the square: (x {signed(half)})^2 = {inside}. The root of "
        f"{inside} is {root:.2f}, so x {signed(half)} is {root:.2f} or -{root:.2f}. {closing}: x = {-half + root:.2f} "
        f"or x = {-half - root:.2f}."
    )


def by_formula(n: int, b: int, c: int) -> str:
    """The quadratic formula, four decimals: what the teacher asked not to do."""
    under = b * b - 4 * c
    root = sqrt(under)
    opening = FORMULA_WORDS[n % 3]
    return (
        f"Exercise {n}: {equation(b, c)}. {opening}: x = (-b ± sqrt(b^2 - 4c)) / 2 with b = {b} and c = {c}. Under the "
        f"root stands {under}, and its root is {root:.4f}. So x = ({-b} ± {root:.4f}) / 2, which is "
        f"{(-b + root) / 2:.4f} or {(-b - root) / 2:.4f}."
    )


def worksheet(pairs: list[tuple[int, int]]) -> str:
    head = ["# Quadratics, evening class", "", "Solve each equation. Show every step.", ""]
    return "\n".join(head + [f"{n}. {equation(b, c)}" for n, (b, c) in enumerate(pairs, 1)])


def todo_list() -> dict[str, list[dict[str, str]]]:
    entries = (
        ("Solve exercises 5 to 13", "in_progress"),
        ("Solve exercises 14 to 33", "pending"),
        ("Write the correction sheet with the students' own ways", "pending"),
    )
    return {"todos": [{"content": text, "status": status, "activeForm": text} for text, status in entries]}


def build() -> dict[str, str]:
    pairs = exercises(33)
    session = ClaudeSession(
        "tutor",
        Clock.at("2026-03-10T17:02:00"),
        CWD,
        constant=15_240,
        shared=11_850,
        title="Worked solutions, quadratics",
    )
    queue = iter(enumerate(pairs, 1))

    def checked() -> None:
        """One exercise in two turns: solve and check with the tool, then confirm."""
        n, (b, c) = next(queue)
        half, root = b // 2, sqrt(b * b / 4 - c)
        session.user(f"Exercise {n}, please: {equation(b, c)}")
        command = {"command": f"python3 check.py {b} {c}", "description": f"Check exercise {n}"}
        session.turn(by_square(n, b, c), ("Bash", command, f"x1={-half + root:.2f} x2={-half - root:.2f}"))
        session.turn(f"The check agrees with both values of exercise {n}.")

    session.user(GOAL)
    session.turn("I read the worksheet first.", ("Read", {"file_path": SHEET}, numbered(worksheet(pairs))))
    session.turn("The worksheet has 33 exercises, all of the form x^2 + bx + c = 0. How would you like them solved?")
    session.user(METHOD)
    session.turn("Understood: every solution completes the square, and the formula stays out.")
    session.user(ROUNDING)
    session.turn("Two decimals for every result, then. Ready for exercise 1.")
    for _ in range(4):
        checked()
    session.user(SUBSTITUTIONS)
    session.turn("Noted for the correction sheet.")
    session.user("Make a list of what is left to do.")
    session.turn("", ("TodoWrite", todo_list(), "The list was saved. Keep it up to date while you work."))
    session.turn("The list is made: exercises 5 to 13, exercises 14 to 33, and the correction sheet.")
    for _ in range(9):
        checked()
    while session.turns < 59:
        turn = session.turns + 1
        if turn == 35:
            session.compact(SUMMARY, duration=41_870)
        if turn in TALK:
            question, answer = TALK[turn]
        else:
            n, (b, c) = next(queue)
            question, answer = f"Exercise {n}: {equation(b, c)}", by_formula(n, b, c)
        session.user(question)
        session.turn(answer)
    n, (b, c) = next(queue)
    session.user(f"And the last one for today, exercise {n}: {equation(b, c)}")
    session.turn(by_formula(n, b, c))
    return {"tutor.jsonl": session.text()}
