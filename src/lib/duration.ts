const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The pattern of a text that `durationMs` reads. */
export const DURATION = "[0-9]+(ms|s|m|h|d)";

/** Returns the milliseconds of a text such as `5s`, `10m` or `24h`; NaN for any other text. */
export function durationMs(text: string): number {
  const [, amount, unit] = /^([0-9]+)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  return Number(amount) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
}
