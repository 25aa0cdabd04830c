-- V008__keeping.sql (sqlite)
-- What:  how long a project's traces are kept and how much of it may be; when each upload came; when a trace was removed.
-- Why:   disks are finite, and who asks for a trace that is gone is to be told when and why it went.
-- Units: *_us are µs since 1970-01-01 UTC; *_days are days; bytes are bytes. In project NULL means "as the service is set"
--        and 0 "no limit".
-- Undo:  drop the indexes and the columns.

ALTER TABLE project ADD COLUMN trace_days INTEGER CHECK (trace_days >= 0);
ALTER TABLE project ADD COLUMN trace_bytes_max INTEGER CHECK (trace_bytes_max >= 0);
ALTER TABLE project ADD COLUMN stored_bytes_max INTEGER CHECK (stored_bytes_max >= 0);
ALTER TABLE project ADD COLUMN uploads_per_day_max INTEGER CHECK (uploads_per_day_max >= 0);

ALTER TABLE upload ADD COLUMN received_us INTEGER NOT NULL DEFAULT 0;
UPDATE upload SET received_us = (SELECT r.received_us FROM run r WHERE r.seq = upload.run_seq);
ALTER TABLE upload ADD COLUMN removed_us INTEGER; -- NULL: the trace is kept, and its blob with it
ALTER TABLE upload ADD COLUMN removed_why TEXT NOT NULL DEFAULT '';
-- What is kept of a project, oldest first; and what came in a day, kept or not.
CREATE INDEX upload_kept ON upload (project_id, received_us, bytes) WHERE removed_us IS NULL;
CREATE INDEX upload_by_time ON upload (project_id, received_us);
