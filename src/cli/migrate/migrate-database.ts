import { recordOfOperator } from "../../audit/record.ts";
import type { Config } from "../../config.ts";
import { armFailpoint } from "../../lib/failpoint.ts";
import { createLogger } from "../../lib/logger.ts";
import { connectMongo } from "../../store/connections/mongo.ts";
import { rejectWithoutReplicaSet } from "../../store/connections/mongo-setup.ts";
import { checkMongodbVersion } from "../../store/connections/server-versions.ts";
import { migrate, printPlan } from "../../store/schema/migrate.ts";
import { MIGRATIONS } from "../../store/schema/migrations.ts";
import { sayIfSlow } from "../output.ts";

/** How long it waits for MongoDB, and for the end of an election. */
const DEADLINE_MS = 15_000;

/** Runs the migrations that the database lacks, or prints them; one line on stdout for each step. Throws SetupError. */
export async function migrateDatabase(
  config: Config,
  { isDryRun, mayContract }: { isDryRun: boolean; mayContract: boolean },
): Promise<void> {
  armFailpoint(config.failpoint);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const connecting = connectMongo(config.mongodbUrl, { producer: false, deadlineMs: DEADLINE_MS });
  const connection = await sayIfSlow("MongoDB", connecting);
  try {
    await rejectWithoutReplicaSet(connection);
    await checkMongodbVersion(connection, say);
    const { db } = connection;
    if (!db) throw new Error("not connected");
    const options = { migrations: MIGRATIONS, mayContract, say };
    if (isDryRun) return await printPlan(db, options);
    const { version, isChanged } = await migrate(db, options);
    if (!isChanged) return;
    const written = { mongo: connection, clock: Date.now, log: createLogger("cli", "error") };
    await recordOfOperator(written, {
      action: "schema.migrated",
      thing: { id: String(version), name: null },
    });
  } finally {
    await connection.close();
  }
}
