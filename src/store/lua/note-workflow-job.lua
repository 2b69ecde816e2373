-- Notes a job on the queue of workflow events for its account.
-- KEYS: 1 the account's jobs, oldest first (list of '<bytes> <job id>'), 2 their bytes (counter)
-- ARGV: 1 bytes, 2 job id, 3 seconds for which both are remembered
-- Returns: the jobs noted, and their bytes
local jobs = redis.call('RPUSH', KEYS[1], ARGV[1] .. ' ' .. ARGV[2])
local bytes = redis.call('INCRBY', KEYS[2], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return { jobs, bytes }
