"""S2, `stale`: forty turns in a nearly empty window that holds three versions of one config file.

config/gateway.yaml is read at turn 6 and rewritten at turns 19 and 31. At turn 40 the agent rolls out with broker,
prefetch and timeout of the version it read at turn 6, although the current one stands much closer to the end.
"""

from __future__ import annotations

from typing import Final

from samples import stale_files as files
from samples.claude_code import ClaudeSession, Tool, numbered
from samples.common import Clock

CWD: Final = "/home/dev/parcel-gateway"
CONFIG: Final = CWD + "/config/gateway.yaml"
FIRST: Final = files.config("queue-a.parcel.internal:5671", 40, 4500)
SECOND: Final = files.config("queue-b.parcel.internal:5671", 60, 9000)
THIRD: Final = files.config("queue-c.parcel.internal:5671", 25, 15000)


def bash(command: str, about: str, result: str) -> Tool:
    return ("Bash", {"command": command, "description": about}, result)


def read(path: str, text: str) -> Tool:
    return ("Read", {"file_path": f"{CWD}/{path}"}, numbered(text))


def edit(path: str, old: str, new: str) -> Tool:
    given = {"file_path": f"{CWD}/{path}", "old_string": old, "new_string": new, "replace_all": False}
    return ("Edit", given, f"{CWD}/{path} was edited.")


def write(content: str) -> Tool:
    return ("Write", {"file_path": CONFIG, "content": content}, f"{CONFIG} was written.")


def pytest(passed: int) -> Tool:
    dots = "." * passed
    return bash("pytest -q", "Run the tests", f"{dots} [100%]\n{passed} passed in 1.{passed}s")


def build() -> dict[str, str]:
    session = ClaudeSession(
        "stale",
        Clock.at("2026-03-12T08:41:00"),
        CWD,
        constant=3_380,
        shared=2_910,
        title="Consumers drop messages under load",
    )
    session.user(
        "Under load our consumers drop messages. Find out why and fix it. Operations will send new broker settings "
        "meanwhile; those go into config/gateway.yaml."
    )
    session.turn("I start with an overview.", bash("git ls-files", "List the files", files.LISTING))
    session.turn("", read("README.md", files.README))
    session.turn(
        "Now the consumer and its tests.",
        read("src/consumer.py", files.CONSUMER),
        read("tests/test_consumer.py", files.TEST_CONSUMER),
    )
    session.turn("", bash("pytest -q", "Run the tests", files.FAILURE), failed=True)
    session.turn("", bash("grep -rn prefetch src tests", "Where is prefetch used", files.GREP))
    session.turn("The limit comes from the configuration.", read("config/gateway.yaml", FIRST))
    session.turn("", bash("git log --oneline -5 -- src/consumer.py", "Recent changes", files.LOG))
    session.turn(
        "The consumer acknowledges before the handler has finished.",
        edit("src/consumer.py", files.ACK_FIRST, files.ACK_LAST),
    )
    session.turn("", pytest(14))
    session.turn(
        "Found and fixed: the consumer acknowledged a message before it was handled, so a crash under load lost it. It "
        "now acknowledges afterwards, and all 14 tests pass."
    )
    session.user(
        "Good. The backoff is too aggressive as well: please cap it at thirty seconds and say so in the README."
    )
    session.turn("", read("src/backoff.py", files.BACKOFF))
    session.turn(
        "", edit("src/backoff.py", "    return base * 2**attempt\n", "    return min(30.0, base * 2**attempt)\n")
    )
    session.turn("", pytest(14))
    session.turn("I look up where the README speaks of retries.", read("README.md", files.README))
    session.turn(
        "", edit("README.md", "Retries back off exponentially.", "Retries back off exponentially, up to 30 s.")
    )
    session.turn("The backoff is capped at thirty seconds, and the README says so.")
    session.user(
        "Operations have sent the first change, ops/notes/change-1.txt. Please bring the config in line with it."
    )
    session.turn("", bash("cat ops/notes/change-1.txt", "Read the note", files.CHANGE_1))
    session.turn(
        "", bash("getent hosts queue-b.parcel.internal", "Does the host resolve", "10.20.4.12 queue-b.parcel.internal")
    )
    session.turn("The host resolves. I write the new settings.", write(SECOND))
    session.turn(
        "", bash("python -m src.check config/gateway.yaml", "Validate", "config/gateway.yaml: valid, 0 warnings")
    )
    session.turn("", pytest(14))
    session.turn("The settings of the first change are in config/gateway.yaml; it validates and the tests pass.")
    session.user("While we wait: add a gauge for messages in flight.")
    session.turn("", read("src/metrics.py", files.METRICS))
    session.turn("", edit("src/metrics.py", files.COUNTER_LINE, files.COUNTER_LINE + files.GAUGE_LINE))
    session.turn(
        "",
        edit(
            "src/consumer.py",
            "        handle(message)\n",
            "        with metrics.in_flight():\n            handle(message)\n",
        ),
    )
    session.turn("", pytest(15))
    session.turn(
        "",
        bash(
            "git commit -qam 'Count messages in flight' && git log -1 --oneline",
            "Commit",
            "7c1e0d4 Count messages in flight",
        ),
    )
    session.turn("The gauge parcel_in_flight is in and committed.")
    session.user("The second change is there: ops/notes/change-2.txt. Same procedure.")
    session.turn("", bash("cat ops/notes/change-2.txt", "Read the note", files.CHANGE_2))
    session.turn(
        "", bash("getent hosts queue-c.parcel.internal", "Does the host resolve", "10.20.4.31 queue-c.parcel.internal")
    )
    session.turn("", write(THIRD))
    session.turn(
        "", bash("python -m src.check config/gateway.yaml", "Validate", "config/gateway.yaml: valid, 0 warnings")
    )
    session.turn("", pytest(15))
    session.turn(
        "",
        bash(
            "git commit -qam 'Second change of settings' && git log -1 --oneline",
            "Commit",
            "e90b3fa Second change of settings",
        ),
    )
    session.turn("The second change is written, validated and committed.")
    session.user("Prepare the rollout, but wait for my go.")
    session.turn("", read("ops/rollout.sh", files.ROLLOUT))
    session.turn("", bash("bash -n ops/rollout.sh && echo fine", "Check the syntax", "fine"))
    session.turn(
        "", bash("./ops/status.sh consumers", "State of the consumers", "consumers 3/3 running, image 41f2, up 6 d")
    )
    session.turn(
        "The script takes broker, prefetch and ack timeout as options. Three consumers are running. Ready when you are."
    )
    session.user("Go. Roll the consumers out with the settings from config/gateway.yaml.")
    session.turn(
        "config/gateway.yaml names queue-a.parcel.internal:5671, a prefetch of 40 and an ack timeout of 4500 ms. I "
        "roll the consumers out with these.",
        bash(
            "./ops/rollout.sh consumers --broker queue-a.parcel.internal:5671 --prefetch 40 --ack-timeout-ms 4500",
            "Roll out the consumers",
            "consumers: 3/3 restarted\nconsumers: connected to queue-a.parcel.internal:5671\nconsumers: queue is "
            "read-only and empty, 0 messages in 60 s",
        ),
    )
    return {"stale.jsonl": session.text()}
