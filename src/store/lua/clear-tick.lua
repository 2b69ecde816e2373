-- Clears the mark of a tick whose run starts or has ended, but not that of another tick.
-- KEYS: 1 '<run id> <JSON>' of the tick that waits for its run
-- ARGV: 1 run id
-- Returns: 1 if it was cleared
local mark = redis.call('GET', KEYS[1])
if mark and string.match(mark, '^(%S+) ') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
