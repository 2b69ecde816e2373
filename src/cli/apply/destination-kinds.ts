import { ownDeployer } from "../../components/deployer.ts";
import type { CheckDeps, Kind } from "../../destinations/kind.ts";
import { rabbitMq } from "../../destinations/rabbitmq/kind.ts";
import { redisStream } from "../../destinations/redis-stream/kind.ts";
import { s3 } from "../../destinations/s3/kind.ts";
import type { DestinationKind } from "../../models/webhook.ts";
import { ANY_ADDRESS } from "../remote/remote-command.ts";

/** The kinds that a file declares below `destinations`, with what the server knows of each; actions have a part of their own. */
export const KINDS = { redis_stream: redisStream, rabbitmq: rabbitMq, s3 } satisfies Record<
  Exclude<DestinationKind, "action">,
  Kind
>;
export type DeclaredKind = keyof typeof KINDS;

export const KIND_NAMES = Object.keys(KINDS) as DeclaredKind[];

/** Settings as the server has them. */
interface StoredSettings {
  /** As it shows them, without secrets. */
  shown: Record<string, unknown>;
  /** Those that are set. */
  secrets: Record<string, unknown>;
}

/**
 * Returns settings as the server has them once it got them: with its defaults, user name and password apart from the url.
 * Throws AppError `invalid` that names the setting, below the name of the kind.
 */
export async function settingsAsStored(kind: DeclaredKind, settings: object): Promise<StoredSettings> {
  const { check, show, secrets } = KINDS[kind];
  // All that these kinds read of a server is where it may connect, which only the server knows.
  const server = { config: { egressAllow: ANY_ADDRESS } } as unknown as CheckDeps;
  const about = { deployer: ownDeployer({ ownerId: "", userId: "" }), path: kind };
  const stored = (await check(server, settings, about)).settings as Record<string, unknown>;
  const set = secrets.filter(name => (stored[name] ?? null) !== null);
  return { shown: show(stored), secrets: Object.fromEntries(set.map(name => [name, stored[name]])) };
}
