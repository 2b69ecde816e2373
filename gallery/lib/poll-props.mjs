/** When a source looks, if not when its owner says. */
export const timer = (label, intervalSeconds) => ({
  type: "$.interface.timer",
  label,
  default: { intervalSeconds },
});

/** How many of the newest items are events although they were there before the source. `items` are what it looks for, in the plural. */
export const backfill = (items, all = items) => ({
  type: "integer",
  label: `${items[0].toUpperCase()}${items.slice(1)} to begin with`,
  description: `How many of the newest ${all} are events at the first look.`,
  default: 0,
  min: 0,
  max: 100,
});
