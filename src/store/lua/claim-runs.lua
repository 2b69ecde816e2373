-- Gives the holder of a source's lease its next runs; the first caller becomes the holder.
-- KEYS: 1 change queue (list), 2 run queue (list), 3 claimed runs (list), 4 lease, 5 notification, 6 crashes, 7 settled
--       runs (hash)
-- ARGV: 1 the caller's token, 2 milliseconds until the lease expires, 3 most runs, 4 milliseconds until crashes are
--       forgotten, 5 bytes after which no further run is claimed
-- A token is '<execution> <job>': the same job, started again after a stall, takes over its own lease, and from then on
-- its earlier execution holds nothing, even if it is still alive.
-- Returns: {'busy'} if another caller holds the lease; {'empty'} if nothing waits, and the lease is released;
--          {'runs', 0, claimed, settled, JSON...}; {'runs', n, claimed, settled, JSON} for a run that n holders started and
--          did not finish; `claimed` is how many runs are claimed now, `settled` how many times some were settled whose
--          records are not stored yet
local holder = redis.call('GET', KEYS[4])
local function job(token) return string.match(token, ' (.*)$') or token end
if holder and job(holder) ~= job(ARGV[1]) then return { 'busy' } end
redis.call('DEL', KEYS[5])
local result = { 'runs', 0, 0, 0 }
-- What an earlier holder left claimed comes first, one at a time, so that it is known which run crashes its holders.
local left = redis.call('LINDEX', KEYS[3], 0)
if left then
  result[2] = redis.call('INCR', KEYS[6])
  redis.call('PEXPIRE', KEYS[6], ARGV[4])
  result[5] = left
else
  local change = redis.call('LMOVE', KEYS[1], KEYS[3], 'LEFT', 'RIGHT')
  if change then
    result[5] = change
  else
    local bytes = 0
    for i = 1, tonumber(ARGV[3]) do
      local run = redis.call('LMOVE', KEYS[2], KEYS[3], 'LEFT', 'RIGHT')
      if not run then break end
      result[4 + i] = run
      bytes = bytes + #run
      if bytes >= tonumber(ARGV[5]) then break end
    end
  end
end
if not result[5] then
  redis.call('DEL', KEYS[4])
  return { 'empty' }
end
redis.call('SET', KEYS[4], ARGV[1], 'PX', ARGV[2])
result[3] = redis.call('LLEN', KEYS[3])
result[4] = redis.call('HLEN', KEYS[7])
return result
