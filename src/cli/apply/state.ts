import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";

/** What the account has of a project, by the names in its file. */
export interface State {
  connections: Map<string, Schemas["Connection"]>;
  workflows: Map<string, Schemas["Workflow"]>;
  sources: Map<string, Schemas["Source"]>;
  webhooks: Map<string, Schemas["Webhook"]>;
  /** Without actions. */
  destinations: Map<string, Schemas["Destination"]>;
  actions: Map<string, Schemas["Destination"]>;
  /** All of the account's. */
  subscriptions: Schemas["Subscription"][];
}

/** The name on the server of what a project calls `name`: by it, `apply` recognizes what it made. */
export const fullName = (project: string, name: string): string => `${project}/${name}`;

/** Reads what the account has of a project. Throws AppError `conflict` if two things of a kind have the same name. */
export async function readState(client: Headwater, project: string): Promise<State> {
  const [connections, workflows, sources, webhooks, destinations, subscriptions] = await Promise.all([
    allOf(client.connections.list()),
    allOf(client.workflows.list()),
    allOf(client.sources.list()),
    allOf(client.webhooks.list()),
    allOf(client.destinations.list()),
    allOf(client.subscriptions.list()),
  ]);
  const isAction = ({ kind }: Schemas["Destination"]) => kind === "action";
  return {
    connections: ofProject(connections, project, "connections"),
    workflows: ofProject(workflows, project, "workflows"),
    sources: ofProject(sources, project, "sources"),
    webhooks: ofProject(webhooks, project, "webhooks"),
    destinations: ofProject(
      destinations.filter(one => !isAction(one)),
      project,
      "destinations",
    ),
    actions: ofProject(destinations.filter(isAction), project, "actions"),
    subscriptions,
  };
}

async function allOf<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

function ofProject<Row extends { id: string; name: string | null }>(
  rows: Row[],
  project: string,
  kind: string,
): Map<string, Row> {
  const prefix = fullName(project, "");
  const found = new Map<string, Row>();
  for (const row of rows) {
    if (!row.name?.startsWith(prefix)) continue;
    const name = row.name.slice(prefix.length);
    const other = found.get(name);
    if (other) {
      throw new AppError(
        "conflict",
        `two ${kind} are called ${row.name}, ${other.id} and ${row.id}: delete one`,
      );
    }
    found.set(name, row);
  }
  return found;
}
