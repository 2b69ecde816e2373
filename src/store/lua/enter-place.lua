-- Takes one of a webhook's places for a delivery, with a token where its rate is limited, or lets it wait in line.
-- KEYS: 1 in flight (zset by expiry), 2 waiting (zset by arrival: a list would be searched for each that comes),
--       3 bucket
-- ARGV: 1 delivery JSON, 2 name of the place, 3 places, 4 milliseconds a place lives, 5 tokens a second (0: no limit)
-- Returns: 1 when the place is taken, 0 when the delivery waits; milliseconds until a token, if that is what it lacks
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local expiry = now + tonumber(ARGV[4])
local perSecond = tonumber(ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZSCORE', KEYS[1], ARGV[2]) then
  -- Called in: its place came with a token.
  redis.call('ZADD', KEYS[1], expiry, ARGV[2])
  return {1, 0}
end
local waitMs = 0
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[3]) then
  local taken = 1
  if perSecond > 0 then taken, waitMs = takeTokens(KEYS[3], perSecond, 1, now) end
  if taken == 1 then
    redis.call('ZADD', KEYS[1], expiry, ARGV[2])
    return {1, 0}
  end
end
redis.call('ZADD', KEYS[2], 'NX', now, ARGV[1])
return {0, waitMs}
