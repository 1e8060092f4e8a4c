"""What people say: constraints, preferences, decisions, denials, approvals and questions, and what is none of them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from pin_blocks import agent, block, call, kinds_of, person, pins_of, result

from ctxview.annotate.pins import Phrase, PinRules
from ctxview.annotate.pins.sentences import sentences
from ctxview.annotate.pins.vocabulary import SPOKEN

GOAL = person("Tidy the depot scripts.")


def said(text: str) -> set[str]:
    """The kinds found in a person's words, some way into a session."""
    return kinds_of(GOAL, agent("Done."), person(text))


@pytest.mark.parametrize(
    "text",
    [
        "Never push to the main branch.",
        "Rename the field, but don't touch the tests.",
        "Do not change the schema of the parcels table.",
        "The release branch must not be rebased.",
        "Only use the standard library.",
        "Refund only what you can prove.",
        "Fix the warning without changing the public interface.",
        "The auth service is off limits.",
        "Stay away from the billing folder.",
        "Under no circumstances send mail to a customer.",
        "Leave config/gateway.yaml alone.",
        "We never store card numbers.",
        "I don't want you to reformat the whole file.",
        "No new dependencies, please.",
        "Avoid global variables.",
        "You should not answer for the legal team.",
        "Direct writes to the archive are forbidden.",
        "Always run the tests before you commit.",
        "Every table must have a primary key.",
        "Make sure that the counts agree on both sides.",
        "Don't forget to close the file.",
        "The output needs to be sorted: it has to be stable.",
        "If the upload fails, do not retry it.",
        "- **Important**: do NOT edit generated files",
        "Could you, without using the network, count the parcels?",
        "Retry the upload without any sleeps.",
        "I would only want one test per table.",
        "Reply with the table's name, nothing else.",
        "Delete a column only when the migration says so.",
        "You may merge only after the review.",
        "Review only the new migration.",
        "The only requirement is a README in every folder.",
        "You have to always close the file.",
        "Before renaming a column, list the views that use it.",
        "Step 2: before you write the script, read the schema.",
        "Follow these steps: read, plan, write.",
        "Prepare the move, but wait for my go.",
        "Wait for me to approve the list.",
        "Read the notes again before you write the summary.",
        "When a code is unclear, ask before you guess.",
        "If a check fails, fix the export until all checks pass.",
        "You don't have to change the tests.",
        "Keep the depot codes unless explicitly asked to change them.",
        "Stop the import now.",
        "Make the smallest possible changes to the depot table.",
        "Before moving a column, first carefully read the schema.",
    ],
)
def test_constraints(text: str):
    assert "constraint" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "I never saw this before.",
        "We never got an answer from the broker.",
        "The tests do not pass on my machine.",
        "It never worked.",
        "I don't know which file it is.",
        "Don't worry about the warnings.",
        "They don't seem to agree.",
        "Why does it never finish?",
        "Do you never sleep?",
        'The manual says "never restart the broker".',
        "The flag `--never-retry` was set.",
        "> never touch the schema",
        "```\n# never call this twice\n```",
        "2026-03-01 10:00:12 WARN never received an ack, do not retry",
        "I had to fix it to make sure I understood.",
        "That shouldn't have been a problem.",
        "It was always slow.",
        "I don't think so.",
        "If I can only use one, tell me which.",
        "<!-- DO NOT REMOVE THIS LINE -->",
        "The broker takes the parcel and hands off to the courier.",
        "If you don't set a depot, the first one is taken.",
        "Cache the list to avoid a second call.",
        "Set the flag if the lock must survive.",
        "Ask when there are two depots and the clerk must choose.",
        "Check whether the key is hashed (always or sometimes).",
        "Could you find it without a key?",
        "Nothing else, thanks.",
        "You can merge the branch without asking.",
        "Before lunch I read the schema.",
        "Before we start, I should say that the depot moved.",
        "You don't have to worry about the archive.",
        "We continued until all were counted.",
        "Never Mix",
        "The second column lists depots that agents should not count.",
        "The bus stopped here.",
        "The minimal change was made last week.",
    ],
)
def test_no_constraints(text: str):
    assert "constraint" not in said(text)


def test_a_constraint_quotes_its_sentence_and_nothing_else():
    pins = [p for p in pins_of(person("Start now. Never contact the customer directly. Thanks.")) if p.quote]
    assert [(p.kind, p.quote, p.evidence) for p in pins] == [
        ("constraint", "Never contact the customer directly.", "matched")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I prefer one method throughout: complete the square.",
        "I'd rather have two small commits than one large one.",
        "Round every result to two decimals.",
        "Please use British spelling.",
        "Keep your answers short.",
        "Be concise.",
        "As lightweight as possible please.",
        "We solve these by completing the square.",
        "Please answer in German.",
        "I like short functions.",
        "We usually use tabs here.",
        "Ideally the report fits on one page.",
        "Return a summary (80-120 words) of the tables.",
        "Respond with JSON.",
        "Clear names are more important than short ones.",
    ],
)
def test_preferences(text: str):
    assert "preference" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'd like to book a flight to Oslo.",
        "I like it.",
        "Which one do you prefer?",
        "The round trip takes two hours.",
        "Use the file in docs.",
        "Keep going.",
        "We use the gateway for that.",
        "Use the quoted name or wrap it in quotes.",
        "Return the list of depots.",
        "Which table is more important than the depots?",
    ],
)
def test_no_preferences(text: str):
    assert "preference" not in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "Let's go with the second design.",
        "We decided to drop the archive table.",
        "Use Postgres instead of MySQL, and call it parcels instead.",
        "Decision: every DATETIME becomes timestamptz.",
        "Actually, skip the invoices table.",
        "Wait, that is the old branch.",
        "No, use the other file.",
        "I meant the depot in Kiel.",
        "Skip the invoices table.",
        "Scratch that.",
        "The stop hook is not correct, it runs at the end of a turn.",
        "I've realized I gave you the wrong number.",
        "We don't need to commit yet.",
        "Not what I asked for.",
        "I actually want both tables.",
        "Actually, could you undo the last step?",
        "We should probably mention the archive too.",
        "The export is no longer needed.",
        "Should also explain the depot codes.",
        "I also want to close the second depot.",
        "And I'd also like to add two parcels.",
        "I also need a label for each parcel.",
        "The depot's total is incorrectly added up.",
    ],
)
def test_decisions_and_corrections(text: str):
    assert "decision" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "No, that's all for now.",
        "Actually, I'm really annoyed.",
        "Let's see.",
        "Should we use Postgres instead?",
        "Wait for the tests to finish.",
        "I need to cancel because I made a mistake during the booking.",
        "Actually, does it reload?",
        "Should we mention the archive?",
        "We should be able to see it now.",
        "I also want to know the price.",
        "I also need to ask the clerk.",
        "Find out where the total is incorrectly added up.",
    ],
)
def test_no_decisions(text: str):
    assert "decision" not in said(text)


def test_the_agent_decides_only_when_it_says_so():
    assert "decision" in kinds_of(GOAL, agent("I've decided to keep the old index."))
    assert "decision" not in kinds_of(GOAL, agent("I'll use grep to find it."))
    assert "decision" not in kinds_of(GOAL, agent("The decision table is in docs/rules.md."))


def test_an_answer_to_the_agents_question_binds():
    asked = agent("Where should the handler live? Should I put it next to the others?")
    assert "decision" in kinds_of(GOAL, asked, person("put it in handlers.py"))
    assert "decision" not in kinds_of(GOAL, agent("Done."), person("put it in handlers.py"))
    assert "decision" in kinds_of(GOAL, asked, person("rename it to routes.py"))
    assert "decision" in kinds_of(GOAL, asked, person("can leave it there"))
    options = agent("Which one do you want?\n\nA) the small one\nB) the large one")
    assert "decision" in kinds_of(GOAL, options, person("B"))


@pytest.mark.parametrize(
    "text",
    [
        "Approved.",
        "Yes, go ahead.",
        "LGTM, ship it.",
        "Please proceed with the refund.",
        "the depot page looks good, do we need a second one?",
        "all good. next table",
        "ok, that order makes more sense.",
    ],
)
def test_approvals(text: str):
    assert "approval" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sure! My number is 12.",
        "Yes, but not today.",
        "Continue.",
        "Great, thank you!",
        "Is it approved?",
        "If it looks good, can you merge it?",
    ],
)
def test_no_approvals(text: str):
    assert "approval" not in said(text)


def test_a_bare_yes_approves_only_what_was_proposed():
    assert "approval" in kinds_of(GOAL, agent("Shall I delete the old branch?"), person("yes"))
    assert "approval" in kinds_of(GOAL, agent("Want me to add that?"), person("sure. will that take long?"))
    assert "approval" not in kinds_of(GOAL, agent("Could you give me the number?"), person("Sure! It is 12."))
    assert "approval" not in kinds_of(GOAL, agent("Deleted."), person("yes"))


def test_a_proposal_can_be_approved_late_in_a_message():
    late = person("I read the plan. The rest looks fine.")
    assert "approval" in kinds_of(GOAL, agent("Shall I delete the old branch?"), late)
    assert "approval" not in kinds_of(GOAL, agent("Deleted."), late)


@pytest.mark.parametrize(
    "question",
    [
        "Please confirm that all is correct, and I'll send the parcel.",
        "I can send it by the slow lane, if that's okay?",
        "The slow lane is open. Would that work?",
        "Let me know if you'd like me to send it.",
    ],
)
def test_what_a_yes_lets_happen(question: str):
    assert "approval" in kinds_of(GOAL, agent(question), person("Yes, that's right. Please go ahead with it."))
    assert "decision" in kinds_of(GOAL, agent(question), person("Yes, but tell me the price."))
    assert "approval" not in kinds_of(GOAL, agent(question), person("Yes, but tell me the price."))
    assert "denial" in kinds_of(GOAL, agent(question), person("That's too expensive. Is there another lane?"))


def test_a_request_for_facts_is_no_proposal():
    asked = agent("Please confirm which lane it takes, and I'll send the parcel.")
    assert "approval" not in kinds_of(GOAL, asked, person("Great! It is the slow one."))
    assert "denial" not in kinds_of(GOAL, asked, person("That's too expensive."))
    assert "denial" not in kinds_of(GOAL, agent("Shall I send it?"), person("The slow lane is too expensive for Kiel."))


def test_a_question_that_the_agent_answers_itself_is_none_nor_is_code():
    assert "question" not in kinds_of(GOAL, agent("Why is the depot closed?\n\nBecause it is full."))
    assert "question" in kinds_of(GOAL, agent("Why is the depot closed?\n\nI looked and saw no reason."))
    assert "question" not in said("Look at this:\nopen === closed ?")
    shown = 'Close it.\n<file_content path="/p/a.ts">\nIs it open?\nNever close it.\n</file_content>'
    assert kinds_of(GOAL, agent("Done."), person(shown)) == set()


def test_a_no_to_a_proposal_is_a_denial_and_one_to_a_question_is_an_answer():
    proposal = agent("Should I put the handlers into one file?")
    assert "denial" in kinds_of(GOAL, proposal, person("no, one file per depot"))
    assert "denial" not in kinds_of(GOAL, proposal, person("No, that's fine."))
    assert "denial" not in kinds_of(GOAL, agent("Did the import finish?"), person("no, one depot is missing"))
    assert "denial" not in kinds_of(GOAL, agent("Would you like anything else?"), person("No, goodbye."))
    pins = pins_of(GOAL, agent("Or do you see another way?"), person("no, that's ugly.\n\nhandlers -> core/handlers"))
    assert [(p.kind, p.quote) for p in pins if p.block == 2] == [
        ("denial", "no, that's ugly."),
        ("decision", "handlers -> core/handlers"),
    ]


def test_a_persons_no_after_a_refusal_is_a_denial_and_a_constraint():
    refused = result("The user doesn't want to proceed with this tool use.", error=True)
    assert {"denial", "constraint"} <= kinds_of(GOAL, refused, person("Do not delete build/cache."))
    assert "denial" not in kinds_of(GOAL, refused, agent("Understood."), person("Do not delete build/cache."))
    assert "denial" in said("No, don't delete that folder.")


def test_words_right_after_a_refusal_correct_the_agent():
    refused = result("The user doesn't want to proceed with this tool use.", error=True)
    pins = pins_of(GOAL, refused, person("there is an example in ../samples"))
    assert [(p.kind, p.rule) for p in pins if p.block == 2] == [("decision", "corrects: said right after a refusal")]


def test_a_question_of_the_agent_is_open_until_the_person_speaks():
    [pin] = [p for p in pins_of(GOAL, agent("Two depots match. Which one do you mean?")) if p.kind == "question"]
    assert (pin.since, pin.until > 1_000) == (2, True)
    [pin] = [p for p in pins_of(GOAL, agent("Which one?"), person("Kiel")) if p.kind == "question"]
    assert pin.until == pin.since == 2


def test_a_question_marked_as_open_stays_open():
    marked = person("Open question: do we keep the archive?")
    pins = pins_of(GOAL, agent("ok"), marked, agent("Noted."), person("Next."))
    [pin] = [p for p in pins if p.kind == "question"]
    assert (pin.rule, pin.until > 1_000) == ("marked as open", True)


def test_a_request_in_the_form_of_a_question_is_none():
    assert "question" not in said("Can you update the readme?")
    assert "question" in said("Does the gateway have a reload?")


@pytest.mark.parametrize(
    "text",
    [
        "Is that true for the views as well? Then we document it.",
        "The views should still be there after the reload, no?",
        "That is the table you have just renamed, right?",
    ],
)
def test_questions_with_a_remark_behind_or_a_tag(text: str):
    assert "question" in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "Nice, right?",
        "What more could a clerk want?",
        "Is that true? I looked. It is not. Go on.",
        "Can you rename it? Thanks.",
    ],
)
def test_no_questions(text: str):
    assert "question" not in said(text)


def test_standing_texts_lay_down_rules_too():
    memory = block("note", "Contents of /p/CLAUDE.md:\n\nNever add a Co-Authored-By line.\n- Prefer small commits.")
    assert kinds_of(memory) == {"system", "constraint", "preference"}
    assert kinds_of(block("system", "You are a clerk. You must not quote prices.")) == {"system", "constraint"}
    for rule in ("Bugs from before the change should not be listed.", "Public tables must have a comment."):
        assert kinds_of(block("system", rule)) == {"system", "constraint"}
    assert "constraint" not in said("Old bugs should not be there. Clerks must like it.")
    assert kinds_of(block("tools", '{"description": "Never call this twice."}')) == {"system"}
    assert kinds_of(block("user", "Look at the tests. Do not edit them.", human=False)) == {"goal", "constraint"}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Trace each parcel before reporting.", {"constraint"}),
        ("Please count the parcels before closing the depot.", {"constraint"}),
        ("Before closing it I counted the parcels.", set()),
        ("The clerk used to count the parcels before closing.", set()),
        ("Append exactly one table at the end.", {"constraint"}),
        ("There is exactly one table.", set()),
        ("Return CLEAN if no parcel is lost.", {"preference"}),
        ("Report what you find ordered by weight, each with its number.", {"preference"}),
        ("Return the parcel to Kiel.", set()),
        ("I'm hoping for a voucher.", {"preference"}),
        ("I'm hoping you are well.", set()),
        ("I'm mainly looking for a discount.", {"preference"}),
        ("If a parcel is lost, tell me first.", {"constraint"}),
        ("Once all parcels are counted, please provide the total.", {"constraint"}),
        ("After the last parcel, write the sum below the list.", {"constraint"}),
        ("When I open the depot, list is empty.", set()),
        ("If that is fine, we are done.", set()),
        ("In the last run, check failed twice.", set()),
        ("During the build, run time doubled.", set()),
        ("In the old code, list items were sorted.", set()),
        ("When users sign up, book orders vanish.", set()),
        ("In the meantime, report what you find.", set()),
        ("In each list: add a sum.", {"constraint"}),
        ("Whenever you commit, sign it.", {"constraint"}),
        ("If a parcel is lost, check that it is not in Kiel.", {"constraint"}),
        ("Test runs before merging were green.", set()),
        ("Use of eval for parsing is bad.", set()),
        ("I accept cookies on every page.", set()),
        ("I accept the offer.", {"approval"}),
        ("No, we should have known.", set()),
        ("It was, but please proceed.", set()),
        ("Use the existing labels.", {"constraint"}),
        ("The existing labels are blue.", set()),
        ("Please use the blue label for the second parcel.", {"decision"}),
        ("Here it is. Please go ahead with the parcel.", {"approval"}),
        ("I understand, but please proceed to cancel it regardless.", {"approval"}),
        ("Does that help?", set()),
        ("How does that sound?", set()),
        ("If yes, do it, if not count first.", {"constraint"}),
        ("The rest needs to be moved to the depot.", {"constraint"}),
        ("No, we want to keep them in Kiel.", {"decision"}),
        ("// parcel: null when it is gone, as the clerk noted\nshould probably explain when it is null", {"decision"}),
        ("I read what we have, it's good. Continue.", {"approval"}),
        ("Go ahead, but what is a depot", set()),
    ],
)
def test_orders_about_when_and_how_often_and_what_is_returned(text: str, kinds: set[str]):
    assert {p.kind for p in pins_of(GOAL, agent("Done."), person(text)) if p.block == 2} == kinds


@pytest.mark.parametrize(
    "text",
    [
        "If a parcel is lost, tell the customer.",
        "**Lost parcels**: If a parcel is lost, capture its number.",
        "When you read a code from labels.txt, you check it twice.",
        "At the end of the list, add the sum.",
        "When a code is unclear, ask before guessing.",
        "When a depot is missing, ask instead of guessing.",
        "For each depot, name its clerk.",
        "Split the list into two parts.",
    ],
)
def test_orders_on_a_condition_bind_in_every_text(text: str):
    assert kinds_of(block("system", text)) == {"system", "constraint"}
    assert "constraint" in kinds_of(GOAL, agent("Done."), person(text))


def test_a_sandbox_that_no_mark_of_an_error_tells_of():
    text = "Script completed\nOutput:\nerror: failed to open file `/p/.git`: Operation not permitted (os error 1)\n"
    assert [(p.kind, p.rule) for p in pins_of(GOAL, call("exec", "x", "c1"), result(text, "c1")) if p.block == 2] == [
        ("denial", "refused by the sandbox")
    ]
    for told in ("Script completed\nOperation not permitted (os error 1) was in the log.", text.partition("\n")[2]):
        assert "denial" not in kinds_of(GOAL, call("exec", "x", "c1"), result(told, "c1"))


def test_what_codex_lets_the_agent_do():
    note = block(
        "note",
        "<permissions instructions>\n`sandbox_mode` is `read-only`: The sandbox only permits reading files. "
        "Network access is restricted.\n## Approved command prefixes\n"
        'The following prefix rules have already been approved: - ["git", "log"]\n- ["make", "test"]\n\n'
        " The writable root is /p.",
    )
    pins = [(p.kind, p.quote) for p in pins_of(replace(note, role="system"))]
    assert ("constraint", "`sandbox_mode` is `read-only`: The sandbox only permits reading files.") in pins
    assert ("constraint", "Network access is restricted.") in pins
    approved = 'The following prefix rules have already been approved: - ["git", "log"] - ["make", "test"]'
    assert ("approval", approved) in pins
    none = block("note", "Nothing has already been approved:\n- rm -rf")
    assert "approval" not in kinds_of(replace(none, role="system"))


@pytest.mark.parametrize(
    "text",
    [
        "Announce the move before the depot closes.",
        "Use one table rather than copying rows.",
        "You should refuse refunds above the limit.",
        "Lost parcels: If the parcel is lost, the agent should open a claim.",
        "Reports that name a customer should carry a date.",
        "Open only one claim per parcel.",
        "Skip only for holidays.",
        "Closing a depot requires the clerk's approval.",
    ],
)
def test_orders_of_standing_texts(text: str):
    assert kinds_of(block("system", text)) == {"system", "constraint"}
    assert "constraint" not in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "The depot was built before the war.",
        "Summarise what was said immediately before this request.",
        "You can use a pencil instead of a pen.",
        "You should see two depots on the map.",
        "Clerks should be able to read it.",
        "That is why users should know it by now.",
        "This should list two depots.",
        "If the depot requires approval, it has a red door.",
        "If the parcel is heavy, it takes two clerks.",
        "When you add, change or remove parcels, the total moves.",
        "If you call twice, you get two parcels.",
    ],
)
def test_no_orders_of_standing_texts(text: str):
    assert kinds_of(block("system", text)) == {"system"}


@pytest.mark.parametrize(
    ("text", "binds"),
    [
        ("Express parcels cannot be cancelled.", True),
        ("The customer cannot change the address after pickup.", True),
        ("The customer can add but not remove parcels.", True),
        ("If the depot cannot be reached, call the clerk.", False),
        ("The agent cannot go on without an answer.", False),
    ],
)
def test_limits_bind_in_the_text_of_the_system_alone(text: str, binds: bool):
    assert ("constraint" in kinds_of(block("system", text))) == binds
    assert "constraint" not in kinds_of(block("note", f"Contents of /p/CLAUDE.md:\n\n{text}"))
    assert "constraint" not in said(text)


def test_results_and_thinking_lay_down_nothing():
    assert kinds_of(GOAL, result("# Rules\nNever push to main.")) == set()
    assert kinds_of(GOAL, block("thinking", "I must not touch auth. Let's go with B.")) == set()


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        ("I'd like to book the second depot.", True),
        ("Sure! It is one parcel. I'll take the slow lane.", True),
        ("Alright, I will go with the slow lane, and my number is 12.", True),
        ("My number is 12.", False),
        ("I'd like to know the price.", False),
        ("I'll try to find the number.", False),
        ("The parcel I'd like to cancel is number 12.", False),
        ("It is one parcel. It is for Kiel. I'd like to add another one.", True),
        ("I'll be using the slow lane.", True),
        ("I think I'll take the slow lane.", True),
        ("I need to change the lane.", True),
        ("Alright, let's move on to changing the lane.", True),
        ("I'll be glad to hear from you.", False),
        ("I need to cancel it because I am ill.", False),
        ("Let's move on to the weather.", False),
    ],
)
def test_a_choice_decides_once_the_agent_has_spoken(text: str, decides: bool):
    for said_before in ("Please let me know which lane the parcel takes.", "The parcel left."):
        assert ("decision" in kinds_of(GOAL, agent(said_before), person(text))) == decides
    assert "decision" not in kinds_of(person("I'd like to book the second depot."))


def test_an_answer_in_a_script_that_the_rules_cannot_read_is_the_decision():
    asked = agent("どの倉庫を使いますか？")
    assert "question" in kinds_of(GOAL, asked)
    assert "decision" in kinds_of(GOAL, asked, person("キールの倉庫を使ってください"))
    assert "decision" not in kinds_of(GOAL, asked, person("はい"))
    assert "decision" not in kinds_of(GOAL, agent("完了しました。"), person("キールの倉庫を使ってください"))


def test_what_the_person_had_wanted_corrects_what_was_done():
    done = agent("The parcel has been sent by the slow lane.")
    assert "decision" in kinds_of(GOAL, done, person("I wanted to send it by the fast lane."))
    assert "decision" not in kinds_of(GOAL, done, person("I wanted to ask about the price."))
    assert "decision" not in kinds_of(GOAL, agent("Hello."), person("I wanted to send a parcel."))


def test_a_bare_word_to_go_on_approves_what_was_asked_or_is_under_way():
    todo = call("TodoWrite", {"todos": [{"content": "count", "status": "pending"}]}, "c1")
    assert "approval" in kinds_of(GOAL, todo, result("ok", "c1"), agent("Two are left."), person("proceed"))
    assert "approval" in kinds_of(GOAL, agent("Which lane?"), person("Go on."))
    assert "approval" not in kinds_of(GOAL, agent("Done."), person("proceed"))


def test_a_question_in_an_open_quotation_is_not_the_persons():
    assert "question" not in said('The form says "Who are you? Where do you live?"')
    assert "question" in said('The form says "Who are you?" Is that right for a depot?')


def test_a_configured_phrase_wins():
    phrase = Phrase("constraint", re.compile(r"\bno funny business\b", re.IGNORECASE), "no funny business")
    pins = pins_of(GOAL, agent("Ok."), person("And no funny business."), rules=PinRules(phrases=(phrase,)))
    assert [(p.kind, p.rule) for p in pins[1:]] == [("constraint", "configured phrase no funny business")]


def test_a_kind_can_be_switched_off():
    pins = pins_of(person("Never push."), rules=PinRules(off=frozenset({"goal"})))
    assert [p.kind for p in pins] == ["constraint"]


def test_a_hostile_text_makes_few_pins_and_takes_little_time():
    assert len(pins_of(person("Never do it. " * 20_000))) < 100
    assert len(pins_of(person("do not " * 50_000))) < 100
    assert len(pins_of(person("a, " * 50_000 + "never"))) < 100


def test_sentences_join_wrapped_lines_and_split_lists():
    text = "Keep the old names when you rename the columns of this\ntable. Then stop.\n\n- one\n- two, e.g. the first."
    assert [s.text for s in sentences(text, SPOKEN)] == [
        "Keep the old names when you rename the columns of this table.",
        "Then stop.",
        "one",
        "two, e.g. the first.",
    ]


def test_no_sentence_ends_within_inline_code():
    text = "Number lists in the `1. 2. 3.` style, never as `1)`. Stop then."
    assert [s.text for s in sentences(text, SPOKEN)] == [
        "Number lists in the `1. 2. 3.` style, never as `1)`.",
        "Stop then.",
    ]
    assert [s.text for s in sentences("It costs 3 ` a day. Go on.", SPOKEN)] == ["It costs 3 ` a day.", "Go on."]


def test_a_prompts_tags_part_its_sentences():
    """Rules behind a tag open a sentence, and a tag is no word of it."""
    text = "<task>Review the change.</task><rules>Read only the diff. Omit style remarks.</rules>"
    assert [(p.kind, p.quote) for p in pins_of(person("Go."), person(text)) if p.kind == "constraint"] == [
        ("constraint", "Read only the diff."),
        ("constraint", "Omit style remarks."),
    ]


def test_what_each_part_should_do_is_required_and_a_condition_is_not():
    said = person("Go."), person("Each agent should search first. If a fix is required, it can wait.")
    assert [p.quote for p in pins_of(*said) if p.kind == "constraint"] == ["Each agent should search first."]


def test_a_question_stays_one_with_a_file_named_below_it():
    said = person("Go."), agent("Done."), person("Does it reload by itself?\n@/work/demo/conf.py:3-9")
    assert [p.quote for p in pins_of(*said) if p.kind == "question"] == ["Does it reload by itself?"]


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("Let's get back to booking that flight.", []),
        ("Let's look into one-stop options.", []),
        ("Actually, it looks like the second one is a bus.", []),
        ("Option 3 is close, but it's above my budget.", ["denial"]),
        ("Option 3 please, with the window.", ["decision"]),
        ("Just do it.", ["decision"]),
        ("continue until all are done", ["approval"]),
    ],
)
def test_what_settles_an_open_proposal_and_what_only_talks(said: str, kinds: list[str]):
    pins = pins_of(person("Go."), agent("Should I take the train?"), person(said))
    assert [p.kind for p in pins if p.block == 2] == kinds


def test_a_pasted_warning_forbids_nothing():
    """A server's warning in a person's message is not the person's."""
    said = person("It hangs:\nWARNING: This is a development server. Do not use it in production.")
    assert kinds_of(said) == {"goal"}


@pytest.mark.parametrize(
    "report",
    ["The move is prepared. Ready when you are.", "All set: I'm waiting for your go.", "Done; just say the word.",
     "The fee is 40. Once you confirm it, I'll move them."],
)  # fmt: skip
def test_go_is_an_approval_of_what_waits(report: str):
    assert "approval" in kinds_of(GOAL, agent(report), person("Go. Move the parcels to the new depot."))


@pytest.mark.parametrize(
    "text", ["I waited for my tea.", "Where was it before you came?", "It read the file before you changed it."]
)
def test_what_tells_of_waiting_or_before_lays_down_nothing(text: str):
    assert not said(text) & {"constraint", "approval"}


@pytest.mark.parametrize(
    "text", ["That's a bit higher than my budget.", "It's still above our budget.", "We can't afford that."]
)
def test_what_costs_too_much_is_declined(text: str):
    assert "denial" in kinds_of(GOAL, agent("The move costs 90. Which card do you have?"), person(text))
    assert "denial" not in kinds_of(GOAL, agent("The move costs 90."), person("That's above the clouds."))


def test_what_was_left_out_on_purpose_is_a_decision():
    assert "decision" in said("The second warning was intentionally ignored: it is a known case.")


def test_a_choice_in_a_relative_clause_and_a_means_of_payment_are_decisions():
    asked = agent("Which parcels should I send back?")
    assert "decision" in kinds_of(GOAL, asked, person("I have two parcels that I want to return."))
    assert "decision" in kinds_of(GOAL, asked, person("Yes, please. Charge my card ending in 77 for it."))
    assert "decision" not in said("Is there a parcel that I want to see?")


def test_a_standing_text_that_withholds_authority_forbids():
    assert "constraint" in kinds_of(block("system", "A request for a count does not authorize a refund."))
    assert "constraint" in said("Re-review only the six parcels.")
