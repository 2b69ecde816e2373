-- Puts runs at the end of their source's line, or a change into the line of changes.
-- KEYS: 1 line or changes (list), 2 wake flag
-- ARGV: 1 longest line allowed (0 = any), 2 milliseconds a wake flag lives, 3 and on: JSON of each
-- Returns: how many were taken (the rest found the line full), 1 when a wake job must be enqueued, else 0
local most = tonumber(ARGV[1])
local free = #ARGV - 2
if most > 0 then free = math.min(free, most - redis.call('LLEN', KEYS[1])) end
if free <= 0 then return { 0, 0 } end
for i = 3, 2 + free do redis.call('RPUSH', KEYS[1], ARGV[i]) end
-- The flag is cleared when a worker begins; it expires by itself when the enqueue after this script never happened.
if redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[2]) then return { free, 1 } end
return { free, 0 }
