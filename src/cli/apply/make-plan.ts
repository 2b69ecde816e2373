import type { Headwater } from "../../../clients/typescript/src/index.ts";
import type { Egress } from "../../egress/agent.ts";
import { AppError } from "../../lib/errors.ts";
import { explain } from "../remote/remote-command.ts";
import type { Change } from "./change.ts";
import { type ComponentTools, wantedComponent } from "./component.ts";
import { differingSecrets } from "./differing-secrets.ts";
import { type Ids, idsOf } from "./ids.ts";
import { planActions } from "./plan-actions.ts";
import { planConnections } from "./plan-connections.ts";
import { planDeletions, subscriptionsOfLeft } from "./plan-deletions.ts";
import { planDestinations } from "./plan-destinations.ts";
import { planSources } from "./plan-sources.ts";
import { planSubscriptions } from "./plan-subscriptions.ts";
import { planWebhooks } from "./plan-webhooks.ts";
import { planWorkflows } from "./plan-workflows.ts";
import type { Declared } from "./read-file.ts";
import { readState } from "./state.ts";

/** What is to be done, in order; `deletions` only if they are asked for. */
export interface Plan {
  changes: Change[];
  deletions: Change[];
  /** Names of subscriptions that end with what is deleted, and go on otherwise. */
  goOn: string[];
  /** Commands with which a person asks for connections that only a person can make. */
  consents: string[];
  ids: Ids;
}

interface Tools {
  client: Headwater;
  egress: Egress;
  /** The server, for messages. */
  url: string;
  /** The file. */
  path: string;
  save: ComponentTools["save"];
  /** Whether secrets are sent again without asking whether they differ. */
  sendsSecrets: boolean;
  /** Gets the signing key of each webhook that is made. */
  onKey: (name: string, signingKey: string) => void;
}

/** Compares a file with the server. Nothing is changed. Throws AppErrors, and the client's errors. */
export async function makePlan(declared: Declared, tools: Tools): Promise<Plan> {
  const { client } = tools;
  const state = await readState(client, declared.resolved.project);
  const ids = idsOf(state);
  const differing = differingSecrets(client, { sendsAll: tools.sendsSecrets });
  const components: ComponentTools = {
    ...{ ...tools, differing, ids },
    wantedOf: (field, source) =>
      wantedComponent(source, tools).catch(error => {
        const { message } = explain(error, tools.url) as Error;
        throw new AppError("invalid", `${tools.path}: ${field}: ${message}`, { cause: error });
      }),
  };
  const connections = await planConnections(declared, state, { ...tools, differing });
  // Subscriptions come last: their ends must be there.
  const changes = [
    ...connections.changes,
    ...planWorkflows(declared, state, client),
    ...(await planWebhooks(declared, state, { ...tools, differing })),
    ...(await planDestinations(declared, state, { ...tools, differing })),
    ...(await planActions(declared, state, components)),
    ...(await planSources(declared, state, components)),
    ...(await planSubscriptions(declared, state, ids, tools)),
  ];
  return {
    changes,
    deletions: planDeletions(client, declared.resolved, state, ids),
    consents: connections.consents,
    goOn: subscriptionsOfLeft(declared.resolved, state),
    ids,
  };
}
