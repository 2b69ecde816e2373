import { type Static, Type } from "typebox";
import { ConfigurableProp, OwnWords, TypeOfComponent } from "../components/schema.ts";
import { OrNull } from "../lib/schemas.ts";
import { TextFilter } from "../store/text-filter.ts";

/** What apps are found by; a new one needs three components that fit no other. */
const Category = Type.Union([
  Type.Literal("generic"),
  Type.Literal("developers"),
  Type.Literal("payments"),
  Type.Literal("messaging"),
  Type.Literal("databases"),
  Type.Literal("files"),
  Type.Literal("calendars"),
  Type.Literal("forms"),
  Type.Literal("customers"),
  Type.Literal("commerce"),
  Type.Literal("monitoring"),
  Type.Literal("models"),
]);

const AccountKind = Type.Union([Type.Literal("none"), Type.Literal("key"), Type.Literal("oauth")], {
  description:
    "What an account needs with the vendor: nothing, a key or password of theirs, or the consent to an OAuth app.",
});

const Link = Type.Object({ label: Type.String(), url: Type.String() });

/** A vendor, or a kind of thing, with the components that are about it. */
export const GalleryApp = Type.Object(
  {
    key: Type.String(),
    name: Type.String(),
    categories: Type.Array(Category),
    account: Type.Object({
      kind: AccountKind,
      needs: OrNull(Type.String(), "Which key it is, and what it must be allowed; null if none is needed."),
      where: OrNull(Link, "Where the vendor shows or makes it."),
    }),
    monogram: Type.String({ description: "One or two letters, for where an icon would be." }),
    maturity: Type.Union([Type.Literal("stable"), Type.Literal("beta")], {
      description:
        "`beta`: tried with an imitation that was written from the vendor's documents, and not with the vendor yet.",
    }),
    docs: OrNull(Link, "What the vendor says of it."),
    last_checked: Type.String({ description: "The day on which the vendor's documents were read last." }),
  },
  { title: "GalleryApp" },
);
export type GalleryApp = Static<typeof GalleryApp>;

/** A version, and what is new in it. */
export const Change = Type.Object({
  version: Type.String(),
  date: Type.String(),
  changes: Type.Array(Type.String()),
});
export type Change = Static<typeof Change>;

/** Who publishes a component that did not come with the release. */
const Origin = Type.Object(
  {
    index: Type.String({ description: "As the operator calls the index." }),
    title: Type.String({ description: "As it calls itself." }),
    url: Type.String({ description: "Where it was fetched." }),
  },
  { title: "GalleryOrigin" },
);
export type Origin = Static<typeof Origin>;

/** What a card shows. */
export const GalleryCard = Type.Object(
  {
    key: Type.String({ description: "Key of the component." }),
    type: TypeOfComponent,
    name: Type.String(),
    description: Type.String({ description: "One sentence." }),
    version: Type.String(),
    component_id: OrNull(
      Type.String(),
      "The component to deploy; null if it is not published: a moment after the start of a new release, or because the operator unpublished it.",
    ),
    app: GalleryApp,
    origin: OrNull(
      Origin,
      "Who publishes it, of an index that the operator added; null: it came with the release.",
    ),
  },
  { title: "GalleryCard" },
);
export type GalleryCard = Static<typeof GalleryCard>;

export const Gallery = Type.Object(
  {
    components: Type.Array(GalleryCard),
    categories: Type.Array(Category, { description: "Those of which the whole gallery has a component." }),
  },
  { title: "Gallery" },
);
export type Gallery = Static<typeof Gallery>;

/** One component of the gallery, with what there is to know before it is deployed. */
export const GalleryEntry = Type.Object(
  {
    ...GalleryCard.properties,
    configurable_props: Type.Array(ConfigurableProp),
    dedupe: OwnWords.dedupe,
    remember: OwnWords.remember,
    sample: Type.Unknown({ description: "An event as it emits them; null if there is none." }),
    packages: Type.Record(Type.String(), Type.String(), {
      description: "Versions of the npm packages in it, by name.",
    }),
    changelog: Type.Array(Change, { description: "The latest version first." }),
  },
  { title: "GalleryEntry" },
);
export type GalleryEntry = Static<typeof GalleryEntry>;

/** What selects cards. */
export const GalleryFilter = Type.Object({
  q: TextFilter("their name, description, key or app"),
  category: Type.Optional(Category),
  account: Type.Optional(AccountKind),
  type: Type.Optional(TypeOfComponent),
});
export type GalleryFilter = Static<typeof GalleryFilter>;
