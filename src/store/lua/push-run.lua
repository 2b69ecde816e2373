-- Puts a run at the end (or the front) of its source's line.
-- KEYS: 1 line (list), 2 wake flag
-- ARGV: 1 run JSON, 2 'back' or 'front', 3 longest line allowed (0 = any), 4 milliseconds a wake flag lives
-- Returns: -1 when the line is full, 1 when a wake job must be enqueued, 0 when one is on its way
local most = tonumber(ARGV[3])
if most > 0 and redis.call('LLEN', KEYS[1]) >= most then return -1 end
redis.call(ARGV[2] == 'front' and 'LPUSH' or 'RPUSH', KEYS[1], ARGV[1])
-- The flag is cleared when a worker begins; it expires by itself when the enqueue after this script never happened.
if redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[4]) then return 1 end
return 0
