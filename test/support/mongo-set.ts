import mongoose from "mongoose";
import { mongoKind } from "../../script/lib/mongo.mjs";
import { mongodProgram } from "../../script/lib/mongod.mjs";
import { root } from "./built.ts";
import { type OwnStore, ownServers } from "./own-stores.ts";
import { until } from "./until.ts";

/** A replica set of MongoDB of this test alone. */
export interface MongoSet {
  /** All members, as a setting. */
  urlOf(database: string): string;
  members: OwnStore[];
  primary(): Promise<OwnStore>;
  /** Runs a command on the admin database of one member. */
  command(member: OwnStore, command: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Waits until there is a primary and all others follow it. */
  whole(): Promise<void>;
  close(): Promise<void>;
}

const SET = "rs0";
const COMMAND_MS = 5000;
/** One that is away must not hold up what the others say for long. */
const HELLO_MS = 1000;

interface MongoSetOptions {
  members?: number;
  /** After how long without a primary another one is elected; MongoDB's default is 10 s. Milliseconds. */
  electionTimeoutMs?: number;
  /** Options of mongod. */
  args?: string[];
}

/** Compression is for disks and networks: here the members share two processors, and their data is in memory. */
const UNCOMPRESSED = [
  ...["--networkMessageCompressors", "disabled"],
  ...["--wiredTigerCollectionBlockCompressor", "none", "--wiredTigerJournalCompressor", "none"],
];

/** Starts a replica set; by default of three members. */
export async function openMongoSet(options: MongoSetOptions = {}): Promise<MongoSet> {
  const { members: count = 3, electionTimeoutMs = 2000, args = [] } = options;
  const program = await mongodProgram({ root, say: () => undefined });
  const closers: (() => Promise<void>)[] = [];
  const close = async () => void (await Promise.all(closers.map(end => end())));
  const openMember = async () => {
    const servers = ownServers();
    closers.push(servers.close);
    return await servers.open(
      firstPort => {
        const kind = mongoKind({ program, firstPort, root });
        return { ...kind, args: given => [...kind.args(given), ...UNCOMPRESSED, ...args] };
      },
      { url: port => `mongodb://127.0.0.1:${port}` },
    );
  };
  try {
    const members = await Promise.all(Array.from({ length: count }, openMember));
    await command(members[0] as OwnStore, {
      replSetInitiate: {
        _id: SET,
        members: members.map(({ port }, _id) => ({ _id, host: `127.0.0.1:${port}` })),
        settings: { electionTimeoutMillis: electionTimeoutMs },
      },
    });
    const set: MongoSet = {
      urlOf: database =>
        `mongodb://${members.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${database}?replicaSet=${SET}`,
      members,
      command,
      primary: () => until(() => primaryOf(members), { what: "a primary" }),
      whole: () => untilWhole(members),
      close,
    };
    await set.whole();
    return set;
  } catch (error) {
    await close();
    throw error;
  }
}

async function command(
  member: OwnStore,
  words: Record<string, unknown>,
  withinMs = COMMAND_MS,
): Promise<Record<string, unknown>> {
  const url = `${member.url}/?directConnection=true`;
  const client = new mongoose.mongo.MongoClient(url, { serverSelectionTimeoutMS: withinMs });
  try {
    return await client.db("admin").command(words);
  } finally {
    await client.close();
  }
}

/** Asks all at once, because one that hangs would delay those after it. */
async function primaryOf(members: OwnStore[]): Promise<OwnStore | undefined> {
  const asked = members.map(async member => {
    const { isWritablePrimary } = await command(member, { hello: 1 }, HELLO_MS);
    if (!isWritablePrimary) throw new Error("not the primary");
    return member;
  });
  return await Promise.any(asked).catch(() => undefined);
}

async function untilWhole(members: OwnStore[]): Promise<void> {
  await until(
    async () => {
      const primary = await primaryOf(members);
      if (!primary) return false;
      const { members: states } = (await command(primary, { replSetGetStatus: 1 })) as {
        members: { stateStr: string }[];
      };
      return states.every(({ stateStr }) => stateStr === "PRIMARY" || stateStr === "SECONDARY");
    },
    { what: "a whole replica set" },
  );
}
