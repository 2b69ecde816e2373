/** What this installation itself serves, by what a reader asks for: the one place that names its addresses. */
export const HELP = {
  docs: { title: "Documentation", address: "/docs" },
  api: { title: "API reference", address: "/docs/api" },
  errors: { title: "What each error means", address: "/docs/errors" },
  openapi: { title: "The API as an OpenAPI document", address: "/v1/openapi.json" },
  component: { title: "Components", address: "/docs/api#tag--Components" },
  filter: { title: "Filters", address: "/docs/api#post-/subscriptions" },
  function: { title: "Functions", address: "/docs/api#post-/subscriptions/function_test" },
  signing: { title: "Signatures", address: "/docs/api#post-/webhooks/-id-/rotate_signing_key" },
} as const;

export type HelpTopic = keyof typeof HELP;

/** What the installation says of itself at its root. */
export interface Installation {
  version: string;
  /** The address of the queues' board, for its operator; absent where it is off. */
  board?: string;
}

/** Reads the version of the installation, and whether it has a board. */
export async function readInstallation(signal: AbortSignal | undefined): Promise<Installation> {
  const response = await fetch("/", { headers: { accept: "application/json" }, ...(signal && { signal }) });
  if (!response.ok) throw new Error("The server can't be reached.");
  return (await response.json()) as Installation;
}
