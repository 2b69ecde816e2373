-- Reserves consecutive event ids, so that emissions keep their order whatever the order in which they are handled.
-- `keys`: 1 last score, 2 unhandled emissions (counter)
-- `args`: 1 how many, 2 slots per millisecond, 3 milliseconds until an unchanged counter expires
-- Returns: the first score, as text
local function reserve(keys, args)
  local slots = tonumber(args[2])
  local time = redis.call('TIME')
  local first = (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)) * slots
  local last = tonumber(redis.call('GET', keys[1]) or '0')
  if first <= last then first = last + 1 end
  redis.call('SET', keys[1], string.format('%.0f', first + tonumber(args[1]) - 1))
  redis.call('INCRBY', keys[2], args[1])
  redis.call('PEXPIRE', keys[2], args[3])
  return string.format('%.0f', first)
end
