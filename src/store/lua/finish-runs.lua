-- Marks the first runs in hand as done.
-- KEYS: 1 changes (list), 2 in hand (list), 3 lease, 4 deaths
-- ARGV: 1 token, 2 how many
-- Returns: 0 when the lease is another's; 2 when a change waits, else 1
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return 0 end
redis.call('LPOP', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[4])
if redis.call('LLEN', KEYS[1]) > 0 then return 2 end
return 1
