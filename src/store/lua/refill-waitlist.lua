-- Adds deliveries that wait in MongoDB to the waitlist, in the order given, up to its bound. Leaves out those that are on it
-- or hold a permit. Clears the overflow if nothing is left behind, and none was added to it since its count was read.
-- KEYS: 1 permits (zset by expiry), 2 waitlist (zset by arrival), 3 overflow (hash: count, asked_at)
-- ARGV: 1 how many the waitlist may hold, 2 the overflow's count as it was read ('': none), 3 '1' if no more deliveries
--       wait in MongoDB, 4 milliseconds until the overflow expires, 5 and on, for each delivery: job JSON, and the permit's
--       name of this generation and of the one before
-- Returns: how many were added; 1 if the waitlist is full
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local room = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[2])
local added = 0
local isAll = ARGV[3] == '1'
for i = 5, #ARGV, 3 do
  local isHeld = redis.call('ZSCORE', KEYS[1], ARGV[i + 1]) or redis.call('ZSCORE', KEYS[1], ARGV[i + 2])
  if not isHeld and not redis.call('ZSCORE', KEYS[2], ARGV[i]) then
    if added >= room then
      isAll = false
      break
    end
    -- Fractions of a millisecond keep their order.
    redis.call('ZADD', KEYS[2], now + added / 2048, ARGV[i])
    added = added + 1
  end
end
-- What was added may all be gone before another refill would be asked for otherwise.
redis.call('HDEL', KEYS[3], 'asked_at')
local count = redis.call('HGET', KEYS[3], 'count') or ''
if not isAll then
  if count == '' then redis.call('HSET', KEYS[3], 'count', 1) end
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
elseif count == ARGV[2] then
  redis.call('DEL', KEYS[3])
end
return {added, added >= room and 1 or 0}
