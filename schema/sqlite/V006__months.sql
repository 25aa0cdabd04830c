-- V006__months.sql (sqlite)
-- What:  the time of receipt of its run, at each measurement.
-- Why:   Postgres keeps measurements by months of it; with the same columns here, rows can be copied from one to the other.
-- Units: received_us is that of the run, in µs since 1970-01-01 UTC.
-- Undo:  drop the column.

ALTER TABLE measurement ADD COLUMN received_us INTEGER NOT NULL DEFAULT 0;
UPDATE measurement SET received_us = (SELECT r.received_us FROM run r WHERE r.seq = measurement.run_seq);
