-- V011__proposed_commits.sql (postgres)
-- What:  which commits are known only by the word of jobs that measure a change.
-- Why:   such a job runs a stranger's code, and may tell the service what a commit's parents are before the branch's own job
--        does. Its word stands until then, and no longer.
-- Units: none.
-- Locks: the statement locks its table for a moment.
-- Undo:  drop the column.

ALTER TABLE commit_node ADD COLUMN proposed BOOLEAN NOT NULL DEFAULT false;
