-- Moves a job that a worker has fetched and not started back to its queue, as if it had never been fetched. BullMQ's own
-- `moveToWait` keeps the priority, counts a start, and notifies no other worker.
-- KEYS: 1 active jobs (list), 2 waiting jobs (list), 3 prioritized jobs (zset), 4 stalled jobs (set), 5 priority counter,
--       6 marker, 7 the job, 8 the job's lock
-- ARGV: 1 job id, 2 the worker's token, 3 priority
-- Returns: 1, or 0 if the job is no longer this worker's
if redis.call('GET', KEYS[8]) ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[8])
redis.call('SREM', KEYS[4], ARGV[1])
if redis.call('LREM', KEYS[1], 1, ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[7], 'priority', ARGV[3])
redis.call('HINCRBY', KEYS[7], 'ats', -1)
local priority = tonumber(ARGV[3])
if priority == 0 then
  redis.call('LPUSH', KEYS[2], ARGV[1])
else
  redis.call('ZADD', KEYS[3], priority * 0x100000000 + redis.call('INCR', KEYS[5]) % 0x100000000, ARGV[1])
end
redis.call('ZADD', KEYS[6], 0, '0')
return 1
