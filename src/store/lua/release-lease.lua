-- Gives a lease back that is still ours. The holder is alive: what it leaves in hand did not end it.
-- KEYS: 1 lease, 2 deaths
-- ARGV: 1 token
-- Returns: 1 when it was ours
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1], KEYS[2])
return 1
