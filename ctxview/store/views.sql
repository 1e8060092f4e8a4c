-- The documented views: what most questions need, keyed by the session's own id. Columns are a contract: see meta.

-- The window's size as the provider counted it; NULL without usage.
CREATE MACRO recorded_tokens(input, cache_read, cache_write) AS TRY_CAST(CASE
    WHEN input IS NOT NULL OR cache_read IS NOT NULL OR cache_write IS NOT NULL
    THEN coalesce(input::HUGEINT, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0)
END AS BIGINT);

CREATE VIEW v_window AS
SELECT
    m.session,
    m.turn,
    row_number() OVER (PARTITION BY m.session, m.turn ORDER BY s.pos, s.block) - 1 AS index,
    s.block, b.id, b.role, b.kind, b.tool, b.call_id, b.message,
    s.tokens, b.estimated, s.form, s.content,
    s.start, nullif(s."end", 2147483647) AS "end", s.ended_by
FROM spans s
JOIN moments m ON m.session_n = s.session_n AND s.start <= m.turn AND m.turn < s."end"
JOIN blocks b ON b.block_key = s.block_key;

-- A view of its own, because DuckDB does not leave out a join whose columns nobody asked for.
CREATE VIEW v_window_text AS
SELECT w.session, w.turn, w.index, w.block, w.id, w.role, w.kind, w.tool, w.tokens, w.form, c.chars, c.text
FROM v_window w
JOIN contents c ON c.content = w.content;

CREATE VIEW v_budget AS
WITH facts AS (
    SELECT
        session_n,
        coalesce(max(coalesce(input::HUGEINT, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0)), 0) AS largest,
        bool_or(starts_with(model, 'claude-') OR contains(model, '/claude-')) AS claude,
        bool_or(contains(model, '[1m]')) AS long
    FROM turns
    GROUP BY session_n
),
limits AS (
    SELECT
        s.n AS session_n,
        CASE
            WHEN coalesce(f.largest, 0) <= s."limit" THEN s."limit"
            WHEN f.long OR (f.claude AND f.largest > 200000) THEN 1000000
            WHEN f.claude THEN 200000
        END AS "limit"
    FROM sessions s
    LEFT JOIN facts f ON f.session_n = s.n
),
changes AS (
    SELECT session_n, turn, sum(change) AS change
    FROM (
        SELECT session_n, greatest(start, 1) AS turn, tokens AS change FROM spans WHERE start < "end"
        UNION ALL
        SELECT session_n, greatest("end", 1), -tokens FROM spans WHERE start < "end"
    )
    GROUP BY session_n, turn
)
SELECT
    m.session,
    m.turn,
    t.model,
    t.input,
    t.cache_read,
    t.cache_write,
    recorded_tokens(t.input, t.cache_read, t.cache_write) AS recorded,
    TRY_CAST(sum(coalesce(d.change, 0)) OVER (
        PARTITION BY m.session_n, m.session ORDER BY m.turn ROWS UNBOUNDED PRECEDING
    ) AS BIGINT) AS counted,
    l."limit"
FROM moments m
JOIN limits l ON l.session_n = m.session_n
LEFT JOIN turns t ON t.session_n = m.session_n AND t.turn = m.turn
LEFT JOIN changes d ON d.session_n = m.session_n AND d.turn = m.turn;

CREATE VIEW v_lifelines AS
WITH lives AS (
    SELECT
        block_key,
        min(start) FILTER (WHERE start < "end") AS first,
        max("end") FILTER (WHERE start < "end") AS gone,
        list(form ORDER BY start, "end") AS forms,
        max("end") = 2147483647 AS stands,
        arg_max_null(ended_by, ("end", start, coalesce(ended_by, -1))) AS ended_by
    FROM spans
    GROUP BY block_key
)
SELECT
    x.session,
    b.n AS block,
    b.id,
    b.role,
    b.kind,
    b.tool,
    b.tokens,
    b.turn AS arrived,
    l.first,
    CASE WHEN l.gone < 2147483647 THEN l.gone - 1 END AS last,
    coalesce(l.stands, FALSE) AS stands,
    coalesce(l.forms, []) AS forms,
    e.n AS edit,
    e.action,
    e.layer,
    e.rule,
    e.reason
FROM blocks b
JOIN sessions x ON x.n = b.session_n
LEFT JOIN lives l ON l.block_key = b.block_key
LEFT JOIN edits e ON e.session_n = b.session_n AND e.n = l.ended_by AND NOT l.stands;

-- Sizes as SessionView.cut_sizes gives them.
CREATE VIEW v_cuts AS
WITH calls AS (
    SELECT session_n, turn, model, "at", recorded_tokens(input, cache_read, cache_write) AS recorded FROM turns
),
sized AS (
    SELECT
        c.* REPLACE (coalesce(c.before, b.recorded) AS before, coalesce(c.after, t.recorded) AS after),
        t.model,
        t."at"
    FROM cuts c
    LEFT JOIN calls b ON b.session_n = c.session_n AND b.turn = c.turn - 1
    LEFT JOIN calls t ON t.session_n = c.session_n AND t.turn = c.turn
)
SELECT
    x.session,
    c.n AS cut,
    c.turn,
    c.kind,
    c.trigger,
    c.before,
    c.after,
    TRY_CAST(c.before::HUGEINT - c.after AS BIGINT) AS freed,
    c.dropped,
    c.kept,
    c.summary_tokens,
    c.model,
    c."at",
    c.file,
    c.line
FROM sized c
JOIN sessions x ON x.n = c.session_n;

-- Pins with the block they stand on; until is one past the last turn they hold for.
CREATE VIEW v_pins AS
SELECT
    s.session, p.block, b.id, p.kind, p.evidence, p.rule, p.since, nullif(p.until, 2147483647) AS until, p.priority,
    p.quote, b.file, b.line
FROM pins p
JOIN sessions s ON s.n = p.session_n
JOIN blocks b ON b.session_n = p.session_n AND b.n = p.block;

-- What each block says of which resource, and the first thing that took its place or cast doubt on it.
CREATE VIEW v_observations AS
SELECT
    s.session, o.key, o.effect, o.block, b.id, o.turn, o.since, o.first, o.last, o.content, o.evidence, o.rule,
    min(c.since) FILTER (c.state = 'superseded') AS superseded_since,
    min_by(c.because, c.since) FILTER (c.state = 'superseded') AS superseded_by,
    min(c.since) FILTER (c.state = 'stale') AS stale_since,
    min_by(c.reason, c.since) FILTER (c.state = 'stale') AS stale_because
FROM observations o
JOIN sessions s ON s.n = o.session_n
JOIN blocks b ON b.session_n = o.session_n AND b.n = o.block
LEFT JOIN changes c ON c.session_n = o.session_n AND c.block = o.block AND c.key = o.key
GROUP BY ALL;
