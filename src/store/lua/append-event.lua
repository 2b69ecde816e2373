-- Gives an emission its event id, stores its summary and trims the stream, all or nothing.
-- KEYS: 1 last score, 2 ids (zset), 3 summaries (hash), 4 seen (hash), 5 seen order (zset)
-- ARGV: 1 emit id, 2 summary JSON, 3 events kept, 4 emit ids remembered, 5 feed channel, 6 slots per millisecond,
--       7 score reserved before, or ''
-- Returns: event score, 1 when new or 0 when this emit id was stored before, then the event ids trimmed away
local seen = redis.call('HGET', KEYS[4], ARGV[1])
if seen then return { seen, 0 } end

local slots = tonumber(ARGV[6])
local time = redis.call('TIME')
local now = (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)) * slots
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
local score = now
-- Strictly above the last one, whatever the clock did: the next slot of the last millisecond seen.
if score <= last then score = last + 1 end
-- A reserved score was once given by us, so it is not above the last one and nobody else has it.
local reserved = tonumber(ARGV[7])
if reserved and reserved <= last and not redis.call('ZSCORE', KEYS[2], string.format('%.0f-%.0f', math.floor(reserved / slots), reserved % slots)) then
  score = reserved
end
local text = string.format('%.0f', score)
local id = string.format('%.0f-%.0f', math.floor(score / slots), score % slots)

if score > last then redis.call('SET', KEYS[1], text) end
redis.call('ZADD', KEYS[2], text, id)
redis.call('HSET', KEYS[3], id, ARGV[2])
redis.call('HSET', KEYS[4], ARGV[1], text)
redis.call('ZADD', KEYS[5], text, ARGV[1])

local answer = { text, 1 }
local over = redis.call('ZRANGE', KEYS[2], 0, -1 - tonumber(ARGV[3]))
for _, old in ipairs(over) do
  redis.call('ZREM', KEYS[2], old)
  redis.call('HDEL', KEYS[3], old)
  answer[#answer + 1] = old
end
local forgotten = redis.call('ZRANGE', KEYS[5], 0, -1 - tonumber(ARGV[4]))
for _, old in ipairs(forgotten) do
  redis.call('ZREM', KEYS[5], old)
  redis.call('HDEL', KEYS[4], old)
end
redis.call('PUBLISH', ARGV[5], id .. ' ' .. ARGV[2])
return answer
