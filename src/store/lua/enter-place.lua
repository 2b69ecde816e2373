-- Takes one of a webhook's places for a delivery, or lets it wait in line.
-- KEYS: 1 in flight (zset by expiry), 2 waiting (zset by arrival: a list would be searched for each that comes)
-- ARGV: 1 delivery JSON, 2 delivery id, 3 places, 4 milliseconds a place lives
-- Returns: 1 when the place is taken, 0 when the delivery waits
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZSCORE', KEYS[1], ARGV[2]) or redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[4]), ARGV[2])
  return 1
end
redis.call('ZADD', KEYS[2], 'NX', now, ARGV[1])
return 0
