const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
// Long, because a medium time has no zone.
const absolute = new Intl.DateTimeFormat(undefined, {
  ...{ dateStyle: "medium", timeStyle: "long" },
  // As all other clocks here.
  hourCycle: "h23",
});
const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hour12: false,
});

/** "5 min ago", "in 2 h": of Unix milliseconds. */
export function ago(ms: number, now: number): string {
  const distance = ms - now;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(distance) >= size) ?? ["second", 1000];
  return relative.format(Math.round(distance / size), unit);
}

/** Date and time in the reader's zone, which it names. */
export const exactTime = (ms: number): string => absolute.format(ms);

const day = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});

/** Day and time in the reader's zone, as briefly as beside "5 min ago". */
export const dayTime = (ms: number): string => day.format(ms);

/** The time of day with milliseconds. */
export const clockTime = (ms: number): string => clock.format(ms);

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat("en");

export const count = (value: number): string =>
  value < 100_000 ? plain.format(value) : compact.format(value);

/** A number with its noun: "1 event", "2 events". */
export const counted = (value: number, noun: string, plural = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : plural}`;

export function duration(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}

const inTenths = (value: number): string => value.toFixed(1).replace(/\.0$/, "");

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(0)} KB`;
  if (value < 1024 ** 3) return `${inTenths(value / 1024 ** 2)} MB`;
  return `${inTenths(value / 1024 ** 3)} GB`;
}

/** Deliveries that arrived, of those that ended; in percent. */
export function successRate({ delivered, failed }: { delivered: number; failed: number }): string {
  const ended = delivered + failed;
  if (ended === 0) return "–";
  const percent = (100 * delivered) / ended;
  return `${percent === 100 || percent < 10 ? Math.round(percent) : percent.toFixed(1)}%`;
}

/** With a capital letter. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `signing_key` → "Signing key". */
export const words = (name: string): string =>
  name === "http" ? "HTTP" : sentence(name.replaceAll(/[_.-]+/g, " "));
