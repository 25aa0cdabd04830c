-- V006__months.sql (postgres)
-- What:  measurements in one table for each month of receipt.
-- Why:   they are by far the most rows, and old ones are to go without a trace of work: a month is dropped, not deleted.
-- Units: received_us is that of the run, in µs since 1970-01-01 UTC.
-- Undo:  make a table of that name without partitions, copy the rows, drop the functions.

ALTER TABLE measurement RENAME TO measurement_of_all_times;
ALTER INDEX measurement_pkey RENAME TO measurement_of_all_times_pkey;
ALTER INDEX measurement_by_run RENAME TO measurement_of_all_times_by_run;

-- The primary key is the series and carries its values: the history of a metric in a lane is a range of it in each
-- month, read from its end. The key of a partitioned table has to have the time in it; a run has only one.
CREATE TABLE measurement (
    lane_id     BIGINT NOT NULL,
    metric_id   BIGINT NOT NULL REFERENCES metric (id),
    run_seq     BIGINT NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
    received_us BIGINT NOT NULL,
    value       DOUBLE PRECISION NOT NULL,
    level       DOUBLE PRECISION, -- NULL, as low and high: it was not compared
    low         DOUBLE PRECISION,
    high        DOUBLE PRECISION,
    PRIMARY KEY (lane_id, metric_id, run_seq, received_us) INCLUDE (value)
) PARTITION BY RANGE (received_us);
CREATE INDEX measurement_by_run ON measurement (run_seq, metric_id) INCLUDE (value);

-- The first moment of the month of a time. What is not between 1970 and 9999 no clock has said: the outermost months
-- take it.
CREATE FUNCTION measurement_month(at_us BIGINT) RETURNS TIMESTAMP LANGUAGE sql STABLE AS
$$ SELECT date_trunc('month', to_timestamp(least(greatest(at_us, 0) / 1000000, 253399622399)) AT TIME ZONE 'UTC') $$;

CREATE FUNCTION measurement_table(month TIMESTAMP) RETURNS TEXT LANGUAGE sql STABLE AS
$$ SELECT 'measurement_' || to_char(month, 'YYYY_MM') $$;

-- Whether the month of this time is there, and the one after it.
CREATE FUNCTION has_measurement_months(at_us BIGINT) RETURNS BOOLEAN LANGUAGE sql STABLE AS
$$ SELECT to_regclass(measurement_table(measurement_month(at_us))) IS NOT NULL
      AND to_regclass(measurement_table(measurement_month(at_us) + INTERVAL '1 month')) IS NOT NULL $$;

-- Makes both, unless they are there. Of several that do so at once, one does; the others find them. Who writes results
-- has locked run before measurement, so that is done in this order here, too. A table that is attached, unlike one that is
-- made as a part, waits for nobody who reads: a backup reads for as long as it takes.
CREATE FUNCTION make_measurement_months(at_us BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    month TIMESTAMP;
BEGIN
    IF has_measurement_months(at_us) THEN
        RETURN;
    END IF;
    LOCK TABLE run IN SHARE ROW EXCLUSIVE MODE;
    FOREACH month IN ARRAY ARRAY[measurement_month(at_us), measurement_month(at_us) + INTERVAL '1 month'] LOOP
        CONTINUE WHEN to_regclass(measurement_table(month)) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE measurement INCLUDING ALL)', measurement_table(month));
        EXECUTE format('ALTER TABLE measurement ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
                       measurement_table(month),
                       CASE WHEN month = TIMESTAMP '1970-01-01' THEN 'MINVALUE'
                            ELSE (extract(epoch FROM month) * 1000000)::BIGINT::TEXT END,
                       CASE WHEN month = TIMESTAMP '9999-12-01' THEN 'MAXVALUE'
                            ELSE (extract(epoch FROM month + INTERVAL '1 month') * 1000000)::BIGINT::TEXT END);
    END LOOP;
END $$;

SELECT make_measurement_months(first_us)
FROM (SELECT min(received_us) AS first_us FROM run GROUP BY measurement_month(received_us)) months;

INSERT INTO measurement (lane_id, metric_id, run_seq, received_us, value, level, low, high)
SELECT m.lane_id, m.metric_id, m.run_seq, r.received_us, m.value, m.level, m.low, m.high
FROM measurement_of_all_times m JOIN run r ON r.seq = m.run_seq ORDER BY m.lane_id, m.metric_id, m.run_seq;
DROP TABLE measurement_of_all_times;
