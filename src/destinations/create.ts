import { checkCount } from "../accounts/check-count.ts";
import { type Deployer, ownDeployer } from "../components/deployer.ts";
import { fieldsOfUses, withUses } from "../components/mark-used.ts";
import { AppError, invalidField } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { type Destination, type DestinationKind, Webhooks } from "../models/webhook.ts";
import type { Platform } from "../platform.ts";
import { newFields } from "../webhooks/new-fields.ts";
import type { CheckDeps } from "./kind.ts";
import { KIND_NAMES, KINDS } from "./kinds.ts";
import { presentDestination } from "./present.ts";
import type { DestinationView, NewDestinationBody } from "./schema.ts";
import { sealSettings } from "./settings.ts";

export interface NewDestination extends NewDestinationBody {
  ownerId: string;
  userId: string;
}

/**
 * Creates a destination of the kind whose settings are given and returns it, without secrets. Throws `invalid` unless exactly
 * one kind is given and its settings are right, and `limit-reached` (docs/rest-api.md#destinations).
 */
export async function createDestination(
  platform: CheckDeps & Pick<Platform, "secrets">,
  input: NewDestination,
  deployer: Deployer = ownDeployer(input),
): Promise<DestinationView> {
  const kind = kindOf(input);
  await checkCount(platform, input.ownerId, "webhooks");
  const about = { deployer, path: kind };
  const { url, settings, uses } = await KINDS[kind].check(platform, input[kind] ?? {}, about);
  const now = platform.clock();
  const destination: Destination = {
    _id: newId(KINDS[kind].prefix, now),
    ...newFields(input, now),
    kind,
    settings: sealSettings(platform.secrets, settings, kind),
    ...fieldsOfUses(uses),
    url,
    signing_keys: [],
    headers: null,
    header_names: [],
  };
  await withUses(platform, uses, options => Webhooks(platform.mongo).insertMany([destination], options));
  return presentDestination(platform, destination);
}

function kindOf(input: NewDestination): DestinationKind {
  const [kind, second] = KIND_NAMES.filter(name => input[name] !== undefined);
  if (kind === undefined) {
    const fields = KIND_NAMES.map(path => ({
      in: "body" as const,
      path,
      message: "one of these is required",
    }));
    throw new AppError("invalid", `one of ${KIND_NAMES.join(", ")} is required`, { fields });
  }
  if (second !== undefined)
    throw invalidField("body", second, `a destination of kind ${kind} has no such settings`);
  return kind;
}
