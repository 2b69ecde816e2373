import { InvalidArgumentError } from "commander";
import { durationMs } from "../../lib/duration.ts";

/** Parses a moment: a date (`2026-11-23T10:00:00Z`), Unix seconds, or how long ago (`2h`, `30m`). Returns Unix seconds. */
export function parseTime(text: string, now = Date.now()): number {
  if (/^\d{1,8}$/.test(text)) {
    throw new InvalidArgumentError(
      `lacks its unit: ${text}m are minutes ago, ${text}h hours, ${text}d days; Unix seconds have more digits`,
    );
  }
  const ago = durationMs(text);
  const ms = Number.isNaN(ago)
    ? /^\d{1,11}$/.test(text)
      ? Number(text) * 1000
      : Date.parse(text)
    : now - ago;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError("must be a date, Unix seconds, or a time ago such as 2h or 30m");
  return Math.max(0, Math.floor(ms / 1000));
}
