-- Admits a timer's tick, unless an earlier one still waits for its run or has covered its moment already. Whether one
-- waits is read from the source's own lists: a mark that a killed worker left behind must not stop the timer.
-- KEYS: 1 '<run id> <JSON>' of the tick that was admitted last, until its run starts, 2 '<ms> <run id>': when the last tick
--       was admitted, and which it was, 3 run queue (list), 4 claimed runs (list)
-- ARGV: 1 run id of this tick, 2 milliseconds at which it is due, 3 JSON of its run, 4 milliseconds by which it may come
--       early, 5 milliseconds until both keys expire
-- Returns: 'admitted'; 'repeated': this tick was admitted before, and its mark is left as it is; 'overlap'; 'early'
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local due = tonumber(ARGV[2])
if due > now + tonumber(ARGV[4]) then return 'early' end
local last = redis.call('GET', KEYS[2])
if last then
  local at, run = string.match(last, '^(%d+) (.*)$')
  if run == ARGV[1] then return 'repeated' end
  at = tonumber(at)
  -- A moment that is still to come was written before the clock of Redis went back.
  if at >= due and at <= now then return 'overlap' end
end
local mark = redis.call('GET', KEYS[1])
local waiting = mark and string.match(mark, '^%S+ (.*)$')
if waiting and (redis.call('LPOS', KEYS[3], waiting) or redis.call('LPOS', KEYS[4], waiting)) then
  return 'overlap'
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[3], 'PX', ARGV[5])
redis.call('SET', KEYS[2], string.format('%.0f', now) .. ' ' .. ARGV[1], 'PX', ARGV[5])
return 'admitted'
