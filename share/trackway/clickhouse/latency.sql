-- how long it is from one event to the next of another name on the same thread, over all traces, by the value of a label
-- from_name, to_name: slices or instants; a begin counts. An event without the other one behind it counts for nothing.
SELECT
    value,
    count() AS pairs,
    min(latency) AS min_ns,
    quantileExact(0.5)(latency) AS p50_ns,
    quantileExact(0.9)(latency) AS p90_ns,
    quantileExact(0.99)(latency) AS p99_ns,
    max(latency) AS max_ns
FROM
(
    SELECT trace, arrayJoin(latencies) AS latency
    FROM
    (
        SELECT
            trace,
            arraySort(groupArray((time, is_end))) AS events,
            arrayMap(i -> events[i + 1].1 - events[i].1,
                arrayFilter(i -> events[i].2 = 0 AND events[i + 1].2 = 1,
                    arraySlice(arrayEnumerate(events), 1, length(events) - 1))) AS latencies
        FROM
        (
            WITH 'receive' AS from_name, 'send' AS to_name
            SELECT toString(trace) AS trace, track, time, name = to_name AS is_end
            FROM slice
            WHERE name IN (from_name, to_name) AND kind IN ('slice', 'instant')
        )
        GROUP BY trace, track
    )
)
ANY INNER JOIN
(
    WITH 'host' AS label
    SELECT toString(trace) AS trace, label_values[indexOf(label_keys, label)] AS value
    FROM trace
) USING trace
GROUP BY value
ORDER BY p99_ns DESC
