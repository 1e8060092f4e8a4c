-- The tables of a ctxview database: one row per thing that arrived, changed or was counted.
--
-- A window is never stored. It is the spans that cover its turn, so size is linear in blocks and edits.
-- Rows of one session share session_n. A block's key is session_n * 2^32 + n: one integer that joins blocks and spans,
-- which is what makes a window at one turn a short query. NULL means unknown; it is never written as 0.
-- Text is what the trace held, except that lone surrogates became U+FFFD. Names and columns are a contract: see meta.

CREATE TABLE meta (
    key   VARCHAR NOT NULL PRIMARY KEY,
    value VARCHAR NOT NULL
);

CREATE TABLE files (
    n          INTEGER NOT NULL,
    path       VARCHAR NOT NULL,
    format     VARCHAR,
    bytes      BIGINT  NOT NULL,
    records    BIGINT  NOT NULL,
    "window"   BIGINT  NOT NULL,
    duplicates BIGINT  NOT NULL,
    unreadable BIGINT  NOT NULL
);

CREATE TABLE records (
    file        INTEGER NOT NULL,
    disposition VARCHAR NOT NULL,
    type        VARCHAR NOT NULL,
    records     BIGINT  NOT NULL
);

CREATE TABLE issues (
    n        INTEGER NOT NULL,
    file     VARCHAR NOT NULL,
    line     BIGINT,
    byte     BIGINT,
    severity VARCHAR NOT NULL,
    reason   VARCHAR NOT NULL,
    session  VARCHAR
);

CREATE TABLE sessions (
    n           INTEGER NOT NULL PRIMARY KEY,
    place       INTEGER NOT NULL,
    session     VARCHAR NOT NULL,
    parent      VARCHAR,
    parent_call VARCHAR,
    agent       VARCHAR,
    format      VARCHAR NOT NULL,
    client      VARCHAR,
    title       VARCHAR,
    cwd         VARCHAR,
    "limit"     BIGINT,
    joins_roles BOOLEAN NOT NULL,
    started     VARCHAR,
    ended       VARCHAR
);

CREATE TABLE contents (
    content   INTEGER NOT NULL,
    text      VARCHAR NOT NULL USING COMPRESSION zstd,
    chars     BIGINT  NOT NULL,
    tokens    BIGINT  NOT NULL,
    estimated BOOLEAN NOT NULL
);

CREATE TABLE blocks (
    session_n INTEGER NOT NULL,
    block_key BIGINT  NOT NULL,
    n         INTEGER NOT NULL,
    id        VARCHAR NOT NULL,
    message   VARCHAR NOT NULL,
    role      VARCHAR NOT NULL,
    kind      VARCHAR NOT NULL,
    tool      VARCHAR,
    call_id   VARCHAR,
    is_error  BOOLEAN NOT NULL,
    content   INTEGER NOT NULL,
    tokens    BIGINT  NOT NULL,
    estimated BOOLEAN NOT NULL,
    chars     BIGINT  NOT NULL,
    preview   VARCHAR NOT NULL USING COMPRESSION zstd,
    turn      INTEGER NOT NULL,
    file      VARCHAR NOT NULL,
    line      BIGINT  NOT NULL,
    origin_id VARCHAR,
    "at"        VARCHAR,
    injected  BOOLEAN NOT NULL,
    inherited BOOLEAN NOT NULL,
    human     BOOLEAN NOT NULL,
    inserted  BOOLEAN NOT NULL,
    note      VARCHAR,
    image     VARCHAR
);

CREATE TABLE turns (
    session_n      INTEGER NOT NULL,
    turn           INTEGER NOT NULL,
    call           VARCHAR NOT NULL,
    model          VARCHAR,
    client         VARCHAR,
    "at"             VARCHAR,
    fidelity       VARCHAR NOT NULL,
    missing        VARCHAR[] NOT NULL,
    input          BIGINT,
    cache_read     BIGINT,
    cache_write    BIGINT,
    output         BIGINT,
    reasoning      BIGINT,
    output_partial BOOLEAN NOT NULL,
    stop_reason    VARCHAR,
    error          VARCHAR,
    inherited      BOOLEAN NOT NULL,
    file           VARCHAR NOT NULL,
    line           BIGINT  NOT NULL
);

-- Inserted in order of start, so that the rows a turn needs lie together.
CREATE TABLE spans (
    session_n INTEGER NOT NULL,
    block_key BIGINT  NOT NULL,
    block     INTEGER NOT NULL,
    pos       DOUBLE  NOT NULL,
    start     INTEGER NOT NULL,
    "end"     INTEGER NOT NULL,
    form      VARCHAR NOT NULL,
    content   INTEGER NOT NULL,
    tokens    BIGINT  NOT NULL,
    ended_by  INTEGER
);

CREATE TABLE edits (
    session_n INTEGER NOT NULL,
    n         INTEGER NOT NULL,
    turn      INTEGER NOT NULL,
    layer     VARCHAR NOT NULL,
    rule      VARCHAR NOT NULL,
    reason    VARCHAR NOT NULL,
    block     INTEGER,
    action    VARCHAR NOT NULL,
    "at"        VARCHAR,
    covers    VARCHAR[] NOT NULL,
    evidence  VARCHAR NOT NULL,
    cut       INTEGER
);

CREATE TABLE cuts (
    session_n      INTEGER NOT NULL,
    n              INTEGER NOT NULL,
    turn           INTEGER NOT NULL,
    kind           VARCHAR NOT NULL,
    trigger        VARCHAR,
    before         BIGINT,
    after          BIGINT,
    dropped        BIGINT,
    kept           BIGINT  NOT NULL,
    summary_tokens BIGINT,
    file           VARCHAR NOT NULL,
    line           BIGINT  NOT NULL
);

CREATE TABLE audit (
    session_n    INTEGER NOT NULL,
    start        INTEGER NOT NULL,
    "end"        INTEGER NOT NULL,
    factor       DOUBLE  NOT NULL,
    constant     BIGINT  NOT NULL,
    steps        INTEGER[] NOT NULL,
    median_error DOUBLE  NOT NULL,
    p95_error    DOUBLE  NOT NULL,
    model        VARCHAR
);

CREATE TABLE pins (
    session_n INTEGER NOT NULL,
    block     INTEGER NOT NULL,
    kind      VARCHAR NOT NULL,
    evidence  VARCHAR NOT NULL,
    rule      VARCHAR NOT NULL,
    since     INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    priority  INTEGER NOT NULL,
    quote     VARCHAR NOT NULL
);

CREATE TABLE observations (
    session_n INTEGER NOT NULL,
    block     INTEGER NOT NULL,
    key       VARCHAR,
    effect    VARCHAR NOT NULL,
    turn      INTEGER NOT NULL,
    since     INTEGER NOT NULL,
    call      INTEGER,
    first     BIGINT,
    last      BIGINT,
    content   VARCHAR,
    evidence  VARCHAR NOT NULL,
    rule      VARCHAR NOT NULL
);

CREATE TABLE changes (
    session_n INTEGER NOT NULL,
    block     INTEGER NOT NULL,
    key       VARCHAR NOT NULL,
    since     INTEGER NOT NULL,
    state     VARCHAR NOT NULL,
    because   INTEGER,
    reason    VARCHAR NOT NULL
);

-- Derived when the store is finished: the windows one can ask for. It lets a view take a turn as a filter.
CREATE TABLE moments (
    session_n INTEGER NOT NULL,
    session   VARCHAR NOT NULL,
    turn      INTEGER NOT NULL
);
