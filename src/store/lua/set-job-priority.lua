-- Sets the priority with which a job that is about to be delayed comes back. BullMQ's own `changePriority` searches the
-- waiting list for the job, which is long when it matters.
-- KEYS: 1 the job
-- ARGV: 1 priority
-- Returns: 1 if the job exists
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'priority', ARGV[1])
return 1
