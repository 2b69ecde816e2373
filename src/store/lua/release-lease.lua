-- Releases a lease that still belongs to the caller. The caller is alive, so what it leaves claimed did not crash it.
-- KEYS: 1 lease, 2 crashes
-- ARGV: 1 token
-- Returns: 1 if it belonged to the caller
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1], KEYS[2])
return 1
