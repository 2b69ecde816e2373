import type { Headwater } from "../../../clients/typescript/src/index.ts";
import type { Egress } from "../../egress/agent.ts";
import { AppError } from "../../lib/errors.ts";
import { explain } from "../remote/remote-command.ts";
import { type Change, deletion, differingSecrets } from "./compare.ts";
import { actions, sources, wantedComponent } from "./components.ts";
import type { Declared } from "./read-file.ts";
import { connections, destinations, webhooks } from "./receivers.ts";
import { ACCOUNT } from "./schema.ts";
import {
  fullName,
  idsOf,
  type Kinds,
  type Part,
  readState,
  type State,
  type Things,
  type Tools,
} from "./state.ts";
import { endedSubscriptions, planSubscriptions, subscriptionsOfLeft } from "./subscriptions.ts";

/** What is to be done, in order; `deletions` only if they are asked for. */
export interface Plan {
  changes: Change[];
  deletions: Change[];
  /** Names of subscriptions that end with what is deleted, and go on otherwise. */
  goOn: string[];
  /** Commands with which a person asks for connections that only a person can make. */
  consents: string[];
}

interface PlanTools extends Pick<Tools, "client" | "path" | "save" | "onKey"> {
  egress: Egress;
  /** The server, for messages. */
  url: string;
  /** Returns the id of the account that the file is applied to: an organization, or the caller. */
  accountId: () => Promise<string>;
  /** Whether secrets are sent again without asking whether they differ. */
  sendsSecrets: boolean;
}

const KINDS: Kinds = {
  connections,
  workflows: {
    word: "workflow",
    // One that is there has nothing that could differ.
    plan: async ({ name }, { client }) => ({ fields: [], apply: () => client.workflows.create({ name }) }),
    remove: (client, id) => client.workflows.delete(id),
  },
  webhooks,
  destinations,
  actions,
  sources,
};

/** What may use a thing is made after it. */
const MADE = ["connections", "workflows", "webhooks", "destinations", "actions", "sources"] as const;
/** The connections come last: what uses one must be gone. */
const DELETED = ["sources", "workflows", "webhooks", "destinations", "actions", "connections"] as const;

/** Compares a file with the server. Nothing is changed. Throws AppErrors, and the client's errors. */
export async function makePlan(declared: Declared, given: PlanTools): Promise<Plan> {
  const { client } = given;
  const { resolved } = declared;
  const state = await readState(client, resolved.project);
  const consents: string[] = [];
  const tools: Tools = {
    ...given,
    ids: idsOf(state, isFromAccount(resolved) ? await given.accountId() : undefined),
    differing: differingSecrets(client, { sendsAll: given.sendsSecrets }),
    onConsent: command => consents.push(command),
    wantedOf: (at, thing) =>
      wantedComponent(thing, given).catch(error => {
        const { message } = explain(error, given.url) as Error;
        throw new AppError("invalid", `${given.path}: ${at}: ${message}`, { cause: error });
      }),
  };
  const changes: Change[] = [];
  for (const part of MADE) changes.push(...(await planPart(part, declared, state, tools)));
  // Subscriptions come last: their ends must be there.
  changes.push(...(await planSubscriptions(declared, state, tools)));
  const deletions = [
    ...endedSubscriptions(resolved, state, tools),
    ...DELETED.flatMap(part => deletionsOf(part, resolved, state, client)),
  ];
  return { changes, deletions, consents, goOn: subscriptionsOfLeft(resolved, state) };
}

const isFromAccount = ({ subscriptions = [] }: Declared["resolved"]): boolean =>
  subscriptions.some(({ from }) => from === ACCOUNT);

/** Returns what is to be done to the things of one part of a file, one after the other: each may read files and ask the server. */
async function planPart<Name extends Part>(
  part: Name,
  { raw, resolved }: Declared,
  state: State,
  tools: Tools,
): Promise<Change[]> {
  const { word, plan, disable }: Kinds[Name] = KINDS[part];
  const asWritten = (raw[part] ?? {}) as Record<string, Things[Name][0]>;
  const present = state[part] as Map<string, Things[Name][1]>;
  const changes: Change[] = [];
  const problems: string[] = [];
  for (const [key, wanted] of Object.entries((resolved[part] ?? {}) as typeof asWritten)) {
    const current = present.get(key);
    const name = fullName(resolved.project, key);
    const one = { at: `${part}.${key}`, name, wanted, shown: asWritten[key] ?? wanted, current };
    const planned = await plan(one, tools);
    if (!planned || (current && planned.fields.length === 0)) continue;
    const apply = async () => {
      const { id } = await planned.apply();
      if (current) return;
      tools.ids[part].set(key, id);
      if ((wanted as { active?: boolean } | null)?.active === false) await disable?.(tools.client, id);
    };
    changes.push({ action: current ? "update" : "create", kind: word, name, fields: planned.fields, apply });
    problems.push(...((await planned.problems?.()) ?? []));
  }
  if (problems.length > 0) throw new AppError("invalid", `${tools.path}: ${problems.join("; ")}`);
  return changes;
}

/** Returns the deletions of what the project has on the server and not in this part of its file. */
function deletionsOf(
  part: Part,
  declaration: Declared["resolved"],
  state: State,
  client: Headwater,
): Change[] {
  const { word, remove } = KINDS[part];
  return [...state[part]]
    .filter(([name]) => !Object.hasOwn(declaration[part] ?? {}, name))
    .map(([name, { id }]) => deletion(word, fullName(declaration.project, name), () => remove(client, id)));
}
