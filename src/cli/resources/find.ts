import { type Headwater, NotFoundError, type Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import { destinations, webhooks, workflows } from "./names.ts";

type Webhook = Schemas["Webhook"];
type Destination = Schemas["Destination"];

/** So many ids are named in a message. */
const MAX_SHOWN = 5;

/** Returns a source by its id or name slug. Throws the client's `not-found`. */
export const findSource = (client: Headwater, idOrName: string): Promise<Schemas["SourceDetail"]> =>
  client.sources.get(idOrName);

/**
 * Returns the id of a source, given as id or name slug, or of a workflow, given as id or name; a source comes first. Throws
 * AppError `not-found`, and `invalid` if several workflows have that name.
 */
export async function findEmitterId(client: Headwater, idOrName: string): Promise<string> {
  if (/^(p|dc)_/.test(idOrName)) return idOrName;
  const source = await findSource(client, idOrName).catch(error => {
    if (error instanceof NotFoundError) return null;
    throw error;
  });
  if (source) return source.id;
  return (await onlyOneCalled(idOrName, "source or workflow", [workflows(client)])).id;
}

/** Returns a workflow by its id or name. Throws as `findWebhook`. */
export async function findWorkflow(client: Headwater, idOrName: string): Promise<Schemas["WorkflowDetail"]> {
  if (/^p_/.test(idOrName)) return await client.workflows.get(idOrName);
  const { id } = await onlyOneCalled(idOrName, "workflow", [workflows(client)]);
  return await client.workflows.get(id);
}

/** Returns a webhook by its id or name. Throws AppError `not-found`, and `invalid` if several have that name. */
export async function findWebhook(client: Headwater, idOrName: string): Promise<Webhook> {
  if (isWebhookId(idOrName)) return await client.webhooks.get(idOrName);
  return await onlyOneCalled(idOrName, "webhook", [webhooks(client)]);
}

/** Returns a destination by its id or name, an action too. Throws as `findWebhook`. */
export async function findDestination(client: Headwater, idOrName: string): Promise<Destination> {
  if (isDestinationId(idOrName)) return await client.destinations.get(idOrName);
  return await onlyOneCalled(idOrName, "destination", [destinations(client)]);
}

/** Returns what has deliveries by its id or name: a webhook or a destination. Throws as `findWebhook`. */
export async function findReceiver(client: Headwater, idOrName: string): Promise<Webhook | Destination> {
  if (isWebhookId(idOrName)) return await client.webhooks.get(idOrName);
  if (isDestinationId(idOrName)) return await client.destinations.get(idOrName);
  const lists = [webhooks(client), destinations(client)];
  return await onlyOneCalled<Webhook | Destination>(idOrName, "webhook or destination", lists);
}

const isWebhookId = (id: string) => /^wh_/.test(id);
/** Also that of an action. */
export const isDestinationId = (id: string) => /^(ds|ac)_/.test(id);

async function onlyOneCalled<Thing extends { id: string; name: string | null }>(
  name: string,
  what: string,
  lists: AsyncIterable<Thing>[],
): Promise<Thing> {
  const found: Thing[] = [];
  for (const list of lists) for await (const thing of list) if (thing.name === name) found.push(thing);
  const [only] = found;
  if (!only) {
    const hint = `headwater ${what.split(" ")[0]} list shows them`;
    throw new AppError("not-found", `${what}: none is called ${name}; ${hint}`);
  }
  if (found.length === 1) return only;
  const ids = found.slice(0, MAX_SHOWN).map(({ id }) => id);
  throw new AppError("invalid", `${what}: several are called ${name}, name one by its id: ${ids.join(", ")}`);
}
