-- Takes as many of a webhook's places as are free, for whoever asks for them in one go.
-- KEYS: 1 in flight (zset by expiry)
-- ARGV: 1 places, 2 milliseconds a place lives, 3 and on: a name for each place asked for
-- Returns: how many were taken, the first names first; one that is held already under its name counts
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local free = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])
local taken = 0
for i = 3, #ARGV do
  if not redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    if free <= 0 then return taken end
    free = free - 1
  end
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[i])
  taken = taken + 1
end
return taken
