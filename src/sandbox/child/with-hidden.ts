/** Adds members that code may read and replace, but does not get by spreading, copying or serializing the object. */
export function withHidden<Target extends object>(
  target: Target,
  members: Record<string, unknown>,
): Target & Record<string, unknown> {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
  }
  return target as Target & Record<string, unknown>;
}
