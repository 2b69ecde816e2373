interface Address {
  url: string;
  /** Names of the secrets that it has. */
  secrets: readonly string[];
}

interface Given {
  /** Absent if the request leaves it as it is. */
  url: string | undefined;
  /** Names of the secrets that the request gives. */
  secrets: readonly string[];
}

/**
 * Returns the names of the secrets that a webhook or a destination loses with its present address: the url of another
 * server removes those that the same request does not give again, because who changes the url would learn them
 * there. The same server is the same scheme, host and port.
 */
export const lostSecrets = (before: Address, { url, secrets }: Given): string[] =>
  url === undefined || serverOf(url) === serverOf(before.url)
    ? []
    : before.secrets.filter(name => !secrets.includes(name));

/** A url that can't be read is another one; it is rejected later. */
function serverOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host.toLowerCase()}`;
}
