-- Reads what decides when BullMQ's job schedulers tick, of many at once.
-- KEYS: 1 BullMQ's set of schedulers (zset by next tick); their hashes have its name and theirs
-- ARGV: their ids
-- Returns: for each the milliseconds of its next tick, interval in milliseconds, cron pattern and zone; '' for what it has not
local reply = {}
for _, id in ipairs(ARGV) do
  local next = redis.call('ZSCORE', KEYS[1], id)
  local fields = next and redis.call('HMGET', KEYS[1] .. ':' .. id, 'every', 'pattern', 'tz') or {}
  reply[#reply + 1] = next or ''
  for i = 1, 3 do reply[#reply + 1] = fields[i] or '' end
end
return reply
