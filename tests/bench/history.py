"""A long history in the store, made of one run by SQL: other runs of other commits, each the child of the one before."""

RUN = {"id": "'bench-' || n", "commit_sha": "lpad(to_hex(n), 40, '0')", "received_us": "r.received_us + n"}
MEASUREMENT = {"run_seq": "o.seq", "value": "v.value * (1 + ((o.seq * 7919) % 1000 - 500) / 50000.0)"}


# Other series beside the one that is asked for, so that the table is a table.
SERIES = 20


def fill(cluster, url: str, run: str, metric: str, points: int):
    """Until the run's series of the metric, and some others, have so many points."""
    database = url.partition("///")[2].partition("?")[0]

    def copy(table: str, alias: str, changes: dict) -> str:
        names = cluster.psql(f"SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '{table}'::regclass "
                             "AND attnum > 0 AND NOT attisdropped AND attidentity = ''", database).split()
        return f"INSERT INTO {table} ({', '.join(names)}) SELECT " + ", ".join(changes.get(n, f"{alias}.{n}") for n in names)

    numbers = f"generate_series(2, {points}) AS n"
    cluster.psql(f"""BEGIN;
        {copy('run', 'r', RUN)} FROM run r, {numbers} WHERE r.id = '{run}' ORDER BY n;
        {copy('measurement', 'v', MEASUREMENT)} FROM run r JOIN measurement v ON v.run_seq = r.seq,
          run o WHERE r.id = '{run}' AND v.metric_id IN (SELECT id FROM metric ORDER BY name <> '{metric}', id LIMIT {SERIES})
          AND o.lane_id = r.lane_id AND o.seq > r.seq ORDER BY v.metric_id, o.seq;
        INSERT INTO commit_node (project_id, sha, committed_us, subject, author)
          SELECT r.project_id, lpad(to_hex(n), 40, '0'), r.received_us + n, 'change number ' || n, 'Ada Lovelace'
          FROM run r, {numbers} WHERE r.id = '{run}' ON CONFLICT DO NOTHING;
        INSERT INTO commit_parent (project_id, sha, position, parent)
          SELECT r.project_id, lpad(to_hex(n), 40, '0'), 0, lpad(to_hex(n - 1), 40, '0') FROM run r, {numbers} WHERE r.id = '{run}'
          ON CONFLICT DO NOTHING;
        COMMIT;
        VACUUM (ANALYZE);""", database)
