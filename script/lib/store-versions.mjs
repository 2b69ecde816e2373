/** Whether a version such as `6.0.5` is the given one or newer; an unknown version is not. */
export function isAtLeast(version, least) {
  const have = (version ?? "0").split(".").map(Number);
  const want = least.split(".").map(Number);
  for (const [index, number] of want.entries()) {
    const part = have[index] ?? 0;
    if (part !== number) return part > number;
  }
  return true;
}

/** An URL as it may be shown: without user and password, and without options that may hold some. */
export function withoutPassword(url) {
  return url.replace(/\/\/.*@/, "//").replace(/\?.*$/, "");
}
