-- Acknowledges the first claimed runs: they are done.
-- KEYS: 1 change queue (list), 2 claimed runs (list), 3 lease, 4 crashes
-- ARGV: 1 token, 2 how many
-- Returns: 0 if the lease belongs to another caller; 2 if a change waits, else 1
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return 0 end
redis.call('LPOP', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[4])
if redis.call('LLEN', KEYS[1]) > 0 then return 2 end
return 1
