-- V007__issued_tokens.sql (postgres)
-- What:  tokens that are issued to CI jobs by OIDC, whose jobs a project trusts, and when a token was used last.
-- Why:   a secret in every CI is a secret in many places. A token of minutes that is bound to a job needs none.
-- Units: used_us is µs since 1970-01-01 UTC.
-- Undo:  drop the index and the columns.

-- JSON (docs/api.md): the repositories, refs and environments whose jobs may get a token; '': nobody's.
ALTER TABLE project ADD COLUMN trusted_jobs TEXT NOT NULL DEFAULT '';

-- JSON: what the issuer said of the job; '': a token that a person made. Forgotten some time after its end.
ALTER TABLE token ADD COLUMN binding TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN used_us BIGINT;
CREATE INDEX token_issued ON token (expires_us) WHERE binding <> '';
