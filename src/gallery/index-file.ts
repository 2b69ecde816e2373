import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { ErrorObject } from "ajv";
import { type Static, Type } from "typebox";
import { checkDescribed } from "../components/describe.ts";
import { fromFiles } from "../components/given-files.ts";
import { checkUrl } from "../egress/check-url.ts";
import { AppError } from "../lib/errors.ts";
import { scanJson } from "../lib/scan-json.ts";
import { newAjv } from "../lib/schemas.ts";
import { APP_SLUG } from "../lib/slug.ts";
import { LIMITS } from "../limits/catalogue.ts";
import { checkDescription } from "../sandbox/check-message.ts";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import { GalleryApp } from "./schema.ts";

const closed = { additionalProperties: false };
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const Link = Type.Union([Type.Null(), Type.Object({ label: text(100), url: text(500) }, closed)]);
const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });

const IndexApp = Type.Object(
  {
    key: Type.String({ pattern: APP_SLUG }),
    name: text(80),
    categories: Type.Intersect([
      GalleryApp.properties.categories,
      Type.Array(Type.Unknown(), { maxItems: 2 }),
    ]),
    account: Type.Object(
      {
        kind: GalleryApp.properties.account.properties.kind,
        needs: Type.Union([Type.Null(), text(500)]),
        where: Link,
      },
      closed,
    ),
    monogram: text(2),
    maturity: GalleryApp.properties.maturity,
    docs: Link,
    last_checked: Day,
  },
  closed,
);

const IndexComponent = Type.Object(
  {
    app: Type.String(),
    /** Its description as a server makes it of its code, which is not executed here. */
    description: Type.Object({}),
    sample: Type.Unknown(),
    changelog: Type.Array(
      Type.Object(
        { version: text(40), date: Day, changes: Type.Array(text(1000), { maxItems: 50 }) },
        closed,
      ),
      { minItems: 1, maxItems: 100 },
    ),
    files: Type.Record(Type.String(), Type.String(), {
      minProperties: 1,
      maxProperties: LIMITS.modules.value,
    }),
    entry: Type.String(),
    packages: Type.Record(Type.String(), text(100), { maxProperties: 200 }),
    /** The code with all that it imports, as one module. */
    bundle: text(LIMITS.bundleBytes.value),
  },
  closed,
);

/** The file of an index (docs/gallery.md#components-of-others), as `headwater gallery pack` writes it. */
const IndexFile = Type.Object(
  {
    headwater_gallery: Type.Literal(1),
    title: text(80),
    apps: Type.Array(IndexApp, { minItems: 1, maxItems: LIMITS.galleryComponents.value }),
    components: Type.Array(IndexComponent, { minItems: 1, maxItems: LIMITS.galleryComponents.value }),
  },
  closed,
);

/** A component of an index, whose description is checked. */
export interface IndexedComponent extends Omit<Static<typeof IndexComponent>, "description"> {
  key: string;
  /** SHA-256 (hex) of all that the index says of it. */
  hash: string;
  description: ComponentDescription;
}

export interface IndexFile {
  title: string;
  apps: GalleryApp[];
  components: IndexedComponent[];
}

/** Keys of the components that come with a release, which no index may have. */
const RESERVED = /^headwater-/;

const validate = newAjv({ strict: false }).compile<Static<typeof IndexFile>>(IndexFile);

/**
 * Parses the file of an index, executing nothing of it. Throws AppError `invalid` that says what is wrong and where; texts of the file are
 * in the message only as JSON, and short.
 */
export function parseIndex(bytes: Buffer): IndexFile {
  if (!isUtf8(bytes)) throw invalid("is not UTF-8");
  const json = bytes.toString("utf8");
  const { depth, parsedBytes } = scanJson(json);
  if (depth > LIMITS.jsonDepth.value) throw invalid(`is nested deeper than ${LIMITS.jsonDepth.value} levels`);
  if (parsedBytes > MOST_TIMES * LIMITS.galleryIndexBytes.value) throw invalid("has too many values");
  const given = parsed(json);
  if (!validate(given)) throw invalid(problemOf(validate.errors?.[0]));
  if (membersIn(given) !== membersInText(json)) throw invalid("has a member twice in one of its objects");
  const { title, apps, components } = given;
  rejectRepeated(
    apps.map(({ key }) => key),
    "app",
  );
  for (const { key, docs, account } of apps) {
    for (const link of [docs, account.where]) if (link) checkLink(link.url, `the app ${key}`);
  }
  const checked = components.map((one, at) => checkedComponent(one, `components.${at}`, apps));
  rejectRepeated(
    checked.map(({ key }) => key),
    "component",
  );
  return { title, apps: apps as GalleryApp[], components: checked };
}

/** Memory that the values of a file may take, as a multiple of its bytes. */
const MOST_TIMES = 4;

const invalid = (message: string) => new AppError("invalid", `the index ${message}`);

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw invalid("is not JSON");
  }
}

function problemOf({ instancePath = "", message = "", params }: Partial<ErrorObject> = {}): string {
  const place = instancePath.slice(1, MOST_SHOWN).replaceAll("/", ".") || "file";
  const other = (params as { additionalProperty?: string } | undefined)?.additionalProperty;
  return other === undefined
    ? `is not valid: ${place} ${message}`
    : `is not valid: ${place} has a field ${shown(other)}, which is unknown`;
}

/** Characters that a message has of the file's own texts. */
const MOST_SHOWN = 300;

const shown = (given: string): string => JSON.stringify(given.slice(0, 60));

function rejectRepeated(keys: string[], what: string): void {
  const again = keys.find((key, at) => keys.indexOf(key) !== at);
  if (again !== undefined) throw invalid(`has two of the ${what} ${shown(again)}`);
}

/** People follow it from the gallery. */
function checkLink(url: string, of: string): void {
  try {
    checkUrl(url, { in: "body", path: "url" });
  } catch (error) {
    throw invalid(`has a link of ${of} that can't be followed: ${(error as Error).message}`);
  }
}

function checkedComponent(
  given: Static<typeof IndexComponent>,
  place: string,
  apps: readonly { key: string }[],
): IndexedComponent {
  const wrong = (message: string) => invalid(`is not valid: ${place} ${message}`);
  if (!apps.some(({ key }) => key === given.app))
    throw wrong(`is of an app ${shown(given.app)} that is not there`);
  try {
    const { files, entry } = given;
    fromFiles({ files, entry });
    const description = checkDescribed(checkDescription(given.description));
    const { key } = description;
    if (key === undefined) throw wrong("has no key");
    if (RESERVED.test(key))
      throw wrong(`has the key ${shown(key)}: those that begin with headwater- come with a release`);
    return {
      ...given,
      key,
      description,
      hash: createHash("sha256").update(JSON.stringify(given)).digest("hex"),
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.message.startsWith("the index")) throw error;
    throw wrong(error.message.slice(0, MOST_SHOWN));
  }
}

/** Returns how many members the objects in a value have: fewer than in its text if one was given twice, and a reader may see the other. */
function membersIn(given: unknown): number {
  let count = 0;
  JSON.stringify(given, (_, value: unknown) => {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      count += Object.keys(value).length;
    return value;
  });
  return count;
}

/** Returns how many members the objects of a JSON text have: as many as there are colons outside of strings. */
function membersInText(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (char === ":") count += 1;
    if (char !== '"') continue;
    for (at += 1; json[at] !== '"'; at += 1) if (json[at] === "\\") at += 1;
  }
  return count;
}
