-- Reserves consecutive event ids (reserve.lua).
-- KEYS, ARGV: those of `reserve`
-- Returns: the first score
return reserve(KEYS, ARGV)
