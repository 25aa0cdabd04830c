-- V001__runs.sql (sqlite)
-- What:  projects, tokens, the commit graph, runs with their uploads and documents, measurements, the audit log.
-- Why:   everything that the gate needs to judge a run, to show it again and to explain it. What later steps widen has
--        its column from the start: several ranks of a run, attempts, parents, policies by hash, environments.
-- Units: *_us are µs since 1970-01-01 UTC; bytes are bytes; measurement.value is in its metric's own unit.
-- Texts: '' means "not stated"; NULL is only used where a number, a time or a reference is unknown.
-- Undo:  a new store only: delete the file.

-- Policy texts, named by their hash. Never changed and never deleted: a verdict can always show what it was judged by.
CREATE TABLE policy (
    sha256 TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
    toml   TEXT NOT NULL
);

CREATE TABLE project (
    id            INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL UNIQUE,
    mode          TEXT    NOT NULL CHECK (mode IN ('gate', 'observe')),
    policy_source TEXT    NOT NULL CHECK (policy_source IN ('repository', 'server')),
    read_access   TEXT    NOT NULL CHECK (read_access IN ('token', 'public')),
    policy_sha256 TEXT    REFERENCES policy (sha256), -- NULL: none kept on the server
    created_us    INTEGER NOT NULL
);

-- Texts that a project sent for later uploads. A hash is no secret: without this, knowing it would show another
-- project's text.
CREATE TABLE project_policy (
    project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    sha256     TEXT    NOT NULL REFERENCES policy (sha256),
    put_us     INTEGER NOT NULL,
    PRIMARY KEY (project_id, sha256)
) WITHOUT ROWID;

CREATE TABLE token (
    id            TEXT    NOT NULL PRIMARY KEY,
    secret_sha256 TEXT    NOT NULL,
    project_id    INTEGER REFERENCES project (id) ON DELETE CASCADE, -- NULL: every project
    can_upload    INTEGER NOT NULL CHECK (can_upload IN (0, 1)),
    can_read      INTEGER NOT NULL CHECK (can_read IN (0, 1)),
    can_admin     INTEGER NOT NULL CHECK (can_admin IN (0, 1)),
    note          TEXT    NOT NULL,
    created_us    INTEGER NOT NULL,
    expires_us    INTEGER,
    revoked_us    INTEGER
);
CREATE INDEX token_by_project ON token (project_id);

-- The commit graph of a project. A parent may be named before it is described, so commit_parent has no foreign key.
CREATE TABLE commit_node (
    project_id   INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    sha          TEXT    NOT NULL,
    committed_us INTEGER,
    subject      TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    PRIMARY KEY (project_id, sha)
) WITHOUT ROWID;

CREATE TABLE commit_parent (
    project_id INTEGER NOT NULL,
    sha        TEXT    NOT NULL,
    position   INTEGER NOT NULL, -- 0: the first parent
    parent     TEXT    NOT NULL,
    PRIMARY KEY (project_id, sha, position),
    FOREIGN KEY (project_id, sha) REFERENCES commit_node (project_id, sha) ON DELETE CASCADE
) WITHOUT ROWID;

-- A lane is one workload on one branch: what a baseline and a history are taken from.
CREATE TABLE lane (
    id         INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    workload   TEXT    NOT NULL,
    branch     TEXT    NOT NULL,
    UNIQUE (project_id, workload, branch)
);

-- seq is the order of receipt. Clocks of clients and of the host may step back; seq never does (AUTOINCREMENT: not
-- even after the newest run was deleted).
CREATE TABLE run (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT    NOT NULL UNIQUE,
    project_id     INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    lane_id        INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE,
    commit_sha     TEXT    NOT NULL,
    base_branch    TEXT    NOT NULL,
    head_sha       TEXT    NOT NULL,
    base_sha       TEXT    NOT NULL,
    pull_request   INTEGER,
    fork           INTEGER NOT NULL CHECK (fork IN (0, 1)),
    attempt        INTEGER NOT NULL,
    ci_run         TEXT    NOT NULL,
    job            TEXT    NOT NULL,
    matrix         TEXT    NOT NULL,
    job_url        TEXT    NOT NULL,
    run_key        TEXT    NOT NULL,
    ranks_expected INTEGER NOT NULL, -- 0: what was sent
    steps_glob     TEXT    NOT NULL,
    window_kind    TEXT    NOT NULL,
    skip_steps     INTEGER,
    policy_sha256  TEXT    REFERENCES policy (sha256), -- NULL: none was sent
    token_id       TEXT    NOT NULL,                   -- no reference: a run outlives its uploader's token
    received_us    INTEGER NOT NULL,
    status         TEXT    NOT NULL CHECK (status IN ('pending', 'analysing', 'judged', 'rejected')),
    outcome        TEXT    CHECK (outcome IN ('pass', 'warn', 'inconclusive', 'fail')),
    comparable_key TEXT    NOT NULL,
    in_baseline    INTEGER NOT NULL CHECK (in_baseline IN (0, 1)),
    error_code     TEXT    NOT NULL,
    error_message  TEXT    NOT NULL,
    finished_us    INTEGER,
    superseded     INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)), -- by a judged run of a higher attempt
    CHECK (superseded = 0 OR in_baseline = 0)
);
CREATE INDEX run_by_project ON run (project_id, seq);
CREATE INDEX run_by_lane ON run (lane_id, seq);
CREATE INDEX run_by_commit ON run (project_id, commit_sha, seq);
-- Exactly the runs that may serve as baseline, newest at the end: the judge's query reads no other run.
CREATE INDEX run_baseline ON run (lane_id, comparable_key, seq, commit_sha) WHERE in_baseline = 1;
CREATE INDEX run_unfinished ON run (seq) WHERE status IN ('pending', 'analysing');

CREATE TABLE run_environment (
    run_seq INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    name    TEXT    NOT NULL,
    value   TEXT    NOT NULL,
    PRIMARY KEY (run_seq, name)
) WITHOUT ROWID;

-- One file of one rank. The idempotency key belongs to the upload, since each rank of a run is sent by itself.
CREATE TABLE upload (
    run_seq         INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    rank            INTEGER NOT NULL,
    sha256          TEXT    NOT NULL,
    bytes           INTEGER NOT NULL,
    name            TEXT    NOT NULL,
    project_id      INTEGER NOT NULL,
    idempotency_key TEXT, -- NULL: none
    PRIMARY KEY (run_seq, rank),
    UNIQUE (project_id, idempotency_key)
);
CREATE INDEX upload_by_blob ON upload (sha256);

-- The documents of a run, beside it, so that histories do not read them. The verdict comes first: lists read it, and
-- what stands before a column on its pages is read with it.
CREATE TABLE run_document (
    run_seq INTEGER NOT NULL PRIMARY KEY REFERENCES run (seq) ON DELETE CASCADE,
    verdict TEXT    NOT NULL,
    report  TEXT    NOT NULL
);

CREATE TABLE metric (
    id   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL UNIQUE
);

-- The primary key is the series: the history of a metric in a lane is one range of it, read from its end.
CREATE TABLE measurement (
    lane_id   INTEGER NOT NULL,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    run_seq   INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    value     REAL    NOT NULL,
    PRIMARY KEY (lane_id, metric_id, run_seq)
) WITHOUT ROWID;
-- All values of one run, without touching the series: what a baseline reads, and what deleting a run needs.
CREATE INDEX measurement_by_run ON measurement (run_seq, metric_id, value);

-- Kept for ever, hence names and no references.
CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at_us   INTEGER NOT NULL,
    project TEXT    NOT NULL, -- '': of no single project
    actor   TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    detail  TEXT    NOT NULL
);
CREATE INDEX audit_by_project ON audit (project, seq);
