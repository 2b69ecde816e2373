import type { Headwater, Schemas } from "../../../clients/typescript/src/index.ts";
import { AppError } from "../../lib/errors.ts";
import type { CodeBody, SavedComponent } from "./code-at.ts";

/** The deployed action as it is printed. */
export interface DeployedAction {
  id: string;
  name: string | null;
  component_id: string;
  deployed: "created" | "updated";
}

/** Finds the account's own action with a name. Throws AppError `conflict` if there are several. */
async function findOwnAction(client: Headwater, name: string): Promise<Schemas["Destination"] | undefined> {
  let found: Schemas["Destination"] | undefined;
  for await (const one of client.destinations.list()) {
    if (one.kind !== "action" || one.name !== name) continue;
    if (found)
      throw new AppError(
        "conflict",
        `--name: two actions are called ${name}, ${found.id} and ${one.id}: rename one`,
      );
    found = one;
  }
  return found;
}

/**
 * Creates an action with this component and these props, or updates the account's action of that name (by default the
 * component's); an update keeps the values of props that are left out. Throws the client's errors, and as `findOwnAction`.
 */
export async function deployAction(
  client: Headwater,
  component: SavedComponent,
  code: CodeBody,
  props: Record<string, unknown>,
  name: string = component.name,
): Promise<DeployedAction> {
  const existing = await findOwnAction(client, name);
  // With the code, and not by its id: the action's own code is edited, and its secrets stay.
  const { id } = existing
    ? await client.destinations.update(existing.id, { action: { ...code, configured_props: props } })
    : await client.destinations.create({
        name,
        action: { component_id: component.id, configured_props: props },
      });
  return { id, name, component_id: component.id, deployed: existing ? "updated" : "created" };
}
