-- KEYS: 1 place
-- Returns: the place, or ''; the time in milliseconds
local time = redis.call('TIME')
return { redis.call('GET', KEYS[1]) or '', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) }
