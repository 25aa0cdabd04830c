-- V003__stated_ranks.sql (postgres)
-- What:  which ranks the traces of an upload state themselves.
-- Why:   the same rank's trace in two slots is refused when the second one arrives; found only when the run is judged, it
--        would cost the whole run.
-- Units: upload.stated_ranks: whole numbers, separated by commas; '': the file states none, or was not analysed.
-- Undo:  drop the column.

ALTER TABLE upload ADD COLUMN stated_ranks TEXT NOT NULL DEFAULT '';
