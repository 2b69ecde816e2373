import { CronExpressionParser } from "cron-parser";

/** The nicknames of crontab(5); the fields that they mean are stored and shown. */
const NICKNAMES: Record<string, string> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** The fields in their order, with their least and greatest values. */
const FIELDS = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12 },
  { name: "day of week", min: 0, max: 6 },
] as const;
const FIELD_NAMES = FIELDS.map(field => field.name).join(", ");

// Names of months and days, and L for the last one. H is left out: it would be a different time at each reading.
const WORDS = /\b(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)\b|L/gi;

/** Returns the fields of an expression, separated by single spaces; those that a nickname such as `@daily` means. */
export function readCron(text: string): string {
  const cron = text.trim().split(/\s+/).join(" ");
  const nickname = cron.toLowerCase();
  return Object.hasOwn(NICKNAMES, nickname) ? (NICKNAMES[nickname] as string) : cron;
}

/**
 * Says why an expression from `readCron` can't be used, and by which of its fields; null if it can. What passes comes due in
 * this time zone; a step may be too large: see `stepFault`.
 */
export function cronFault(cron: string, timezone: string): string | null {
  if (cron.startsWith("@")) return `must have five fields, or be one of ${Object.keys(NICKNAMES).join(", ")}`;
  const fields = cron.split(" ");
  if (fields.length !== FIELDS.length) return `must have five fields: ${FIELD_NAMES}`;
  if (/[^0-9*/,?#\s-]/.test(cron.replace(WORDS, ""))) {
    return "contains a character that is not allowed in a cron expression";
  }
  const parse = (expression: string): string | null => {
    try {
      // Also rejects an expression that never comes due, such as 30 February.
      CronExpressionParser.parse(expression, { tz: timezone }).next();
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const fault = parse(cron);
  if (fault === null) return null;
  for (const [i, { name }] of FIELDS.entries()) {
    const alone = parse(FIELDS.map((_, at) => (at === i ? fields[i] : "*")).join(" "));
    if (alone !== null) return `has a value of the ${name} that can't be used: ${alone}`;
  }
  return `is not a cron expression that comes due: ${fault}`;
}

/**
 * Says which step of a usable expression is greater than its field has values, such as every 100th minute, which would be
 * once an hour; null if none is. Earlier releases stored such expressions, so that only what is given is checked.
 */
export function stepFault(cron: string): string | null {
  const fields = cron.split(" ");
  for (const [i, { name, min, max }] of FIELDS.entries()) {
    const most = max - min + 1;
    const steps = (fields[i] ?? "").split(",").map(item => Number(item.split("/")[1] ?? 1));
    if (steps.some(step => step > most)) return `has a step of the ${name} that is more than ${most}`;
  }
  return null;
}
