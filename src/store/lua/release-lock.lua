-- Releases a lock that still belongs to the caller.
-- KEYS: 1 lock
-- ARGV: 1 token
-- Returns: 1 if it belonged to the caller
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
