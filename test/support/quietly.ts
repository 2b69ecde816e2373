/** Does `work` without what it prints: oidc-provider warns of what is right for a test, such as http. */
export async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { info, warn } = console;
  Object.assign(console, { info: () => {}, warn: () => {} });
  try {
    return await work();
  } finally {
    Object.assign(console, { info, warn });
  }
}
