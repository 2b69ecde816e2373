-- Removes the first claimed runs, which are done. Safe to repeat, because a command whose reply was lost is sent again.
-- `keys`: 1 change queue (list), 2 claimed runs (list), 3 crashes, 4 size of the queues (hash), 5 run queue (list)
-- `left`: how many claimed runs are left; `step`: least bytes by which the size must have changed since it was last
-- reported; an eighth of it if that is more
-- Returns: 2 if a change waits, else 1; the bytes that still wait if they must be reported, else -1; the account
local function acknowledge(keys, left, step)
  local done = 0
  local count = redis.call('LLEN', keys[2]) - left
  if count > 0 then
    for _, run in ipairs(redis.call('LPOP', keys[2], count)) do done = done + #run end
  end
  redis.call('DEL', keys[3])
  local size = redis.call('HMGET', keys[4], 'bytes', 'reported', 'owner')
  local reported = tonumber(size[2] or '0')
  local bytes = math.max(0, tonumber(size[1] or '0') - done)
  local changes = redis.call('LLEN', keys[1])
  local report = -1
  if changes + redis.call('LLEN', keys[2]) + redis.call('LLEN', keys[5]) == 0 then
    bytes = 0
    redis.call('DEL', keys[4])
    if reported > 0 then report = 0 end
  else
    redis.call('HSET', keys[4], 'bytes', bytes)
    if reported - bytes >= math.max(step, reported / 8) then
      redis.call('HSET', keys[4], 'reported', bytes)
      report = bytes
    end
  end
  return changes > 0 and 2 or 1, report, size[3] or ''
end
