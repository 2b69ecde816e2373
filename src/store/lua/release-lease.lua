-- Releases a lease that still belongs to the caller. The caller is alive, so what it leaves claimed did not crash it; a
-- caller that failed because of it says so, and then its crashes are kept.
-- KEYS: 1 lease, 2 crashes
-- ARGV: 1 token, 2 1 to keep the crashes, else 0
-- Returns: 1 if it belonged to the caller
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
if ARGV[2] ~= '1' then redis.call('DEL', KEYS[2]) end
return 1
