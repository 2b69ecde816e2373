-- Acquires as many of a webhook's free permits as were asked for, without tokens.
-- KEYS: 1 permits (zset by expiry), 2 marks of its drains (zset by expiry: `backlog`, `again`, and the drain under way)
-- ARGV: 1 permits in all, 2 milliseconds until a permit expires, 3 '1' if a backlog goes first, 4 and on: a name for each
--       permit asked for
-- Returns: how many were acquired, the first names first; a name that already holds a permit counts. Then 1 if a backlog
--          took precedence
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local most = tonumber(ARGV[1])
local isSecond = 0
if ARGV[3] == '1' and tonumber(redis.call('ZSCORE', KEYS[2], 'backlog') or 0) > now then
  -- Half of the permits are left to what has waited for longer.
  most = math.floor(most / 2)
  isSecond = 1
end
local free = most - redis.call('ZCARD', KEYS[1])
local acquired = 0
for i = 4, #ARGV do
  if not redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    if free <= 0 then break end
    free = free - 1
  end
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[i])
  acquired = acquired + 1
end
return {acquired, isSecond}
