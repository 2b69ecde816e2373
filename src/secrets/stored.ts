import { findConnection } from "../connections/connections.ts";
import { openSecrets } from "../connections/secrets.ts";
import { verifySecrets } from "../connections/verify.ts";
import type { ActionSettings } from "../destinations/action/settings.ts";
import { openSettings } from "../destinations/kind.ts";
import { KINDS } from "../destinations/kinds.ts";
import { type Component, Components } from "../models/component.ts";
import type { Connection } from "../models/connection.ts";
import type { Source } from "../models/source.ts";
import { isDestination, type Webhook, Webhooks } from "../models/webhook.ts";
import type { Stores } from "../platform.ts";
import { secretsSet } from "../props/configure.ts";
import { findSource, propsOfSource } from "../sources/source.ts";

/** Secrets by the names that `secrets_removed` of responses has for them. */
export type SecretValues = Record<string, unknown>;

/**
 * Returns the secrets of a source, a webhook, a destination, an action or a connection of one of these owners: secret props,
 * `headers`, secret settings, `fields` and the secrets of `verify`. Null if there is no such thing.
 */
export async function storedSecrets(
  platform: Stores,
  id: string,
  owners: string[],
): Promise<SecretValues | null> {
  const prefix = id.slice(0, id.indexOf("_"));
  if (prefix === "dc") {
    const source = await findSource(platform, id, owners);
    return source && (await ofSource(platform, source));
  }
  if (prefix === "apn") {
    const connection = await findConnection(platform, id, owners);
    return connection && ofConnection(platform, connection);
  }
  const webhook = await Webhooks(platform.mongo)
    .findOne({ _id: id, owner_id: { $in: owners } })
    .lean<Webhook | null>();
  return webhook && ofWebhook(platform, webhook);
}

async function ofSource(platform: Stores, source: Source): Promise<SecretValues> {
  const component = await Components(platform.mongo)
    .findById(source.component_id, { description: 1 })
    .lean<Pick<Component, "description"> | null>();
  const { props } = propsOfSource(platform, component, source);
  const values: SecretValues = JSON.parse(platform.secrets.open(source.configured_props));
  return picked(values, secretsSet(props, values));
}

/** What an app granted was not given by anybody who could compare it. */
function ofConnection(platform: Stores, connection: Connection): SecretValues {
  const verify = verifySecrets(platform, connection);
  return {
    ...(connection.kind === "keys" && { fields: openSecrets(platform, connection).fields }),
    ...(verify && { verify }),
  };
}

function ofWebhook({ secrets }: Stores, webhook: Webhook): SecretValues {
  if (!isDestination(webhook)) {
    return webhook.headers === null ? {} : { headers: JSON.parse(secrets.open(webhook.headers)) };
  }
  if (webhook.kind === "action") {
    const { configured_props, hidden } = openSettings<ActionSettings>(secrets, webhook);
    return picked(configured_props, hidden);
  }
  return picked(openSettings<SecretValues>(secrets, webhook), KINDS[webhook.kind].secrets);
}

/** Those of the values that are set. */
const picked = (values: SecretValues, names: readonly string[]): SecretValues =>
  Object.fromEntries(names.filter(name => (values[name] ?? null) !== null).map(name => [name, values[name]]));
