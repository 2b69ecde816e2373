import type { Database } from "../../store/schema/migration.ts";
import { MIGRATIONS, SCHEMA } from "../../store/schema/migrations.ts";
import { planOf } from "../../store/schema/plan.ts";
import { findState, schemaProblem } from "../../store/schema/state.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

/** Checks whether this release can run on the database's schema, and whether `headwater migrate` has something to do. */
export async function checkSchema(db: Database): Promise<Finding> {
  const { state, isEmpty } = await findState(db);
  if (isEmpty) return ok("schema", "the database is empty: the first process sets it up");
  const fault = schemaProblem(state, SCHEMA);
  if (fault !== undefined) {
    return problem("schema", fault, "docs/upgrading.md has the steps of an upgrade");
  }
  const has = `the database has schema ${state.version}, this release needs ${SCHEMA}`;
  if (planOf(state, MIGRATIONS, { isEmpty, mayContract: false }).every(({ step }) => step === "applied"))
    return ok("schema", has);
  return note(
    "schema",
    `${has}; some migrations have not run`,
    "run `headwater migrate --contract` once no process of an older release is running",
  );
}
