-- Appends runs to their source's run queue, or a change to its change queue, and counts their bytes.
-- KEYS: 1 run queue or change queue (list), 2 notified flag, 3 size of the queues (hash: bytes, reported, owner)
-- ARGV: 1 most items that may wait in the list (0: any number), 2 milliseconds until the notified flag expires, 3 most
--       bytes that may wait (0: any number), 4 the account ('': not known), 5 bytes by which the size must have changed
--       since it was last reported, 6 and on: JSON of each
-- Returns: how many were accepted, in order (the queue was full for the rest); 1 if a notify job must be enqueued, else 0;
--          the bytes that wait now if they must be reported to the account, else -1
local most = tonumber(ARGV[1])
local mostBytes = tonumber(ARGV[3])
local free = #ARGV - 5
if most > 0 then free = math.min(free, most - redis.call('LLEN', KEYS[1])) end
local size = redis.call('HMGET', KEYS[3], 'bytes', 'reported')
local bytes = tonumber(size[1] or '0')
local reported = tonumber(size[2] or '0')
local accepted = 0
for i = 6, 5 + free do
  if mostBytes > 0 and bytes + #ARGV[i] > mostBytes then break end
  redis.call('RPUSH', KEYS[1], ARGV[i])
  bytes = bytes + #ARGV[i]
  accepted = accepted + 1
end
if accepted == 0 then return { 0, 0, -1 } end
local report = -1
redis.call('HSET', KEYS[3], 'bytes', bytes)
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[3], 'owner', ARGV[4])
  if bytes - reported >= tonumber(ARGV[5]) then
    redis.call('HSET', KEYS[3], 'reported', bytes)
    report = bytes
  end
end
-- A worker clears the flag when it starts; it expires by itself if the enqueue after this script never happened.
if redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[2]) then return { accepted, 1, report } end
return { accepted, 0, report }
