-- Claims units of the reconciler's work that are due and that no process is at work on, those first that are due for the longest.
-- KEYS: 1 hash: unit → the moment until which no other process may claim it, and the token of the one that did
-- ARGV: 1 token, 2 milliseconds that a claim lasts, 3 milliseconds that a moment is ahead at most: the clock has gone back if
--       one is more, 4 most units to claim, 5 and on: units
-- Returns: how many more were due, then the units that were claimed
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local units = {unpack(ARGV, 5)}
local entries = redis.call('HMGET', KEYS[1], unpack(units))
local due = {}
for i, unit in ipairs(units) do
  local moment, token = string.match(entries[i] or '', '^(%d+) (.*)$')
  local at = tonumber(moment or '0')
  if at <= now or at > now + tonumber(ARGV[3]) or token == ARGV[1] then
    due[#due + 1] = {unit = unit, at = at}
  end
end
table.sort(due, function(one, other) return one.at < other.at end)
local claimed = {math.max(0, #due - tonumber(ARGV[4]))}
for i = 1, math.min(#due, tonumber(ARGV[4])) do
  redis.call('HSET', KEYS[1], due[i].unit, string.format('%.0f %s', now + ARGV[2], ARGV[1]))
  claimed[i + 1] = due[i].unit
end
return claimed
