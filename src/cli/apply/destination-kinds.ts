import { ownDeployer } from "../../components/deployer.ts";
import type { CheckDeps, Kind } from "../../destinations/kind.ts";
import { rabbitMq } from "../../destinations/rabbitmq/kind.ts";
import { redisStream } from "../../destinations/redis-stream/kind.ts";
import { s3 } from "../../destinations/s3/kind.ts";
import type { DestinationKind } from "../../models/webhook.ts";
import { ANY_ADDRESS } from "./any-address.ts";

/** The kinds that a file declares below `destinations`, with what the server knows of each; actions have a part of their own. */
export const KINDS = { redis_stream: redisStream, rabbitmq: rabbitMq, s3 } satisfies Record<
  Exclude<DestinationKind, "action">,
  Kind
>;
export type DeclaredKind = keyof typeof KINDS;

export const KIND_NAMES = Object.keys(KINDS) as DeclaredKind[];

/**
 * Returns settings as the server shows them once it has them: with its defaults, the user name apart from the url, and
 * without secrets. Throws AppError `invalid` that names the setting, below the name of the kind.
 */
export async function settingsAsShown(
  kind: DeclaredKind,
  settings: object,
): Promise<Record<string, unknown>> {
  const { check, show } = KINDS[kind];
  // All that these kinds read of a server is where it may connect, which only the server knows.
  const server = { config: { egressAllow: ANY_ADDRESS } } as unknown as CheckDeps;
  const about = { deployer: ownDeployer({ ownerId: "", userId: "" }), path: kind };
  return show((await check(server, settings, about)).settings);
}
