-- Removes jobs that are done from those noted for an account.
-- KEYS: 1 the account's jobs (list of '<bytes> <job id>'), 2 their bytes (counter)
-- ARGV: the entries to remove
-- Returns: the jobs that are left, and their bytes
for i = 1, #ARGV do
  if redis.call('LREM', KEYS[1], 1, ARGV[i]) == 1 then
    redis.call('DECRBY', KEYS[2], string.match(ARGV[i], '^(%d+) '))
  end
end
local jobs = redis.call('LLEN', KEYS[1])
if jobs == 0 then redis.call('DEL', KEYS[2]) end
return { jobs, tonumber(redis.call('GET', KEYS[2]) or '0') }
