-- Marks the current run as done.
-- KEYS: 1 current, 2 lease
-- ARGV: 1 token
-- Returns: 1, or 0 when the lease is another's
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1
