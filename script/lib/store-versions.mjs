/** Whether a version such as `6.0.5` is `least` or newer; false if it is undefined. */
export function isAtLeast(version, least) {
  const have = (version ?? "0").split(".").map(Number);
  const want = least.split(".").map(Number);
  for (const [index, number] of want.entries()) {
    const part = have[index] ?? 0;
    if (part !== number) return part > number;
  }
  return true;
}

/** A URL that may be shown: without user and password, and without options, which may contain some. */
export function withoutPassword(url) {
  return url.replace(/\/\/.*@/, "//").replace(/\?.*$/, "");
}
