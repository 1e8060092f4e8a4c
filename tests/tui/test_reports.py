"""Reports say where their numbers are from, agree with `info`, and show a long reason whole."""

from __future__ import annotations

from dataclasses import replace

from fake import FakeTrace, make_view
from running import NARROW, WIDE, running

from ctxview.focus import Focus
from ctxview.ingest import open_trace
from ctxview.model import CutRow, EditRow
from ctxview.report.info import cuts_report
from ctxview.sample_traces import sample_path
from ctxview.tui.facts import make_scene
from ctxview.tui.reports import Report, ReportLine, budget, loss, rows_of
from ctxview.window.view import SessionView


def text_of(report: Report) -> str:
    return "\n".join("".join(text for text, _ in line.words) for line in report.lines)


def with_cut(view: SessionView, cut: CutRow, *edits: EditRow) -> SessionView:
    return SessionView(
        view.row, view.turns, view.blocks, view.spans, [*view.edits, *edits], [cut], view.audit, view.texts
    )


def test_the_loss_report_gives_the_sizes_and_counts_of_info():
    view = make_view(turns=6)
    cut = replace(view.cuts[0], after=None)
    view = with_cut(view, cut)
    row = cuts_report(view)[0]
    text = text_of(loss(make_scene(view), Focus(), 5))
    assert row["after"] == view.turns[4].recorded
    assert f"{row['before']:,} → {row['after']:,}, before as the log states it, after as" in text
    assert f"dropped     {row['dropped']:,} blocks" in text
    assert f"kept        {row['kept']:,} blocks" in text


def test_the_loss_report_says_what_was_never_sent():
    view = make_view(turns=6)
    made = next(s for s in view.spans if s.end == 5 and s.start == 4)
    spans = [replace(s, start=5) if s == made else s for s in view.spans]
    late = SessionView(view.row, view.turns, view.blocks, spans, view.edits, view.cuts, view.audit, view.texts)
    assert "1 came after the last call and never stood in a window" in text_of(loss(make_scene(late), Focus(), 5))


def test_an_unexplained_cut_is_not_said_to_be_in_the_log():
    view = make_view(turns=3, cut_every=0)
    fall = CutRow(0, 3, "unexplained", None, 90_000, 12_000, 0, 4, None, "trace.jsonl", 3)
    text = text_of(loss(make_scene(with_cut(view, fall)), Focus(), 3))
    assert "90,000 → 12,000, as the turns around it were recorded; the log names no cut" in text
    assert "as the log states" not in text


def test_the_budget_says_why_no_factor_was_fitted():
    with open_trace([str(sample_path("refund"))]) as trace:
        scene = make_scene(trace.view(None))
        text = text_of(budget(scene, 5))
        assert "none: usage is recorded, but a fit takes 4 turns between two cuts; here it is 1" in text
        assert "recorded − counted" in text
        assert "factor ×" not in text
        assert "recorded − factor × counted" in text_of(budget(scene, 4))
    unmeasured = make_scene(make_view(turns=3, recorded=False))
    assert "none: the log records no usage" in text_of(budget(unmeasured, 3))


async def test_a_life_shows_the_whole_reason_on_a_narrow_screen():
    view = make_view(turns=6)
    why = "this reason is much longer than what a screen of eighty cells can show in one row, up to its END"
    edits = [replace(e, reason=why) for e in view.edits]
    told = SessionView(view.row, view.turns, view.blocks, view.spans, edits, view.cuts, view.audit, view.texts)
    async with running(FakeTrace("t", (told,)), size=NARROW, focus=Focus(turn=4, block="b000000")) as s:
        await s.press("v")
        assert "up to its END" in s.text()
        assert "then left: compact" in s.text()


def test_a_line_that_goes_on_leads_from_its_first_row_alone():
    line = ReportLine([("a word ", "dim"), ("and many more words after it", "text")], goto=Focus(turn=2), hang=3)
    rows = rows_of(line, 14)
    assert [row.leads for row in rows] == [True] + [False] * (len(rows) - 1)
    assert all(len("".join(t for t, _ in row.words)) <= 14 for row in rows)
    whole = " ".join("".join(t for t, _ in row.words).strip() for row in rows)
    assert whole == "a word and many more words after it"


async def test_a_doubt_is_a_state_of_the_list_the_detail_and_the_life(size):
    view = make_view(turns=3, cut_every=0)
    result = next(b for b in view.blocks if b.kind == "tool_result" and b.turn == 1)
    fall = CutRow(0, 3, "unexplained", None, 90_000, 12_000, 0, 4, None, "trace.jsonl", 3)
    doubt = EditRow(0, 3, "recorded", "unexplained", "may be gone", result.n, "tag", None, (), {}, 0)
    trace = FakeTrace("t", (with_cut(view, fall, doubt),))
    async with running(trace, size=size, focus=Focus(turn=3, block=result.id)) as s:
        assert "? doubtful" in s.text()
        await s.press("enter")
        assert "may be gone" in s.text()
        await s.press("escape", "v")
        assert "from turn 3: may be gone" in s.text()
        await s.press("v", "h")
        assert "doubtful" not in s.text(), "the turn before is beyond doubt"


async def test_comparing_stacks_names_the_state_that_the_list_names():
    with open_trace([str(sample_path("collapse"))]) as trace:
        async with running(trace, size=WIDE, focus=Focus(stack="pin-goal", turn=8)) as s:
            assert "» injected" in s.text()
            await s.press("c")
            assert "» injected" in s.text()


async def test_what_stands_now_is_called_no_turn_and_no_share_of_the_limit_is_claimed_for_it():
    async with running() as s:
        await s.press("G", "l", "b")
        text = s.text()
        assert "Budget now, after turn 12" in text
        assert "turn 13" not in text
        assert "share unknown: without the unlogged part" in text
        assert "% used" not in text
        await s.press("escape", "enter")
        assert "now, after turn 12 › block" in s.text()
        await s.press("escape", "d")
        assert "Turn 12 → now, after turn 12" in s.text()
        await s.press("escape", "f")
        assert "Filter the window: now, after turn 12" in s.text()
