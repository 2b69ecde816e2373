-- Reserves consecutive event ids, so that emissions keep their order whatever the order in which they are handled.
-- KEYS: 1 last score, 2 unhandled emissions (counter)
-- ARGV: 1 how many, 2 slots per millisecond, 3 milliseconds until an unchanged counter expires
-- Returns: the first score
local slots = tonumber(ARGV[2])
local time = redis.call('TIME')
local first = (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)) * slots
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
if first <= last then first = last + 1 end
redis.call('SET', KEYS[1], string.format('%.0f', first + tonumber(ARGV[1]) - 1))
redis.call('INCRBY', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return string.format('%.0f', first)
