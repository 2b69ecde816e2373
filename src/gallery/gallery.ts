import { typeOf } from "../components/code-traits.ts";
import { ownWords, presentProps } from "../components/present.ts";
import { Components, GALLERY_OWNER, galleryOwner } from "../models/component.ts";
import type { Stores } from "../platform.ts";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import { type ListedIndex, readIndexes } from "./indexes.ts";
import type {
  Change,
  Gallery,
  GalleryApp,
  GalleryCard,
  GalleryEntry,
  GalleryFilter,
  Origin,
} from "./schema.ts";
import { readShipped } from "./shipped.ts";

/** A component as the gallery lists it, wherever it came from. */
interface Listed {
  key: string;
  app: GalleryApp;
  origin: Origin | null;
  description: ComponentDescription;
  sample: unknown;
  packages: Record<string, string>;
  changelog: Change[];
  /** By which its row is found. */
  hash: string;
}

/** Returns the cards that a filter selects, in the order of the gallery; those of the release first. */
export async function listGallery(platform: Stores, filter: GalleryFilter): Promise<Gallery> {
  const listed = await listedIn(platform);
  const ids = await publishedIds(platform, listed);
  const cards = listed.map(component => cardOf(component, ids));
  const used = new Set(cards.flatMap(({ app }) => app.categories));
  return { components: cards.filter(card => isSelected(card, filter)), categories: [...used].sort() };
}

/** Returns one component of the gallery by its key; null if the gallery has none, or is off. */
export async function findInGallery(platform: Stores, key: string): Promise<GalleryEntry | null> {
  const component = (await listedIn(platform)).find(one => one.key === key);
  if (!component) return null;
  const { description, sample, changelog, packages } = component;
  const { dedupe, remember } = ownWords(description);
  return {
    ...cardOf(component, await publishedIds(platform, [component])),
    configurable_props: presentProps(description),
    ...{ dedupe, remember, sample, packages, changelog },
  };
}

async function listedIn(platform: Stores): Promise<Listed[]> {
  if (!platform.config.gallery) return [];
  const [{ apps, components }, indexes] = await Promise.all([readShipped(), readIndexes(platform)]);
  const shipped = components.map(({ built: { hash, packages }, ...component }) => ({
    ...component,
    ...{ hash, packages, app: appOf(apps, component), origin: null },
  }));
  const ofOthers = indexes.flatMap(({ _id: index, url, listed }) => {
    const { title, apps: theirs, components: indexed } = JSON.parse(listed) as ListedIndex;
    const origin = { index, title, url };
    return indexed.map(component => ({ ...component, app: appOf(theirs, component), origin }));
  });
  return [...shipped, ...ofOthers];
}

function appOf(apps: GalleryApp[], { app, key }: { app: string; key: string }): GalleryApp {
  const found = apps.find(one => one.key === app);
  if (!found) throw new Error(`the gallery has no app ${app} for ${key}`);
  return found;
}

const ownerOf = ({ origin }: Listed): string => (origin ? galleryOwner(origin.index) : GALLERY_OWNER);

/** Returns the ids of published components by the hash of their code. */
async function publishedIds({ mongo }: Stores, listed: Listed[]): Promise<Map<string, string>> {
  const owners = [...new Set(listed.map(ownerOf))];
  const rows = await Components(mongo)
    .find({ owner_id: { $in: owners } }, { code_hash: 1, published: 1 })
    .lean();
  return new Map(rows.filter(({ published }) => published).map(({ _id, code_hash }) => [code_hash, _id]));
}

function cardOf(
  { key, description, hash, app, origin }: Listed,
  ids: ReadonlyMap<string, string>,
): GalleryCard {
  return {
    key,
    type: typeOf(description),
    name: description.name,
    description: description.description ?? "",
    version: description.version,
    component_id: ids.get(hash) ?? null,
    ...{ app, origin },
  };
}

function isSelected(card: GalleryCard, { q, category, account, type }: GalleryFilter): boolean {
  const words = [card.name, card.description, card.key, card.app.name].join("\n").toLowerCase();
  return (
    (type === undefined || card.type === type) &&
    (category === undefined || card.app.categories.includes(category)) &&
    (account === undefined || card.app.account.kind === account) &&
    words.includes((q ?? "").toLowerCase())
  );
}
