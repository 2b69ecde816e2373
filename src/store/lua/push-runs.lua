-- Appends runs to their source's run queue, or a change to its change queue, and counts their bytes.
-- KEYS: 1 run queue or change queue (list), 2 notification (string: '<name> <milliseconds>'), 3 size of the queues (hash:
--       bytes, reported, owner)
-- ARGV: 1 most items that may wait in the list (0: any number), 2 milliseconds after which a notify job is promised again,
--       3 milliseconds until the notification expires, 4 name for a new notification, 5 most bytes that may wait (0: any
--       number), 6 the account ('': not known), 7 least bytes by which the size must have changed since it was last
--       reported, 8 and on: JSON of each
-- Returns: how many were accepted, in order (the queue was full for the rest); the name of the notification for which a
--          notify job must be enqueued, or ''; the bytes that wait now if they must be reported to the account, else -1
local most = tonumber(ARGV[1])
local mostBytes = tonumber(ARGV[5])
local free = #ARGV - 7
if most > 0 then free = math.min(free, most - redis.call('LLEN', KEYS[1])) end
local size = redis.call('HMGET', KEYS[3], 'bytes', 'reported')
local bytes = tonumber(size[1] or '0')
local reported = tonumber(size[2] or '0')
local accepted = 0
for i = 8, 7 + free do
  if mostBytes > 0 and bytes + #ARGV[i] > mostBytes then break end
  redis.call('RPUSH', KEYS[1], ARGV[i])
  bytes = bytes + #ARGV[i]
  accepted = accepted + 1
end
if accepted == 0 then return { 0, '', -1 } end
local report = -1
redis.call('HSET', KEYS[3], 'bytes', bytes)
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[3], 'owner', ARGV[6])
  -- And by an eighth: each report of a long queue would cost as much as the push itself.
  if bytes - reported >= math.max(tonumber(ARGV[7]), reported / 8) then
    redis.call('HSET', KEYS[3], 'reported', bytes)
    report = bytes
  end
end
-- A worker deletes the notification when it claims runs. Until then its name stays the same, so that its notify job, named
-- after it, waits once, however long, and is only enqueued again in case it was promised and never enqueued.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local name, promised = string.match(redis.call('GET', KEYS[2]) or '', '^(%S+) (%d+)$')
if name and now - tonumber(promised) < tonumber(ARGV[2]) then return { accepted, '', report } end
name = name or ARGV[4]
redis.call('SET', KEYS[2], name .. ' ' .. string.format('%.0f', now), 'PX', ARGV[3])
return { accepted, name, report }
