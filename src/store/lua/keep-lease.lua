-- Renews (milliseconds > 0) or gives back (0) a lease that is still ours.
-- KEYS: 1 lease
-- ARGV: 1 token, 2 milliseconds
-- Returns: 1 when it was ours
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then redis.call('DEL', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
