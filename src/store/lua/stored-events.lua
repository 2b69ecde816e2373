-- Whether a place says that an emitter's events are in Redis.
local function is_here(place)
  return string.sub(place or '', 1, 5) == 'here '
end

-- Appends to a list the id and the summary of each of these events that has one in the hash.
local function add_summaries(list, hash, ids)
  if #ids == 0 then return end
  for i, summary in ipairs(redis.call('HMGET', hash, unpack(ids))) do
    if summary then
      list[#list + 1] = ids[i]
      list[#list + 1] = summary
    end
  end
end
