-- V004__levels.sql (sqlite)
-- What:  acceptances of regressions; the levels of each series: where they changed, its segments, which drifts were told;
--        the band that each value was judged by.
-- Why:   everything that a history shows is computed when a run is written. An acceptance changes which runs later ones
--        are compared with, and undoing it, or its end, changes that back: so what counts only because of it says so.
-- Units: *_us are µs since 1970-01-01 UTC; levels, noises and bands are in their metric's own unit.
-- Undo:  drop the tables, the indexes and the columns.

-- 1: a whole, judged run of its baseline branch, failed or not: it is a point of the series that changes are sought in.
ALTER TABLE run ADD COLUMN in_series INTEGER NOT NULL DEFAULT 0 CHECK (in_series IN (0, 1));
UPDATE run SET in_series = 1 WHERE in_baseline = 1
    OR (outcome = 'fail' AND superseded = 0 AND fork = 0 AND pull_request IS NULL);
CREATE INDEX run_series ON run (lane_id, comparable_key, seq) WHERE in_series = 1;

-- The level that the value was compared with and where no alarm was raised around it; NULL: it was not compared.
ALTER TABLE measurement ADD COLUMN level REAL;
ALTER TABLE measurement ADD COLUMN low REAL;
ALTER TABLE measurement ADD COLUMN high REAL;

-- Which commits have this one as a parent: a merge brings the acceptances of what it merged.
CREATE INDEX commit_child ON commit_parent (project_id, parent);

-- A regression that somebody accepted. Never changed but for its undoing.
CREATE TABLE acceptance (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT    NOT NULL UNIQUE,
    project_id   INTEGER NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    run_seq      INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    every_metric INTEGER NOT NULL CHECK (every_metric IN (0, 1)), -- whether all were accepted, and not some by name
    reason       TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    token_id     TEXT    NOT NULL,
    created_us   INTEGER NOT NULL,
    until_us     INTEGER,                  -- NULL: for ever
    undone_us    INTEGER,                  -- NULL: it was not undone
    undone_by    TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX acceptance_by_project ON acceptance (project_id, seq);
CREATE INDEX acceptance_by_run ON acceptance (run_seq);

-- The metrics that an acceptance is about, with the run's values: the accepted levels.
CREATE TABLE acceptance_metric (
    acceptance_seq INTEGER NOT NULL REFERENCES acceptance (seq) ON DELETE CASCADE,
    metric_id      INTEGER NOT NULL REFERENCES metric (id),
    value          REAL    NOT NULL,
    PRIMARY KEY (acceptance_seq, metric_id)
) WITHOUT ROWID;

-- Runs that are in the baseline only because of an acceptance, and only as long as it is in force.
CREATE TABLE run_acceptance (
    run_seq        INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    acceptance_seq INTEGER NOT NULL REFERENCES acceptance (seq) ON DELETE CASCADE,
    PRIMARY KEY (run_seq, acceptance_seq)
) WITHOUT ROWID;
CREATE INDEX run_acceptance_by_acceptance ON run_acceptance (acceptance_seq);

-- The comparable runs of a lane. version counts what changes them, so that an analysis of an older state is not kept.
CREATE TABLE series (
    id             INTEGER PRIMARY KEY,
    lane_id        INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE,
    comparable_key TEXT    NOT NULL,
    version        INTEGER NOT NULL,
    UNIQUE (lane_id, comparable_key)
);

CREATE TABLE change_point (
    series_id      INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    metric_id      INTEGER NOT NULL REFERENCES metric (id),
    run_seq        INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE, -- the first of the new level
    previous_seq   INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    before_value   REAL    NOT NULL,
    after_value    REAL    NOT NULL,
    magnitude      REAL    NOT NULL,
    p              REAL    NOT NULL,
    better         INTEGER CHECK (better IN (0, 1)),                             -- NULL: the metric has no better side
    acceptance_seq INTEGER REFERENCES acceptance (seq) ON DELETE SET NULL,       -- NULL: nobody accepted it
    PRIMARY KEY (series_id, metric_id, run_seq)
) WITHOUT ROWID;
CREATE INDEX change_point_by_run ON change_point (run_seq);
CREATE INDEX change_point_by_previous ON change_point (previous_seq);
CREATE INDEX change_point_by_acceptance ON change_point (acceptance_seq) WHERE acceptance_seq IS NOT NULL;

CREATE TABLE segment (
    series_id INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    first_seq INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    last_seq  INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    runs      INTEGER NOT NULL,
    level     REAL    NOT NULL,
    noise     REAL    NOT NULL,
    began     TEXT    NOT NULL CHECK (began IN ('first', 'epoch', 'improvement', 'acceptance')),
    PRIMARY KEY (series_id, metric_id, first_seq)
) WITHOUT ROWID;
CREATE INDEX segment_by_first ON segment (first_seq);
CREATE INDEX segment_by_last ON segment (last_seq);

-- Drifts that were told, so that none is told twice although its place moves while more runs come.
CREATE TABLE told_drift (
    series_id INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    metric_id INTEGER NOT NULL REFERENCES metric (id),
    run_seq   INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    PRIMARY KEY (series_id, metric_id, run_seq)
) WITHOUT ROWID;
CREATE INDEX told_drift_by_run ON told_drift (run_seq);
