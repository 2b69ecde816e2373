-- Reads everything of an emitter that its archive holds.
-- `keys`: 1 place, 2 last score, 3 drops (hash), then for each stream its event ids (zset) and its summaries (hash)
-- Returns: a list (last score or '', then the drops and each stream, each as a length and so many values: reason and
--          count, event id and summary), and a digest of it and of the place
local function snapshot(keys)
  local parts = { redis.call('GET', keys[2]) or '' }
  local function add(values)
    parts[#parts + 1] = tostring(#values)
    for _, value in ipairs(values) do parts[#parts + 1] = value end
  end
  add(redis.call('HGETALL', keys[3]))
  for i = 4, #keys, 2 do
    local events = {}
    add_summaries(events, keys[i + 1], redis.call('ZRANGE', keys[i], 0, -1))
    add(events)
  end
  local place = redis.call('GET', keys[1]) or ''
  return parts, redis.sha1hex(place .. '\n' .. table.concat(parts, '\n'))
end
