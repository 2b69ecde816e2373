-- Acknowledges the first claimed runs: they are done. Safe to repeat, because a command whose reply was lost is sent again.
-- KEYS: 1 change queue (list), 2 claimed runs (list), 3 lease, 4 crashes, 5 size of the queues (hash), 6 run queue (list)
-- ARGV: 1 token, 2 how many claimed runs are left, 3 least bytes by which the size must have changed since it was last
--       reported; an eighth of it if that is more
-- Returns: 0 if the lease belongs to another caller; 2 if a change waits, else 1. Then the bytes that still wait if they
--          must be reported, else -1, and the account
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return { 0, -1, '' } end
local done = 0
local count = redis.call('LLEN', KEYS[2]) - tonumber(ARGV[2])
if count > 0 then
  for _, run in ipairs(redis.call('LPOP', KEYS[2], count)) do done = done + #run end
end
redis.call('DEL', KEYS[4])
local size = redis.call('HMGET', KEYS[5], 'bytes', 'reported', 'owner')
local reported = tonumber(size[2] or '0')
local bytes = math.max(0, tonumber(size[1] or '0') - done)
local changes = redis.call('LLEN', KEYS[1])
local report = -1
if changes + redis.call('LLEN', KEYS[2]) + redis.call('LLEN', KEYS[6]) == 0 then
  bytes = 0
  redis.call('DEL', KEYS[5])
  if reported > 0 then report = 0 end
else
  redis.call('HSET', KEYS[5], 'bytes', bytes)
  if reported - bytes >= math.max(tonumber(ARGV[3]), reported / 8) then
    redis.call('HSET', KEYS[5], 'reported', bytes)
    report = bytes
  end
end
return { changes > 0 and 2 or 1, report, size[3] or '' }
