-- Puts what is still in hand back to the front of the line, in order.
-- KEYS: 1 line (list), 2 in hand (list), 3 lease
-- ARGV: 1 token
-- Returns: 0 when the lease is another's, else 1
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return 0 end
while redis.call('LMOVE', KEYS[2], KEYS[1], 'RIGHT', 'LEFT') do end
return 1
