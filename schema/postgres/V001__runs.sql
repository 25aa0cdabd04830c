-- V001__runs.sql (postgres)
-- What:  projects, tokens, the commit graph, runs with their uploads and documents, measurements, the audit log.
-- Why:   everything that the gate needs to judge a run, to show it again and to explain it. What later steps widen has
--        its column from the start: several ranks of a run, attempts, parents, policies by hash, environments.
-- Units: *_us are µs since 1970-01-01 UTC; bytes are bytes; measurement.value is in its metric's own unit.
-- Texts: '' means "not stated"; NULL is only used where a number, a time or a reference is unknown. Texts that are
--        compared or sorted have the collation "C": bytes, as on the embedded store, whatever the database's locale is.
-- Undo:  a new store only: drop the database.

-- Policy texts, named by their hash. Never changed and never deleted: a verdict can always show what it was judged by.
CREATE TABLE policy (
    sha256 TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
    toml   TEXT NOT NULL
);

CREATE TABLE project (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL UNIQUE,
    mode          TEXT NOT NULL CHECK (mode IN ('gate', 'observe')),
    policy_source TEXT NOT NULL CHECK (policy_source IN ('repository', 'server')),
    read_access   TEXT NOT NULL CHECK (read_access IN ('token', 'public')),
    policy_sha256 TEXT COLLATE "C" REFERENCES policy (sha256), -- NULL: none kept on the server
    created_us    BIGINT NOT NULL
);

-- Texts that a project sent for later uploads. A hash is no secret: without this, knowing it would show another
-- project's text.
CREATE TABLE project_policy (
    project_id BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    sha256     TEXT COLLATE "C" NOT NULL REFERENCES policy (sha256),
    put_us     BIGINT NOT NULL,
    PRIMARY KEY (project_id, sha256)
);

CREATE TABLE token (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    secret_sha256 TEXT    NOT NULL,
    project_id    BIGINT REFERENCES project (id) ON DELETE CASCADE, -- NULL: every project
    can_upload    BOOLEAN NOT NULL,
    can_read      BOOLEAN NOT NULL,
    can_admin     BOOLEAN NOT NULL,
    note          TEXT    NOT NULL,
    created_us    BIGINT  NOT NULL,
    expires_us    BIGINT,
    revoked_us    BIGINT
);
CREATE INDEX token_by_project ON token (project_id);

-- The commit graph of a project. A parent may be named before it is described, so commit_parent has no foreign key on
-- it.
CREATE TABLE commit_node (
    project_id   BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    sha          TEXT COLLATE "C" NOT NULL,
    committed_us BIGINT,
    subject      TEXT NOT NULL,
    author       TEXT NOT NULL,
    PRIMARY KEY (project_id, sha)
);

-- The key carries the parent, so that a walk along first parents reads the index alone.
CREATE TABLE commit_parent (
    project_id BIGINT NOT NULL,
    sha        TEXT COLLATE "C" NOT NULL,
    position   BIGINT NOT NULL, -- 0: the first parent
    parent     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, sha, position) INCLUDE (parent),
    FOREIGN KEY (project_id, sha) REFERENCES commit_node (project_id, sha) ON DELETE CASCADE
);

-- A lane is one workload on one branch: what a baseline and a history are taken from.
CREATE TABLE lane (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    workload   TEXT COLLATE "C" NOT NULL,
    branch     TEXT COLLATE "C" NOT NULL,
    UNIQUE (project_id, workload, branch)
);

-- seq is the order of receipt. Clocks of clients and of the host may step back; seq never does. It has gaps: a refused
-- upload takes its number with it.
CREATE TABLE run (
    seq            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id             TEXT COLLATE "C" NOT NULL UNIQUE,
    project_id     BIGINT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    lane_id        BIGINT NOT NULL REFERENCES lane (id) ON DELETE CASCADE,
    commit_sha     TEXT COLLATE "C" NOT NULL,
    base_branch    TEXT NOT NULL,
    head_sha       TEXT NOT NULL,
    base_sha       TEXT NOT NULL,
    pull_request   BIGINT,
    fork           BOOLEAN NOT NULL,
    attempt        BIGINT NOT NULL,
    ci_run         TEXT COLLATE "C" NOT NULL,
    job            TEXT COLLATE "C" NOT NULL,
    matrix         TEXT COLLATE "C" NOT NULL,
    job_url        TEXT   NOT NULL,
    run_key        TEXT COLLATE "C" NOT NULL,
    ranks_expected BIGINT NOT NULL, -- 0: what was sent
    steps_glob     TEXT   NOT NULL,
    window_kind    TEXT   NOT NULL,
    skip_steps     BIGINT,
    policy_sha256  TEXT COLLATE "C" REFERENCES policy (sha256), -- NULL: none was sent
    token_id       TEXT   NOT NULL,                             -- no reference: a run outlives its uploader's token
    received_us    BIGINT NOT NULL,
    status         TEXT   NOT NULL CHECK (status IN ('pending', 'analysing', 'judged', 'rejected')),
    outcome        TEXT   CHECK (outcome IN ('pass', 'warn', 'inconclusive', 'fail')),
    comparable_key TEXT COLLATE "C" NOT NULL,
    in_baseline    BOOLEAN NOT NULL,
    error_code     TEXT   NOT NULL,
    error_message  TEXT   NOT NULL,
    finished_us    BIGINT,
    superseded     BOOLEAN NOT NULL DEFAULT FALSE, -- by a judged run of a higher attempt
    CHECK (NOT superseded OR NOT in_baseline)
);
CREATE INDEX run_by_project ON run (project_id, seq);
CREATE INDEX run_by_lane ON run (lane_id, seq);
CREATE INDEX run_by_commit ON run (project_id, commit_sha, seq);
-- Exactly the runs that may serve as baseline, newest at the end: the judge's query reads no other run.
CREATE INDEX run_baseline ON run (lane_id, comparable_key, seq, commit_sha) WHERE in_baseline;
CREATE INDEX run_unfinished ON run (seq) WHERE status IN ('pending', 'analysing');

CREATE TABLE run_environment (
    run_seq BIGINT NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    name    TEXT COLLATE "C" NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (run_seq, name)
);

-- One file of one rank. The idempotency key belongs to the upload, since each rank of a run is sent by itself.
CREATE TABLE upload (
    run_seq         BIGINT NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    rank            BIGINT NOT NULL,
    sha256          TEXT COLLATE "C" NOT NULL,
    bytes           BIGINT NOT NULL,
    name            TEXT   NOT NULL,
    project_id      BIGINT NOT NULL,
    idempotency_key TEXT COLLATE "C", -- NULL: none
    PRIMARY KEY (run_seq, rank),
    CONSTRAINT upload_idempotency_key UNIQUE (project_id, idempotency_key)
);
CREATE INDEX upload_by_blob ON upload (sha256);

-- The documents of a run, beside it, so that histories do not read them.
CREATE TABLE run_document (
    run_seq BIGINT NOT NULL PRIMARY KEY REFERENCES run (seq) ON DELETE CASCADE,
    verdict TEXT   NOT NULL,
    report  TEXT   NOT NULL
);

CREATE TABLE metric (
    id   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE
);

-- The primary key is the series and carries its values: the history of a metric in a lane is one range of it, read from
-- its end, and the table itself is not touched.
CREATE TABLE measurement (
    lane_id   BIGINT NOT NULL,
    metric_id BIGINT NOT NULL REFERENCES metric (id),
    run_seq   BIGINT NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    value     DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (lane_id, metric_id, run_seq) INCLUDE (value)
);
-- All values of one run, without touching the series: what a baseline reads, and what deleting a run needs.
CREATE INDEX measurement_by_run ON measurement (run_seq, metric_id) INCLUDE (value);

-- Kept for ever, hence names and no references.
CREATE TABLE audit (
    seq     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_us   BIGINT NOT NULL,
    project TEXT COLLATE "C" NOT NULL, -- '': of no single project
    actor   TEXT   NOT NULL,
    action  TEXT   NOT NULL,
    detail  TEXT   NOT NULL
);
CREATE INDEX audit_by_project ON audit (project, seq);
