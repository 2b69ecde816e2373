-- Replaces the payload of a job. BullMQ's own `updateData` takes a value and not its JSON.
-- KEYS: 1 the job
-- ARGV: 1 the payload as JSON
-- Returns: 1 if the job exists
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[1])
return 1
