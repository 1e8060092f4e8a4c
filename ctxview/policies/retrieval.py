"""`retrieval`: pinned always, the k past turn groups that rank highest for the present request, and a short recent
buffer. Rank is a weighted sum of relevance (BM25, or nearness of embeddings), recency and importance, computed locally.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ctxview.policies.bm25 import scores, words
from ctxview.policies.edits import Edit
from ctxview.policies.embedding import fault, nearness, vectors
from ctxview.policies.facts import PIN_KINDS
from ctxview.policies.parts import dropped, kinds_of, pinned_groups, request_groups
from ctxview.policies.policy import Context, Param, Params, Policy
from ctxview.policies.window import Group, Window


def _weights(params: Params) -> tuple[float, ...]:
    return tuple(float(word) for word in str(params["weights"]).split("+"))


def _check(params: Params) -> str | None:
    try:
        weights = _weights(params)
    except ValueError:
        weights = ()
    if len(weights) == 3 and all(0 <= w <= 100 for w in weights):
        return fault(str(params["model"])) if params["by"] == "embedding" else None
    return f"weights={params['weights']} is not three numbers from 0 to 100 joined by +; as 1+0.5+0.5"


def plan(window: Window, ctx: Context) -> Sequence[Edit]:
    params = ctx.params
    groups = [g for g in window.groups if not g.is_fixed]
    recent = {g.id for g in groups[max(0, len(groups) - params["recent"]) :]}
    kept = pinned_groups(groups, ctx, kinds_of(params, "pins")) | request_groups(window) | recent
    past = [g for g in groups if g.id not in kept]
    if len(past) <= params["top_k"]:
        return []
    relevance = _relevance("\n".join(e.text() for e in window.request), past, ctx)
    best = max(relevance, default=0.0) or 1.0
    a, b, c = _weights(params)
    rank = {
        g.id: a * relevance[i] / best + b * (i + 1) / len(past) + c * _importance(g, ctx) for i, g in enumerate(past)
    }
    chosen = sorted(past, key=lambda g: (-rank[g.id], -g.first.pos))[: params["top_k"]]
    kept |= {g.id for g in chosen}
    evidence = {"top_k": params["top_k"], "recent": params["recent"]}
    gone = [e for g in past if g.id not in kept for e in g.entries]
    return dropped(gone, "not-retrieved", f"not among the {params['top_k']} that rank highest", evidence)


def _relevance(query: str, past: Sequence[Group], ctx: Context) -> list[float]:
    if ctx.params["by"] == "words":
        return scores(words(query), [_words(g, ctx) for g in past])
    model: str = ctx.params["model"]
    keys = [(model, *((e.n, e.content) for e in g.entries)) for g in past]
    fresh = [i for i, key in enumerate(keys) if key not in ctx.memo]
    texts = ["\n".join(e.text() for e in past[i].entries) for i in fresh]
    asked, *others = vectors(model, [query, *texts])
    for i, vector in zip(fresh, others, strict=True):
        ctx.memo[keys[i]] = vector
    return [nearness(asked, ctx.memo[key]) for key in keys]


def _words(group: Group, ctx: Context) -> Counter[str]:
    key = tuple((e.n, e.content) for e in group.entries)
    if key not in ctx.memo:
        ctx.memo[key] = words("\n".join(e.text() for e in group.entries))
    found: Counter[str] = ctx.memo[key]
    return found


def _importance(group: Group, ctx: Context) -> float:
    return max((p.priority for e in group.entries for p in ctx.pins(e)), default=0) / 100


POLICY = Policy(
    name="retrieval",
    title="Pinned, retrieved and recent",
    source="ours, for long sessions; Okapi BM25 with k1 1.2 and b 0.75",
    plan=plan,
    check=_check,
    params=(
        Param("top_k", 2, "past turn groups that are brought back", low=0),
        Param("recent", 4, "newest turn groups and messages that stay", low=0),
        Param("by", "words", "what relevance goes by; embedding needs the extra `embed`",
              choices=("words", "embedding"), type="choice"),
        Param("model", "", "folder of a model2vec model, or its name in the local cache", type="text"),
        Param("weights", "1+0+0", "of relevance, recency and importance", type="names"),
        Param("pins", "system+goal+constraint+preference+workflow+denial+user", "kinds of pins that stay",
              choices=PIN_KINDS, type="names"),
    ),
    examples=("retrieval:top_k=2:recent=4", "retrieval:weights=1+0.5+0.5"),
)  # fmt: skip
