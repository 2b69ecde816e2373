-- Adds an emitter's archive to what Redis has of it, and notes that its events are in Redis, all or nothing.
-- KEYS: 1 place, 2 last score, 3 drops (hash), then for each stream its event ids (zset) and its summaries (hash)
-- ARGV: 1 when the archive was about to be read, in Redis' own milliseconds, 2 milliseconds for which it is believed after
--       that, 3 its version or '', 4 events kept, 5 its last score or 0, then the drops and each stream, each as a length and
--       so many values: reason and count; score, event id and summary
-- Returns: 1; 0 if the archive must be read again, because this one may be outdated
local place = redis.call('GET', KEYS[1]) or ''
if is_here(place) then return 1 end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if now - tonumber(ARGV[1]) > tonumber(ARGV[2]) then return 0 end
local version = string.match(place, '^archive (.*)$')
if version and version ~= ARGV[3] then return 0 end

local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[5]) > last then redis.call('SET', KEYS[2], ARGV[5]) end
local at = 6
local function read_values()
  local first = at + 1
  at = first + tonumber(ARGV[at])
  return first, at - 1
end
local first, final = read_values()
for i = first, final, 2 do redis.call('HINCRBY', KEYS[3], ARGV[i], ARGV[i + 1]) end
for k = 4, #KEYS, 2 do
  first, final = read_values()
  for i = first, final, 3 do
    redis.call('ZADD', KEYS[k], ARGV[i], ARGV[i + 1])
    redis.call('HSET', KEYS[k + 1], ARGV[i + 1], ARGV[i + 2])
  end
  local old = redis.call('ZRANGE', KEYS[k], 0, -1 - tonumber(ARGV[4]))
  if #old > 0 then
    redis.call('ZREM', KEYS[k], unpack(old))
    redis.call('HDEL', KEYS[k + 1], unpack(old))
  end
end
redis.call('SET', KEYS[1], string.format('here %.0f', now))
return 1
