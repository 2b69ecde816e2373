-- KEYS: 1 place, then the summaries (hash) of each stream
-- ARGV: 1 event id
-- Returns: the place, or ''; the event's summary, or ''
local reply = { redis.call('GET', KEYS[1]) or '', '' }
for i = 2, #KEYS do
  local summary = redis.call('HGET', KEYS[i], ARGV[1])
  if summary then reply[2] = summary end
end
return reply
