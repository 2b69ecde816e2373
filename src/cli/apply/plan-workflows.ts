import type { Headwater } from "../../../clients/typescript/src/index.ts";
import type { Change } from "./change.ts";
import type { Declared } from "./read-file.ts";
import { fullName, type State } from "./state.ts";

/** Returns what is to be done to the workflows of a file: one that is there has nothing that could differ. */
export const planWorkflows = (
  { resolved: { project, workflows = {} } }: Declared,
  state: State,
  client: Headwater,
): Change[] =>
  Object.keys(workflows)
    .filter(key => !state.workflows.has(key))
    .map(key => {
      const name = fullName(project, key);
      const apply: Change["apply"] = async ids => {
        ids.workflows.set(key, (await client.workflows.create({ name })).id);
      };
      return { action: "create", kind: "workflow", name, fields: [], apply };
    });
