-- Acknowledges the first claimed runs: they are done (acknowledge.lua).
-- KEYS: 1 lease, then those of `acknowledge`
-- ARGV: 1 token, 2 how many claimed runs are left, 3 the step of `acknowledge`
-- Returns: 0 if the lease belongs to another caller; 2 if a change waits, else 1. Then the bytes that still wait if they
--          must be reported, else -1, and the account
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 0, -1, '' } end
return { acknowledge({ unpack(KEYS, 2, 6) }, tonumber(ARGV[2]), tonumber(ARGV[3])) }
