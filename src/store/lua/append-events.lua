-- Gives the emissions of one stream their event ids, in order, stores their summaries and trims the stream, all or
-- nothing.
-- KEYS: 1 last score, 2 event ids (zset), 3 summaries (hash), 4 the newest emit ids seen (zset by score), 5 drops
--       (hash), 6 further emit ids seen a moment ago (zset by score), 7 unhandled emissions (counter), 8 newest stored
--       score, 9 events stored late (zset by time), 10 place of the emitter's events
-- ARGV: 1 events kept, 2 newest emit ids remembered, 3 milliseconds for which each further one is remembered, 4 most
--       further ones, 5 milliseconds for which the newest are remembered after the last emission, 6 feed channel, 7 slots
--       per millisecond, 8 milliseconds for which late events are remembered, then for each emission: emit id, summary
--       JSON, the score reserved for it or '', 1 if the summary is truncated, else 0
-- Returns: for each emission its score, and 1 if it is new or 0 if this emit id was stored before; then the ids of
--          trimmed events whose payload is stored in MongoDB. `absent` alone if the emitter's events may be in its
--          archive; then nothing is stored
if not is_here(redis.call('GET', KEYS[10])) then return { 'absent' } end
local kept = tonumber(ARGV[1])
local remembered = tonumber(ARGV[2])
local slots = tonumber(ARGV[7])
local time = redis.call('TIME')
local now = (tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)) * slots
local before = tonumber(redis.call('GET', KEYS[1]) or '0')
local last = before
local newest = tonumber(redis.call('GET', KEYS[8]) or '0')
local newestBefore = newest
local function event_id(score)
  return string.format('%.0f-%.0f', math.floor(score / slots), score % slots)
end

-- Calls a command with many values, in parts: Lua passes some thousands at a time.
local function call_all(command, key, values)
  local replies = {}
  for first = 1, #values, 1000 do
    local part = redis.call(command, key, unpack(values, first, math.min(first + 999, #values)))
    if type(part) == 'table' then
      for _, reply in ipairs(part) do replies[#replies + 1] = reply end
    end
  end
  return replies
end

local emits = {}
for i = 9, #ARGV, 4 do emits[#emits + 1] = ARGV[i] end
local seen = call_all('ZMSCORE', KEYS[4], emits)
local seenFurther = redis.call('EXISTS', KEYS[6]) == 1 and call_all('ZMSCORE', KEYS[6], emits) or {}

local result = {}
local given = {}
local ids = {}
local scores = {}
local summaries = {}
local emitScores = {}
local late = {}
local truncated = 0
local awaited = 0
for n, emit in ipairs(emits) do
  local i = 5 + 4 * n
  local known = given[emit] or seen[n] or seenFurther[n]
  if known then
    result[#result + 1] = string.format('%.0f', known)
    result[#result + 1] = 0
  else
    local score = now
    -- Strictly above the last one, even if the clock went back: the next slot of the last millisecond seen.
    if score <= last then score = last + 1 end
    -- A score that was really reserved is not above the last one, and no other event has it. If a failover has lost the
    -- reservation, it is not in the future either: without it, an event that was delivered would come a second time.
    local reserved = tonumber(ARGV[i + 2])
    if reserved and reserved <= math.max(last, now + 1000 * slots) then
      local id = event_id(reserved)
      if not ids[id] and not redis.call('ZSCORE', KEYS[2], id) then score = reserved end
    end
    local text = string.format('%.0f', score)
    local id = event_id(score)
    given[emit] = text
    ids[id] = true
    if score > last then last = score end
    if score > newest then
      newest = score
    else
      -- A reader that has seen a later event must still find this one when it resumes.
      late[#late + 1] = math.floor(now / slots)
      late[#late + 1] = id
    end
    scores[#scores + 1] = text
    scores[#scores + 1] = id
    summaries[#summaries + 1] = id
    summaries[#summaries + 1] = ARGV[i + 1]
    emitScores[#emitScores + 1] = text
    emitScores[#emitScores + 1] = emit
    result[#result + 1] = text
    result[#result + 1] = 1
    if reserved then awaited = awaited + 1 end
    truncated = truncated + tonumber(ARGV[i + 3])
  end
end
if #scores == 0 then return result end
call_all('ZADD', KEYS[2], scores)
call_all('HSET', KEYS[3], summaries)
call_all('ZADD', KEYS[4], emitScores)
for i = 1, #summaries, 2 do redis.call('PUBLISH', ARGV[6], summaries[i] .. ' ' .. summaries[i + 1]) end
if awaited > 0 and redis.call('EXISTS', KEYS[7]) == 1 and redis.call('DECRBY', KEYS[7], awaited) <= 0 then
  redis.call('DEL', KEYS[7])
end
if truncated > 0 then redis.call('HINCRBY', KEYS[5], 'truncated', truncated) end
if last > before then redis.call('SET', KEYS[1], string.format('%.0f', last)) end

if newest > newestBefore then redis.call('SET', KEYS[8], string.format('%.0f', newest), 'PX', ARGV[5]) end
if #late > 0 then
  call_all('ZADD', KEYS[9], late)
  redis.call('ZREMRANGEBYRANK', KEYS[9], 0, -1 - 3 * kept)
  redis.call('PEXPIRE', KEYS[9], ARGV[8])
end

local old = redis.call('ZRANGE', KEYS[2], 0, -1 - kept)
if #old > 0 then
  for i, summary in ipairs(call_all('HMGET', KEYS[3], old)) do
    if summary and string.find(summary, '"truncated":true', 1, true) then result[#result + 1] = old[i] end
  end
  call_all('HDEL', KEYS[3], old)
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - kept)
end

-- A burst's emit ids move to a key of their own, which expires although the emitter may fall silent after it.
redis.call('PEXPIRE', KEYS[4], ARGV[5])
local excess = redis.call('ZCARD', KEYS[4]) - remembered
if excess > 0 then
  local moved = redis.call('ZPOPMIN', KEYS[4], excess)
  for i = 1, #moved, 2 do moved[i], moved[i + 1] = moved[i + 1], moved[i] end
  call_all('ZADD', KEYS[6], moved)
  redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', string.format('(%.0f', now - tonumber(ARGV[3]) * slots))
  redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -1 - tonumber(ARGV[4]))
  redis.call('PEXPIRE', KEYS[6], ARGV[3])
end
return result
