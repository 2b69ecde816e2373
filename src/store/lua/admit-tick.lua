-- Admits a timer's tick, unless another one waits for its run or has covered its moment already.
-- KEYS: 1 run id of the timer run that waits, 2 '<ms> <run id>': when the last tick was admitted, and which it was
-- ARGV: 1 run id of this tick, 2 milliseconds at which it was due, 3 now in milliseconds, 4 seconds until both keys expire
-- Returns: 1 if it is admitted; the same tick may be admitted again, since its run has one identity
local waiting = redis.call('GET', KEYS[1])
if waiting and waiting ~= ARGV[1] then return 0 end
local last = redis.call('GET', KEYS[2])
if last then
  local at, run = string.match(last, '^(%d+) (.*)$')
  if run ~= ARGV[1] and tonumber(at) >= tonumber(ARGV[2]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[4])
redis.call('SET', KEYS[2], ARGV[3] .. ' ' .. ARGV[1], 'EX', ARGV[4])
return 1
