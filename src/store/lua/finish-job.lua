-- Removes a job that is done, and takes the next one of its queue (fetch-job.lua).
-- KEYS: 9 the job
-- ARGV: 1 what the key of a job begins with, 2 Unix milliseconds, 3 the worker's token, 4 milliseconds until a lock expires,
--       5 the job's id, 6 1 to take the next one
-- Returns: as fetch_job, or 0 if none was to be taken; -100, with nothing done, for what only BullMQ's own script knows: a job
--          that is not this worker's any more, or is part of a flow, or of a queue with a rate limit
local job = KEYS[9]
if redis.call('EXISTS', job) == 0 or redis.call('GET', job .. ':lock') ~= ARGV[3] then return -100 end
local parent, deduplication = unpack(redis.call('HMGET', job, 'parentKey', 'deid'))
if parent or deduplication or redis.call('HEXISTS', META, 'max') == 1 then return -100 end
local dependencies, unsuccessful = job .. ':dependencies', job .. ':unsuccessful'
if redis.call('EXISTS', dependencies, unsuccessful) > 0 then return -100 end
if redis.call('LREM', ACTIVE, -1, ARGV[5]) == 0 then return -100 end
redis.call('SREM', KEYS[8], ARGV[5])
redis.call('DEL', job, job .. ':lock', job .. ':logs', job .. ':processed', job .. ':failed')
if ARGV[6] ~= '1' then return 0 end
return fetch_job(ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4])
