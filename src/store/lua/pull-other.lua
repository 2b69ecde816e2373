-- Looks for the first waiting job of another account than those that use their share of a worker, and makes it the next,
-- because the jobs before it can't start there.
-- KEYS: 1 waiting jobs (list), 2 prioritized jobs (zset), 3 positions of accounts (hash; see fair-order.lua)
-- ARGV: 1 most jobs looked at, 2 what the key of a job begins with, 3 and on: the accounts that use their share
-- Returns: 1 if there is one, else 0
local function is_other(id)
  local opts = redis.call('HGET', ARGV[2] .. id, 'opts') or ''
  -- Only a job of another producer lacks it. Its data, which may be large, names the account.
  local known = string.find(opts, '"account":', 1, true)
  local text = known and opts or redis.call('HGET', ARGV[2] .. id, 'data') or ''
  for i = 3, #ARGV do
    if string.find(text, '"' .. ARGV[i] .. '"', 1, true) then return false end
  end
  return true
end

local most = tonumber(ARGV[1])
-- BullMQ takes the plain list from its end, then the prioritized jobs from the lowest score.
local plain = redis.call('LRANGE', KEYS[1], -most, -1)
for i = #plain, 1, -1 do
  if is_other(plain[i]) then
    if i < #plain then
      redis.call('LREM', KEYS[1], -1, plain[i])
      redis.call('RPUSH', KEYS[1], plain[i])
    end
    return 1
  end
end
-- A prioritized job was counted: if no other account was, there is nothing to look for.
local counted = redis.call('HLEN', KEYS[3]) - redis.call('HEXISTS', KEYS[3], 'turn')
for i = 3, #ARGV do counted = counted - redis.call('HEXISTS', KEYS[3], 'of ' .. ARGV[i]) end
if counted <= 0 then return 0 end
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, most - 1)) do
  if is_other(id) then
    redis.call('ZREM', KEYS[2], id)
    redis.call('RPUSH', KEYS[1], id)
    return 1
  end
end
return 0
