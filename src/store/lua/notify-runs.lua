-- Names the notification of a source's runs: the present one, or a new one.
-- KEYS: 1 notification (string: '<name> <milliseconds>')
-- ARGV: 1 milliseconds until the notification expires, 2 name for a new notification, 3 name that must not be used any more,
--       or ''
-- Returns: the name
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local name = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) %d+$')
if not name or name == ARGV[3] then name = ARGV[2] end
redis.call('SET', KEYS[1], name .. ' ' .. string.format('%.0f', now), 'PX', ARGV[1])
return name
