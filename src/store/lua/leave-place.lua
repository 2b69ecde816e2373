-- Gives places back and says which waiting deliveries may come.
-- KEYS: 1 in flight (zset by expiry), 2 waiting (zset by arrival)
-- ARGV: 1 places, 2 and on: the names of the places given back
-- Returns: the JSON of each that may come
for i = 2, #ARGV do redis.call('ZREM', KEYS[1], ARGV[i]) end
local free = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])
local next = {}
while free > 0 do
  local waiting = redis.call('ZPOPMIN', KEYS[2])[1]
  if not waiting then break end
  next[#next + 1] = waiting
  free = free - 1
end
return next
