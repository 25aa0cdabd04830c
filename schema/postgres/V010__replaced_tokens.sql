-- V010__replaced_tokens.sql (postgres)
-- What:  which token a rotation has put into the place of another.
-- Why:   a token that was rotated ends after the overlap: rotated again, it would hand on that end and not its lifetime.
-- Units: none.
-- Locks: the statement locks its table for a moment.
-- Undo:  drop the column.

ALTER TABLE token ADD COLUMN replaced_by TEXT NOT NULL DEFAULT ''; -- the id; '': none
