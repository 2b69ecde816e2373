-- Releases permits of a webhook, and ends a drain of it.
-- KEYS: 1 permits (zset by expiry), 2 marks of its drains (zset by expiry: `backlog`, `again`, and the drain under way)
-- ARGV: 1 permits in all, 2 name of the drain that ends ('': none does), 3 '1' if it leaves a backlog, 4 milliseconds until
--       the mark of a backlog expires, 5 and on: names of the permits to release
-- Returns: 1 if the webhook must be drained: a backlog has a free permit and no drain, or a drain found this one under way
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
for i = 5, #ARGV do redis.call('ZREM', KEYS[1], ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local isFree = redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[1])
if ARGV[2] ~= '' then
  redis.call('ZREM', KEYS[2], ARGV[2])
  local isAgain = redis.call('ZREM', KEYS[2], 'again') == 1
  if ARGV[3] == '1' or isAgain then
    redis.call('ZADD', KEYS[2], now + tonumber(ARGV[4]), 'backlog')
  else
    redis.call('ZREM', KEYS[2], 'backlog')
  end
  return isAgain and isFree and 1 or 0
end
-- A drain under way takes the permit itself, or has another one follow.
local hasBacklog = redis.call('ZSCORE', KEYS[2], 'backlog')
return hasBacklog and isFree and redis.call('ZCARD', KEYS[2]) == 1 and 1 or 0
