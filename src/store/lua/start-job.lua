-- Takes the next job of a queue (fetch-job.lua).
-- ARGV: 1 what the key of a job begins with, 2 Unix milliseconds, 3 the worker's token, 4 milliseconds until its lock expires
-- Returns: as fetch_job
return fetch_job(ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4])
