-- the functions that got slower from one value of a label to another, by a test over the runs
-- Each trace is a run: its value is the time of a call of the function itself, on average. Welch's test compares the
-- runs of both sides; its p is that of the normal distribution, which is too small for fewer than some 10 runs a side.
-- It is multiplied by the number of functions (Bonferroni).
WITH 0.05 AS level
SELECT
    name,
    runs_before,
    runs_after,
    before_ns,
    after_ns,
    after_ns / before_ns AS ratio,
    p
FROM
(
    SELECT
        groupArray(name) AS names,
        groupArray(runs_b) AS all_before,
        groupArray(runs_a) AS all_after,
        groupArray(mean_b) AS means_before,
        groupArray(mean_a) AS means_after,
        groupArray(least(1., erfc(abs(mean_a - mean_b) / sqrt(2 * (var_a / runs_a + var_b / runs_b) + 1e-9)))) AS ps
    FROM
    (
        WITH 'old' AS before, 'new' AS after, 3 AS runs
        SELECT
            name,
            countIf(value = before) AS runs_b,
            countIf(value = after) AS runs_a,
            avgIf(call_ns, value = before) AS mean_b,
            avgIf(call_ns, value = after) AS mean_a,
            varSampIf(call_ns, value = before) AS var_b,
            varSampIf(call_ns, value = after) AS var_a
        FROM
        (
            SELECT toString(trace) AS trace, toString(name) AS name, sum(self) / count() AS call_ns
            FROM slice
            WHERE kind = 'slice'
            GROUP BY trace, name
        )
        ANY INNER JOIN
        (
            WITH 'build' AS label
            SELECT toString(trace) AS trace, label_values[indexOf(label_keys, label)] AS value
            FROM trace
        ) USING trace
        GROUP BY name
        HAVING runs_b >= runs AND runs_a >= runs
    )
)
ARRAY JOIN
    names AS name,
    all_before AS runs_before,
    all_after AS runs_after,
    means_before AS before_ns,
    means_after AS after_ns,
    arrayMap(x -> least(1., x * length(ps)), ps) AS p
WHERE after_ns > before_ns AND p < level
ORDER BY p, name
