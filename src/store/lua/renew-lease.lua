-- Renews a lease that still belongs to the caller.
-- KEYS: 1 lease
-- ARGV: 1 token, 2 milliseconds
-- Returns: 1 if it belonged to the caller
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
