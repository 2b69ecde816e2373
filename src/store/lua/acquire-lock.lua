-- Acquires a lock, or renews it if the caller holds it already.
-- KEYS: 1 lock
-- ARGV: 1 token, 2 milliseconds
-- Returns: 1 if the caller holds it now
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
