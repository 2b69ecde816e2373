-- Acquires as many of a webhook's free permits as were asked for, without tokens and without the waitlist.
-- KEYS: 1 permits (zset by expiry), 2 waitlist (zset by arrival)
-- ARGV: 1 permits in all, 2 milliseconds until a permit expires, 3 and on: a name for each permit asked for
-- Returns: how many were acquired, the first names first; a name that already holds a permit counts. Then how many wait
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local free = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])
local acquired = 0
for i = 3, #ARGV do
  if not redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    if free <= 0 then break end
    free = free - 1
  end
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[i])
  acquired = acquired + 1
end
return {acquired, redis.call('ZCARD', KEYS[2])}
