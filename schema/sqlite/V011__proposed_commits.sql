-- V011__proposed_commits.sql (sqlite)
-- What:  which commits are known only by the word of jobs that measure a change.
-- Why:   such a job runs a stranger's code, and may tell the service what a commit's parents are before the branch's own job
--        does. Its word stands until then, and no longer.
-- Units: none.
-- Undo:  drop the column.

ALTER TABLE commit_node ADD COLUMN proposed INTEGER NOT NULL DEFAULT 0;
