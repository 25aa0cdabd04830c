-- V005__jobs.sql (postgres)
-- What:  what is to be analysed, as a queue that any number of processes take from.
-- Why:   a job is written with the upload that it is of and deleted with its result, so that an acknowledged upload always
--        has one or the other; and whoever takes one holds it for a while only, so that a process that dies loses none.
-- Units: free_us is µs since 1970-01-01 UTC by the database's clock, and by no other.
-- Undo:  drop the table; every process then takes up the runs that are pending or analysing.

CREATE TABLE analysis_job (
    seq      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order in which they are taken
    run_seq  BIGINT NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    rank     BIGINT NOT NULL,                -- of the upload that is to be looked at; -1: the run itself
    holder   TEXT COLLATE "C" NOT NULL,      -- the claim that it is in, another one each time; '': it is in none
    free_us  BIGINT NOT NULL,                -- from when on it may be claimed: the end of the lease, or of a pause
    attempts BIGINT NOT NULL,                -- what speaks against the upload (server/store/strikes.hpp)
    UNIQUE (run_seq, rank)
);
CREATE INDEX analysis_job_by_holder ON analysis_job (holder);

INSERT INTO analysis_job (run_seq, rank, holder, free_us, attempts)
SELECT seq, -1, '', 0, 0 FROM run WHERE status = 'analysing' ORDER BY seq;
INSERT INTO analysis_job (run_seq, rank, holder, free_us, attempts)
SELECT u.run_seq, u.rank, '', 0, 0 FROM run r JOIN upload u ON u.run_seq = r.seq
WHERE r.status = 'pending' AND u.status = 'received' ORDER BY u.run_seq, u.rank;
