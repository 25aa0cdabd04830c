-- V002__ranks.sql (sqlite)
-- What:  runs that are made of several uploads: which uploads belong together, how far each upload is, and whether a run
--        still waits for ranks.
-- Why:   the ranks of a job are sent one by one, in any order and from several machines; one of them may be refused
--        while the run goes on waiting for another try.
-- Units: ranks and upload.ranks are counts; texts: '' means "not stated".
-- Undo:  drop the index and the columns.

-- '': the run takes no further upload. Else the hash of what makes uploads one run (server/store/run_group.hpp).
ALTER TABLE run ADD COLUMN group_key TEXT NOT NULL DEFAULT '';
-- 1: no further rank is waited for; a pending run is then complete as soon as no upload of it is being analysed.
ALTER TABLE run ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));
CREATE UNIQUE INDEX run_by_group ON run (project_id, group_key) WHERE group_key <> '';

-- received: waits for its own analysis. whole: holds its ranks. rejected: its slot is free for another try, which takes
-- its place. The upload of a run of its own is whole from the start: its analysis is the run's.
ALTER TABLE upload ADD COLUMN status TEXT NOT NULL DEFAULT 'whole' CHECK (status IN ('received', 'whole', 'rejected'));
ALTER TABLE upload ADD COLUMN ranks INTEGER NOT NULL DEFAULT 0; -- that the file holds; 0: not known yet
ALTER TABLE upload ADD COLUMN error_code TEXT NOT NULL DEFAULT '';
ALTER TABLE upload ADD COLUMN error_message TEXT NOT NULL DEFAULT '';
