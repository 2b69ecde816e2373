import mongoose, { type Connection } from "mongoose";
import { asSetupError, reasonOfAway } from "../../store/mongo-setup.ts";
import { checkSchema } from "./check-schema.ts";
import { checkClockSkew } from "./clock-skew.ts";
import { type Finding, problem } from "./finding.ts";
import { judgeMongodb } from "./judge-mongodb.ts";

const TIMEOUT_MS = 5000;

/** Checks MongoDB: reached, version, replica set with a primary, disk space, schema, clock. */
export async function checkMongodb(url: string): Promise<Finding[]> {
  const connection = mongoose.createConnection(url, { serverSelectionTimeoutMS: TIMEOUT_MS });
  try {
    await connection.asPromise();
    return await checkServer(connection);
  } catch (error) {
    const fault = asSetupError(error);
    if (fault) return [problem("MongoDB", fault.message, "correct the setting, or that MongoDB")];
    const reason = reasonOfAway(error as Error);
    return [problem("MongoDB", `does not respond: ${reason}`, "start it, or correct MONGODB_URL")];
  } finally {
    await connection.close();
  }
}

async function checkServer(connection: Connection): Promise<Finding[]> {
  const admin = connection.getClient().db().admin();
  const [hello, { version }] = await Promise.all([admin.command({ hello: 1 }), admin.serverInfo()]);
  const clock = await checkClockSkew("MongoDB", async () =>
    Number((await admin.command({ hello: 1 })).localTime),
  );
  const disk = (await connection.db?.stats()) ?? {};
  const schema = connection.db && (await checkSchema(connection.db));
  return [...judgeMongodb({ version, hello, disk }), ...(schema ? [schema] : []), clock];
}
