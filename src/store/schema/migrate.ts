import { setTimeout as delay } from "node:timers/promises";
import type { HeldLock } from "../../lib/held-lock.ts";
import { applyMigrations } from "./apply.ts";
import type { Database, Migration } from "./migration.ts";
import { schemaOf } from "./migration.ts";
import { planOf } from "./plan.ts";
import { acquireSchemaLock } from "./schema-lock.ts";
import { findState, rejectContracted } from "./state.ts";

interface Options {
  migrations: readonly Migration[];
  /** True if no process of an older release is running: only then may a contract remove what such a process needs. */
  mayContract?: boolean;
  say: (line: string) => void;
}

/** Between two attempts to get the lock, and between two lines about it. Milliseconds. */
const AGAIN_MS = 500;
const SAY_AGAIN_MS = 30_000;

/**
 * Brings a database to the schema of these migrations: one process at a time, each step recorded, so that a process that is
 * killed loses nothing but the step that it was in. Waits for as long as another process is at it. Throws SetupError for a
 * database that a newer release has contracted, and the server's error for a step that fails; the steps before it are kept. Returns
 * the schema that the database has, and whether that was brought about now.
 */
export async function migrate(
  db: Database,
  { migrations, mayContract = false, say }: Options,
): Promise<{ version: number; isChanged: boolean }> {
  const lock = await waitForLock(db, say);
  try {
    const before = await findState(db);
    const needs = schemaOf(migrations);
    rejectContracted(before.state, needs);
    const plan = planOf(before.state, migrations, { isEmpty: before.isEmpty, mayContract });
    const isDone = before.isStored && plan.every(({ step }) => step !== "run");
    const state = await applyMigrations(db, lock, { migrations, mayContract, say });
    for (const line of waitingLines(plan)) say(line);
    say(`schema ${state.version}${isDone ? ": nothing to do" : ""}`);
    return { version: state.version, isChanged: !isDone };
  } finally {
    await lock.release();
  }
}

/** Prints what `migrate` would do, and changes nothing. */
export async function printPlan(
  db: Database,
  { migrations, mayContract = false, say }: Options,
): Promise<void> {
  const { state, isEmpty, missing } = await findState(db);
  const needs = schemaOf(migrations);
  rejectContracted(state, needs);
  if (isEmpty) say("the database is empty");
  else say(`the database has schema ${state.version}, this release needs ${needs}`);
  if (missing.length > 0) say(`it lacks ${missing.join(", ")}`);
  const plan = planOf(state, migrations, { isEmpty, mayContract });
  const words = { applied: "applied", run: "would run", wait: "waits" };
  for (const { migration, step } of plan) {
    say(`  ${migration.number} ${migration.name} (${migration.kind}): ${words[step]}`);
  }
  for (const line of waitingLines(plan)) say(line);
  if (plan.every(({ step }) => step !== "run")) say("nothing to do");
}

function waitingLines(plan: ReturnType<typeof planOf>): string[] {
  return plan
    .filter(({ step }) => step === "wait")
    .map(
      ({ migration: { number, name, worksFrom } }) =>
        `${number} ${name} waits: run \`headwater migrate --contract\` once no process of a release before schema ${worksFrom ?? number} is running`,
    );
}

async function waitForLock(db: Database, say: (line: string) => void): Promise<HeldLock> {
  let sayAt = 0;
  for (;;) {
    const lock = await acquireSchemaLock(db);
    if (lock) return lock;
    if (performance.now() >= sayAt) {
      say("another process is changing the schema: waiting for it");
      sayAt = performance.now() + SAY_AGAIN_MS;
    }
    await delay(AGAIN_MS);
  }
}
