-- Moves the claimed runs back to the front of the run queue, in order.
-- KEYS: 1 run queue (list), 2 claimed runs (list), 3 lease
-- ARGV: 1 token
-- Returns: 0 if the lease belongs to another caller, else 1
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return 0 end
while redis.call('LMOVE', KEYS[2], KEYS[1], 'RIGHT', 'LEFT') do end
return 1
