-- Takes a source off the list of lines, unless a run came since.
-- KEYS: 1 lines (zset)
-- ARGV: 1 source id, 2 newest time at which it may be taken off
-- Returns: 1 when taken off
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if score and tonumber(score) <= tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0
