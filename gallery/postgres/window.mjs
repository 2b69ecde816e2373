/** Names of rows that are remembered: a db of 60 KB holds twice as many, with those of the look before. */
export const REMEMBERED = 2000;

/**
 * Opens what a source knows of rows in their order, to which rows are added at the end, and a little before it: those whose transaction
 * commits late. Every row up to `low` has been looked at, and behind it those whose names are in `seen`. `overlap` is how far the order's
 * values of these may lie behind the newest one; `isTime` if they are Unix seconds, of which one may be in the future.
 */
export function openWindow({ low, seen } = { low: null, seen: [] }, { overlap, isTime }) {
  const toCome = new Set(seen);
  const rows = [];
  return {
    has: ({ name }) => toCome.has(name),
    /** Adds rows that have been looked at, in their order, and behind those before. */
    add(looked) {
      for (const row of looked) toCome.delete(row.name);
      rows.push(...looked);
    },
    /** Returns what to know at the next look. `isWhole`: there are no rows behind these. */
    state(isWhole) {
      const newest = rows.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
      const bound = (isTime ? Math.min(newest, Date.now() / 1000) : newest) - overlap;
      const inside = rows.findIndex(({ value }) => value >= bound);
      const from = Math.max(inside === -1 ? rows.length : inside, rows.length - REMEMBERED);
      const names = rows.slice(from).map(({ name }) => name);
      return { low: rows[from - 1]?.position ?? low, seen: isWhole ? names : [...names, ...toCome] };
    },
  };
}

/** Numbers and times of PostgreSQL, by their oids in pg_type. */
const NUMBERS = [20, 21, 23, 700, 701, 1700];
const TIMES = [1082, 1114, 1184];

export const isTime = oid => TIMES.includes(oid);

/** Returns the number that an order's value of this type is, or its Unix seconds; NaN if it is neither number nor time. */
export function numberOf(text, oid) {
  if (NUMBERS.includes(oid)) return Number(text);
  if (!isTime(oid)) return Number.NaN;
  if (text === "infinity") return Number.POSITIVE_INFINITY;
  const [day, time = "00:00:00"] = text.replace(/\+00$/, "").split(" ");
  return Date.parse(`${day}T${time}Z`) / 1000;
}
