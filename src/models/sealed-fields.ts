import type { Connection, Model } from "mongoose";
import type { Collection } from "../store/connections/mongo.ts";
import { DynamicPropsRows } from "./component.ts";
import { Apps, Connections } from "./connection.ts";
import { Sources } from "./source.ts";
import { Webhooks } from "./webhook.ts";

type Stored = Model<unknown>["collection"];

/** Where a collection keeps texts that `SECRETS_KEY` encrypted. */
export interface SealedFields {
  /** Its name in MongoDB. */
  name: string;
  rowsIn: (mongo: Connection) => Stored;
  /** Fields that hold such a text, null, or nothing. */
  fields: readonly string[];
  /** Lists of objects, each with such a text in this field. */
  lists: readonly { list: string; field: string }[];
}

function sealedIn<T>(
  name: string,
  collection: Collection<T>,
  fields: readonly (keyof T & string)[],
  lists: readonly { list: keyof T & string; field: string }[] = [],
): SealedFields {
  return { name, rowsIn: mongo => collection(mongo).collection as unknown as Stored, fields, lists };
}

/**
 * Every field of MongoDB that holds encrypted texts: what `headwater secrets reseal` encrypts again. A field that is missing
 * here fails test/models/sealed-fields.test.ts.
 */
export const SEALED_FIELDS: readonly SealedFields[] = [
  sealedIn("sources", Sources, ["configured_props", "dynamic_props", "verify"]),
  sealedIn("webhooks", Webhooks, ["headers", "settings"], [{ list: "signing_keys", field: "sealed" }]),
  sealedIn("connections", Connections, ["secrets", "verify"]),
  sealedIn("apps", Apps, ["client_secret", "verify"]),
  sealedIn("dynamic_props", DynamicPropsRows, ["sealed"]),
];
