-- Appends runs to their source's run queue, or a change to its change queue.
-- KEYS: 1 run queue or change queue (list), 2 notification (string: '<name> <milliseconds>')
-- ARGV: 1 most runs that may wait (0: any number), 2 milliseconds after which a notify job is promised again, 3 milliseconds
--       until the notification expires, 4 name for a new notification, 5 and on: JSON of each
-- Returns: how many were accepted (the queue was full for the rest), the name of the notification for which a notify job
--          must be enqueued, or ''
local most = tonumber(ARGV[1])
local free = #ARGV - 4
if most > 0 then free = math.min(free, most - redis.call('LLEN', KEYS[1])) end
if free <= 0 then return { 0, '' } end
for i = 5, 4 + free do redis.call('RPUSH', KEYS[1], ARGV[i]) end
-- A worker deletes the notification when it claims runs. Until then its name stays the same, so that its notify job, named
-- after it, waits once, however long, and is only enqueued again in case it was promised and never enqueued.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local name, promised = string.match(redis.call('GET', KEYS[2]) or '', '^(%S+) (%d+)$')
if name and now - tonumber(promised) < tonumber(ARGV[2]) then return { free, '' } end
name = name or ARGV[4]
redis.call('SET', KEYS[2], name .. ' ' .. string.format('%.0f', now), 'PX', ARGV[3])
return { free, name }
