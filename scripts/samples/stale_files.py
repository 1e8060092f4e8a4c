"""The files and outputs that `stale` reads: a small message gateway, with a config whose three versions differ."""

from __future__ import annotations

from typing import Final


def config(broker: str, prefetch: int, ack_timeout: int) -> str:
    """config/gateway.yaml in one of its versions; everything that is not a parameter stays the same."""
    return f"""\
# Settings of the parcel gateway. Operations decide, we follow.
service:
  name: parcel-gateway
  port: 8080
  log_level: info
  drain_seconds: 20

broker:
  address: {broker}
  virtual_host: parcels
  tls: true
  heartbeat_s: 30

consumers:
  replicas: 3
  prefetch: {prefetch}
  ack_timeout_ms: {ack_timeout}
  dead_letter: parcels.rejected
  max_redeliveries: 5

queues:
  - name: parcels.created
    durable: true
    priority: 5
  - name: parcels.moved
    durable: true
    priority: 3
  - name: parcels.delivered
    durable: true
    priority: 1

metrics:
  enabled: true
  path: /metrics
  labels: [depot, carrier]
"""


LISTING: Final = """README.md
config/gateway.yaml
ops/notes/change-1.txt
ops/notes/change-2.txt
ops/rollout.sh
ops/status.sh
src/backoff.py
src/check.py
src/consumer.py
src/metrics.py
tests/test_backoff.py
tests/test_consumer.py
tests/test_metrics.py"""

README: Final = """# parcel-gateway

Takes parcel events from the broker and hands them to the depot systems.

## Running

The gateway reads `config/gateway.yaml` at start. There is no reload: change the file, then roll out with
`ops/rollout.sh`. The options of the script win over the file, so give it what the file says.

## Delivery

Every message is delivered at least once. Retries back off exponentially. After `max_redeliveries` a message goes to
the dead-letter queue, where a person looks at it.

## Metrics

Prometheus scrapes `/metrics`. Counters start with `parcel_`.
"""

CONSUMER: Final = '''"""Takes messages from one queue and hands them to the handler."""

from src import backoff, metrics


class Consumer:
    def __init__(self, channel, settings):
        self.channel = channel
        self.prefetch = settings["prefetch"]
        self.ack_timeout = settings["ack_timeout_ms"] / 1000

    def start(self, queue, handle):
        self.channel.qos(prefetch=self.prefetch)
        for message in self.channel.consume(queue, timeout=self.ack_timeout):
            self.one(message, handle)

    def one(self, message, handle):
        self.channel.ack(message)
        handle(message)
        metrics.handled(message.queue)

    def retry(self, message, attempt):
        delay = backoff.delay(0.5, attempt)
        self.channel.publish_later(message, delay)
'''

ACK_FIRST: Final = "        self.channel.ack(message)\n        handle(message)\n"
ACK_LAST: Final = "        handle(message)\n        self.channel.ack(message)\n"

TEST_CONSUMER: Final = """import pytest

from src.consumer import Consumer
from tests.fakes import FakeChannel

SETTINGS = {"prefetch": 4, "ack_timeout_ms": 100}


def test_prefetch_is_set():
    channel = FakeChannel()
    Consumer(channel, SETTINGS).start("q", handle=lambda message: None)
    assert channel.prefetch == 4


def test_a_crashing_handler_leaves_the_message_unacknowledged():
    channel = FakeChannel(["m1"])
    with pytest.raises(RuntimeError):
        Consumer(channel, SETTINGS).start("q", handle=crash)
    assert channel.acked == []


def crash(message):
    raise RuntimeError(message)
"""

FAILURE: Final = """Exit code 1
.....F........ [100%]
____ test_a_crashing_handler_leaves_the_message_unacknowledged ____
>       assert channel.acked == []
E       AssertionError: assert ['m1'] == []
tests/test_consumer.py:19: AssertionError
1 failed, 13 passed in 1.31s"""

GREP: Final = """src/consumer.py:9:        self.prefetch = settings["prefetch"]
src/consumer.py:13:        self.channel.qos(prefetch=self.prefetch)
tests/test_consumer.py:6:SETTINGS = {"prefetch": 4, "ack_timeout_ms": 100}
tests/test_consumer.py:9:def test_prefetch_is_set():
tests/test_consumer.py:12:    assert channel.prefetch == 4"""

LOG: Final = """b04c2aa Read the ack timeout from the settings
51d7e90 Publish retries with a delay
0f3be1c Split the consumer from the gateway"""

BACKOFF: Final = '''"""How long to wait before a message is tried again."""


def delay(base, attempt):
    """Seconds before attempt number `attempt`, counted from 0."""
    if attempt < 0:
        raise ValueError(attempt)
    return base * 2**attempt
'''

METRICS: Final = '''"""Counters for Prometheus."""

from contextlib import contextmanager

from prometheus_client import Counter, Gauge

HANDLED = Counter("parcel_handled_total", "Messages handled", ["queue"])


def handled(queue):
    HANDLED.labels(queue).inc()
'''

COUNTER_LINE: Final = 'HANDLED = Counter("parcel_handled_total", "Messages handled", ["queue"])\n'
GAUGE_LINE: Final = """IN_FLIGHT = Gauge("parcel_in_flight", "Messages being handled")


@contextmanager
def in_flight():
    with IN_FLIGHT.track_inprogress():
        yield
"""

CHANGE_1: Final = """From: operations
The broker moves to queue-b.parcel.internal:5671.
With it: prefetch 60, ack timeout 9000 ms. Nothing else changes."""

CHANGE_2: Final = """From: operations
queue-b was too small. queue-c.parcel.internal:5671 is live, the older two are read-only now.
With it: prefetch 25, ack timeout 15000 ms. Nothing else changes."""

ROLLOUT: Final = """#!/usr/bin/env bash
# usage: rollout.sh NAME --broker HOST:PORT --prefetch N --ack-timeout-ms N
# Restarts the consumers one after the other with the given settings.
set -euo pipefail
name=$1
shift
for replica in $(./ops/status.sh "$name" --ids); do
  docker stop --time 20 "$replica"
  docker run -d --name "$replica" harbourline/parcel-gateway "$@"
  ./ops/status.sh "$name" --wait "$replica"
done
./ops/status.sh "$name" --report 60
"""
