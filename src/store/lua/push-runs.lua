-- Appends runs to their source's run queue, or a change to its change queue.
-- KEYS: 1 run queue or change queue (list), 2 notified flag
-- ARGV: 1 most runs that may wait (0: any number), 2 milliseconds until the notified flag expires, 3 and on: JSON of each
-- Returns: how many were accepted (the queue was full for the rest), 1 if a notify job must be enqueued, else 0
local most = tonumber(ARGV[1])
local free = #ARGV - 2
if most > 0 then free = math.min(free, most - redis.call('LLEN', KEYS[1])) end
if free <= 0 then return { 0, 0 } end
for i = 3, 2 + free do redis.call('RPUSH', KEYS[1], ARGV[i]) end
-- A worker clears the flag when it starts; it expires by itself if the enqueue after this script never happened.
if redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[2]) then return { free, 1 } end
return { free, 0 }
