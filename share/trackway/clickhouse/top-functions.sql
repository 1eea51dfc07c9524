-- the functions that took most time, by day and by the value of a label
-- label: the key of a label, as trackway load --label had it; days: how many back from today
SELECT
    day,
    value,
    name,
    count() AS calls,
    sumIf(duration, nested = 0) AS total_ns,
    sum(self) AS self_ns,
    uniqExact(trace) AS traces
FROM
(
    WITH 30 AS days
    SELECT toString(trace) AS trace, day, toString(name) AS name, duration, self, nested
    FROM slice
    WHERE kind = 'slice' AND day >= today() - days
)
ANY INNER JOIN
(
    WITH 'host' AS label
    SELECT toString(trace) AS trace, label_values[indexOf(label_keys, label)] AS value
    FROM trace
) USING trace
GROUP BY day, value, name
ORDER BY day DESC, value, self_ns DESC
LIMIT 20 BY day, value
