/** Waits at most `ms` milliseconds for a promise to settle; returns true if it did. Rejects as the promise does. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<false>(resolve => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves as the promise does if it settles within `ms` milliseconds; otherwise rejects with `timeoutError()`. */
export async function withDeadline<T>(
  promise: Promise<T>,
  ms: number,
  timeoutError: () => Error = () => new Error(`no response within ${ms} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), ms);
  });
  try {
    return await Promise.race([promise, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
