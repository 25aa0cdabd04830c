-- V009__identity.sql (sqlite)
-- What:  the store's own name, made by chance when it is first asked for.
-- Why:   the place of traces carries it, too: a service with a store of other runs neither adds to nor removes from it.
-- Units: none.
-- Undo:  drop the table.

CREATE TABLE store_identity (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
);
