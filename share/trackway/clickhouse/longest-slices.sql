-- the longest slices of all traces, and the way back to each: file, offset of its record, and a command that cuts it out
SELECT
    name,
    duration,
    path,
    id AS offset,
    concat('trackway cut --from-time ', toString(time), 'ns --to-time ', toString(time + duration + 1), 'ns --thread ',
        toString(thread), ' ''', replaceAll(path, '''', '''\\'''''), ''' -o moment') AS command
FROM
(
    WITH 30 AS days
    SELECT toString(trace) AS trace, toString(name) AS name, duration, time, id, thread
    FROM slice
    WHERE kind = 'slice' AND day >= today() - days
    ORDER BY duration DESC
    LIMIT 20
)
ANY INNER JOIN
(
    SELECT toString(trace) AS trace, path
    FROM trace
) USING trace
ORDER BY duration DESC, offset
