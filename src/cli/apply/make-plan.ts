import type { Headwater } from "../../../clients/typescript/src/index.ts";
import type { Egress } from "../../egress/agent.ts";
import { AppError } from "../../lib/errors.ts";
import { explain } from "../remote/explain.ts";
import type { Change, Ids } from "./change.ts";
import { type SaveComponent, wantedComponent } from "./component.ts";
import { planDeletions } from "./plan-deletions.ts";
import { planSources } from "./plan-sources.ts";
import { planSubscriptions } from "./plan-subscriptions.ts";
import { planWebhooks } from "./plan-webhooks.ts";
import type { Declared } from "./read-file.ts";
import { readState, type State } from "./state.ts";

/** What is to be done, in order; `deletions` only if they are asked for. */
export interface Plan {
  changes: Change[];
  deletions: Change[];
  ids: Ids;
}

interface Tools {
  client: Headwater;
  egress: Egress;
  /** The server, for messages. */
  url: string;
  /** The file. */
  path: string;
  save: SaveComponent;
  sendsSecrets: boolean;
  /** Gets the signing key of each webhook that is made. */
  onKey: (name: string, signingKey: string) => void;
}

/** Compares a file with the server. Nothing is changed. Throws AppErrors, and the client's errors. */
export async function makePlan(declared: Declared, tools: Tools): Promise<Plan> {
  const { client } = tools;
  const state = await readState(client, declared.resolved.project);
  const ids = idsOf(state);
  const sources = await planSources(declared, state, {
    ...tools,
    wantedOf: (name, source) =>
      wantedComponent(source, tools).catch(error => {
        const { message } = explain(error, tools.url) as Error;
        throw new AppError("invalid", `${tools.path}: sources.${name}: ${message}`, { cause: error });
      }),
  });
  // Subscriptions come last: their ends must be there.
  const changes = [
    ...planWebhooks(client, declared, state, tools),
    ...sources,
    ...planSubscriptions(client, declared, state, ids),
  ];
  return { changes, deletions: planDeletions(client, declared.resolved, state, ids), ids };
}

function idsOf({ sources, webhooks }: State): Ids {
  const ids = (found: Map<string, { id: string }>) => new Map([...found].map(([name, { id }]) => [name, id]));
  return { sources: ids(sources), webhooks: ids(webhooks) };
}
