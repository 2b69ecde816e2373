import { typeOf } from "../components/code-traits.ts";
import { ownWords, presentProps } from "../components/present.ts";
import { Components, GALLERY_OWNER } from "../models/component.ts";
import type { Stores } from "../platform.ts";
import type { Gallery, GalleryApp, GalleryCard, GalleryEntry, GalleryFilter } from "./schema.ts";
import { readShipped, type Shipped, type ShippedComponent } from "./shipped.ts";

/** Returns the cards that a filter selects, in the order of the gallery. */
export async function listGallery(platform: Stores, filter: GalleryFilter): Promise<Gallery> {
  const [{ apps, components }, ids] = await Promise.all([shippedTo(platform), publishedIds(platform)]);
  const cards = components.map(component => cardOf(component, appOf(apps, component), ids));
  const used = new Set(cards.flatMap(({ app }) => app.categories));
  return { components: cards.filter(card => isSelected(card, filter)), categories: [...used].sort() };
}

/** Returns one component of the gallery by its key; null if the gallery has none, or is off. */
export async function findInGallery(platform: Stores, key: string): Promise<GalleryEntry | null> {
  const { apps, components } = await shippedTo(platform);
  const component = components.find(one => one.key === key);
  if (!component) return null;
  const { description, sample, changelog, built } = component;
  const { dedupe, remember } = ownWords(description);
  return {
    ...cardOf(component, appOf(apps, component), await publishedIds(platform)),
    configurable_props: presentProps(description),
    dedupe,
    remember,
    sample,
    packages: built.packages,
    changelog,
  };
}

const shippedTo = async ({ config }: Stores): Promise<Shipped> =>
  config.gallery ? await readShipped() : { apps: [], components: [] };

function appOf(apps: GalleryApp[], { app, key }: ShippedComponent): GalleryApp {
  const found = apps.find(one => one.key === app);
  if (!found) throw new Error(`the gallery has no app ${app} for ${key}`);
  return found;
}

/** Returns the ids of published components by the hash of their code. */
async function publishedIds({ mongo }: Stores): Promise<Map<string, string>> {
  const rows = await Components(mongo)
    .find({ owner_id: GALLERY_OWNER }, { code_hash: 1, published: 1 })
    .lean();
  return new Map(rows.filter(({ published }) => published).map(({ _id, code_hash }) => [code_hash, _id]));
}

function cardOf(
  { key, description, built }: ShippedComponent,
  app: GalleryApp,
  ids: ReadonlyMap<string, string>,
): GalleryCard {
  return {
    key,
    type: typeOf(description),
    name: description.name,
    description: description.description ?? "",
    version: description.version,
    component_id: ids.get(built.hash) ?? null,
    app,
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
