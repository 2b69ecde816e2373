-- Gives the holder of a source's lease its next run; the first to ask becomes the holder.
-- KEYS: 1 line (list), 2 current, 3 lease, 4 wake flag
-- ARGV: 1 token of who asks, 2 milliseconds the lease lives
-- A token is '<execution> <job>': the same job, given out again after a stall, takes its own lease over, and from then
-- on its earlier execution, should it still be alive, holds nothing any more.
-- Returns: {'busy'} another holds the lease, {'empty'} nothing waits and the lease is given back, {'run', JSON}
local holder = redis.call('GET', KEYS[3])
local function job(token) return string.match(token, ' (.*)$') or token end
if holder and job(holder) ~= job(ARGV[1]) then return { 'busy' } end
redis.call('DEL', KEYS[4])
-- A run that its last holder did not finish comes first.
local run = redis.call('GET', KEYS[2])
if not run then
  run = redis.call('LPOP', KEYS[1])
  if run then redis.call('SET', KEYS[2], run) end
end
if not run then
  redis.call('DEL', KEYS[3])
  return { 'empty' }
end
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[2])
return { 'run', run }
