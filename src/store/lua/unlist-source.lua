-- Removes a source from the list of sources with runs, unless a run arrived since.
-- KEYS: 1 sources with runs (zset by the time of the newest run)
-- ARGV: 1 source id, 2 latest time at which it may be removed
-- Returns: 1 if it was removed
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if score and tonumber(score) <= tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0
