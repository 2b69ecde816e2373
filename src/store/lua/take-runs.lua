-- Gives the holder of a source's lease its next runs; the first to ask becomes the holder.
-- KEYS: 1 changes (list), 2 line (list), 3 in hand (list), 4 lease, 5 wake flag, 6 deaths
-- ARGV: 1 token of who asks, 2 milliseconds the lease lives, 3 most runs, 4 milliseconds that deaths are remembered,
--       5 bytes after which no further run is given
-- A token is '<execution> <job>': the same job, given out again after a stall, takes its own lease over, and from then
-- on its earlier execution, should it still be alive, holds nothing any more.
-- Returns: {'busy'} another holds the lease; {'empty'} nothing waits and the lease is given back; {'runs', 0, JSON...};
--          {'runs', n, JSON} for a run that n holders before this one began and did not finish
local holder = redis.call('GET', KEYS[4])
local function job(token) return string.match(token, ' (.*)$') or token end
if holder and job(holder) ~= job(ARGV[1]) then return { 'busy' } end
redis.call('DEL', KEYS[5])
local answer = { 'runs', 0 }
-- What a holder left behind comes first, one by one, so that it is known which one ends its holders.
local left = redis.call('LINDEX', KEYS[3], 0)
if left then
  answer[2] = redis.call('INCR', KEYS[6])
  redis.call('PEXPIRE', KEYS[6], ARGV[4])
  answer[3] = left
else
  local change = redis.call('LMOVE', KEYS[1], KEYS[3], 'LEFT', 'RIGHT')
  if change then
    answer[3] = change
  else
    local bytes = 0
    for i = 1, tonumber(ARGV[3]) do
      local run = redis.call('LMOVE', KEYS[2], KEYS[3], 'LEFT', 'RIGHT')
      if not run then break end
      answer[2 + i] = run
      bytes = bytes + #run
      if bytes >= tonumber(ARGV[5]) then break end
    end
  end
end
if not answer[3] then
  redis.call('DEL', KEYS[4])
  return { 'empty' }
end
redis.call('SET', KEYS[4], ARGV[1], 'PX', ARGV[2])
return answer
