-- Reads what the archive of a silent emitter is to hold (event-snapshot.lua).
-- KEYS: those of `snapshot`
-- ARGV: 1 milliseconds after which an emitter is silent, 2 slots per millisecond
-- Returns: nothing if its events are not in Redis, or it was not silent for so long; else the digest and the list
local since = string.match(redis.call('GET', KEYS[1]) or '', '^here (%d+)$')
if not since then return {} end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = math.floor(tonumber(redis.call('GET', KEYS[2]) or '0') / tonumber(ARGV[2]))
if now - math.max(tonumber(since), last) < tonumber(ARGV[1]) then return {} end
local parts, digest = snapshot(KEYS)
table.insert(parts, 1, digest)
return parts
