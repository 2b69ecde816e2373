import { AppError } from "../../lib/errors.ts";
import type { Change } from "./change.ts";
import type { ComponentTools, WantedComponent } from "./component.ts";
import { withConnectionIds } from "./connection-ids.ts";
import { propProblems } from "./prop-problems.ts";
import type { Declared } from "./read-file.ts";
import type { DeclaredAction, DeclaredSource } from "./schema.ts";
import { fullName } from "./state.ts";

interface Parts {
  sources: DeclaredSource;
  actions: DeclaredAction;
}

/** A source or an action of a file. */
export interface Wanted<Thing> {
  /** In the file. */
  key: string;
  /** On the server. */
  name: string;
  declared: Thing;
  /** As the file has it. */
  shown: Thing;
  component: WantedComponent;
}

/** How one of them is made, and changed. */
interface Ways<Thing, Row> {
  create: (wanted: Wanted<Thing>, tools: ComponentTools) => Change;
  /** Null if nothing differs. */
  update: (wanted: Wanted<Thing>, current: Row, tools: ComponentTools) => Promise<Change | null>;
}

/** Returns what is to be done to the things with a component in one part of a file. */
export async function planComponents<Part extends keyof Parts, Row>(
  { raw, resolved }: Declared,
  part: Part,
  present: Map<string, Row>,
  { create, update }: Ways<Parts[Part], Row>,
  tools: ComponentTools,
): Promise<Change[]> {
  const things = (resolved[part] ?? {}) as Record<string, Parts[Part]>;
  const asWritten = (raw[part] ?? {}) as Record<string, Parts[Part]>;
  const changes: Change[] = [];
  const problems: string[] = [];
  // One after the other: each may read files and ask the server.
  for (const [key, declared] of Object.entries(things)) {
    const wanted: Wanted<Parts[Part]> = {
      key,
      name: fullName(resolved.project, key),
      declared: { ...declared, props: withConnectionIds(declared.props ?? {}, tools.ids.connections) },
      shown: asWritten[key] ?? declared,
      component: await tools.wantedOf(`${part}.${key}`, declared),
    };
    const current = present.get(key);
    const change = current ? await update(wanted, current, tools) : create(wanted, tools);
    if (!change) continue;
    changes.push(change);
    const at = `${part}.${key}`;
    problems.push(...(await propProblems(tools.client, at, declared.props ?? {}, wanted.component)));
  }
  if (problems.length > 0) throw new AppError("invalid", `${tools.path}: ${problems.join("; ")}`);
  return changes;
}
