-- Stores a reply until the process that waits for it reads it, and publishes its name there. Of several replies to one
-- run the first one counts.
-- KEYS: 1 reply
-- ARGV: 1 the reply, 2 milliseconds until it expires, 3 the process's channel, 4 what is published
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then
  redis.call('PUBLISH', ARGV[3], ARGV[4])
end
