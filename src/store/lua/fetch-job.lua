-- Functions that take the next job of a queue, over the lists and hashes that BullMQ keeps (src/queues/backend.ts). Unlike
-- BullMQ's own, they leave the marker that notifies a worker only if another job waits, and write no stream of events.
-- KEYS: 1 waiting jobs (list), 2 active jobs (list), 3 prioritized jobs (zset), 4 delayed jobs (zset), 5 the queue's settings
--       (hash), 6 priority counter, 7 marker (zset), 8 stalled jobs (set)

-- Jobs whose delay is over, at most this many at once.
local MOST_DUE = 1000

local WAIT, ACTIVE, PRIORITIZED, DELAYED, META, COUNTER, MARKER = unpack(KEYS)

local function add_due_jobs(prefix, now_ms)
  local due = redis.call('ZRANGEBYSCORE', DELAYED, 0, (now_ms + 1) * 0x1000 - 1, 'LIMIT', 0, MOST_DUE)
  if #due == 0 then return end
  redis.call('ZREM', DELAYED, unpack(due))
  for _, id in ipairs(due) do
    local priority = tonumber(redis.call('HGET', prefix .. id, 'priority')) or 0
    if priority == 0 then
      redis.call('LPUSH', WAIT, id)
    else
      redis.call('ZADD', PRIORITIZED, priority * 0x100000000 + redis.call('INCR', COUNTER) % 0x100000000, id)
    end
    redis.call('HSET', prefix .. id, 'delay', 0)
  end
end

local function next_id()
  local id = redis.call('RPOPLPUSH', WAIT, ACTIVE)
  if id then return id end
  local first = redis.call('ZPOPMIN', PRIORITIZED)[1]
  if first then redis.call('LPUSH', ACTIVE, first) else redis.call('DEL', COUNTER) end
  return first
end

-- Returns the fields and the id of the next job, which is locked, or 0 and 0; when the next delayed job is due, in Unix
-- milliseconds, or 0; and 1 if another job waits. -100 for a queue with a rate limit, which only BullMQ's own script knows.
local function fetch_job(prefix, now_ms, token, lock_ms)
  local paused, most, rate = unpack(redis.call('HMGET', META, 'paused', 'concurrency', 'max'))
  if rate then return -100 end
  local function is_held()
    return paused or (most and redis.call('LLEN', ACTIVE) >= tonumber(most))
  end
  add_due_jobs(prefix, now_ms)
  local id = not is_held() and next_id()
  local delayed = redis.call('ZRANGE', DELAYED, 0, 0, 'WITHSCORES')[2]
  local due_ms = delayed and math.floor(delayed / 0x1000) or 0
  local waits = redis.call('LLEN', WAIT) > 0 or redis.call('EXISTS', PRIORITIZED) == 1
  if not waits then
    redis.call('ZREM', MARKER, '0')
  elseif not is_held() then
    redis.call('ZADD', MARKER, 0, '0')
  end
  if not id then return { 0, 0, due_ms, waits and 1 or 0 } end
  local job = prefix .. id
  redis.call('SET', job .. ':lock', token, 'PX', lock_ms)
  redis.call('HSET', job, 'processedOn', now_ms)
  redis.call('HINCRBY', job, 'ats', 1)
  return { redis.call('HGETALL', job), id, due_ms, waits and 1 or 0 }
end
