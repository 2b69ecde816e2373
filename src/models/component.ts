import { Schema } from "mongoose";
import type { ComponentDescription } from "../sandbox/protocol.ts";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** Owner of the gallery's components, which come with each release. It is not an account, so no user can change or delete them. */
export const GALLERY_OWNER = "headwater";

/** Returns the owner of the components of somebody else's index (`src/models/gallery-index.ts`), which is not an account either. */
export const galleryOwner = (index: string): string => `gallery-${index}`;

/** Whether these belong to what publishes the gallery, or an index of it. */
export const isGalleryOwner = (ownerId: string): boolean =>
  ownerId === GALLERY_OWNER || ownerId.startsWith(galleryOwner(""));

export interface Component {
  _id: string;
  owner_id: string;
  user_id: string;
  code: string;
  /** The address the code came from, as given; only metadata if the code itself was given too. */
  component_url: string | null;
  /** SHA-256 of the code and of every file it imports by relative path; equal code is the same component. */
  code_hash: string;
  bundle_hash: string;
  key: string | null;
  name: string;
  version: string;
  description: ComponentDescription;
  /** The npm packages in the bundle: name → pinned version. */
  packages: Record<string, string>;
  /** True if the code may respond to the HTTP request itself (docs/component-api.md#events-given-to-run). */
  uses_respond: boolean;
  /** True if the code adds a slash to the address of the endpoint (docs/component-api.md#events-given-to-run). */
  adds_slash?: boolean;
  published: boolean;
  /** Unix milliseconds; written with each source that uses it, so that a deletion at that moment conflicts. */
  used_at_ms: number | null;
  created_at: number;
  updated_at: number;
}

/** A component as it is stored. */
export interface ComponentRow extends Component {
  /** Its files (`GivenFiles`) as JSON with gzip, if it has several. Read only by who names the field. */
  files?: Buffer;
}

export const Components = collection<Component>(
  "components",
  new Schema<ComponentRow>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      user_id: { type: String, required: true },
      code: { type: String, required: true },
      files: { type: Buffer, select: false },
      component_url: { type: String, default: null },
      code_hash: { type: String, required: true },
      bundle_hash: { type: String, required: true },
      key: { type: String, default: null },
      name: { type: String, required: true },
      version: { type: String, required: true },
      description: { type: Schema.Types.Mixed, required: true },
      packages: { type: Schema.Types.Mixed, required: true },
      uses_respond: { type: Boolean, required: true },
      adds_slash: { type: Boolean },
      published: { type: Boolean, required: true },
      used_at_ms: { type: Number, default: null },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, code_hash: 1 }, { unique: true })
    .index({ owner_id: 1, _id: -1 })
    .index({ owner_id: 1, "description.type": 1, _id: -1 })
    .index({ bundle_hash: 1 })
    .index({ owner_id: 1, key: 1, _id: -1 })
    .index({ key: 1, published: 1, updated_at: -1, _id: -1 })
    // Of releases before schema 23; goes with the next contract.
    .index({ key: 1, published: 1, updated_at: -1 }),
);

/** The self-contained module that the sandbox loads; stored separately so that a component can be read quickly. */
export interface StoredBundle {
  /** SHA-256 of the bundle's text. */
  _id: string;
  /** The text, in documents of releases before schema 10, and for them. */
  code?: string;
  /** The text with gzip, or its first part. */
  packed?: Buffer;
  /** How many further parts are in `bundle_chunks`. */
  chunks?: number;
  /** Ids of its parts in `bundle_parts`, in order, instead of `packed` and `chunks`. */
  parts?: string[];
  /**
   * How many components have it, but for those that releases without this count saved. Each save and each deletion writes it, so
   * that those at the same time conflict, and one of them is repeated.
   */
  saves?: number;
}

export const Bundles = collection<StoredBundle>(
  "bundles",
  new Schema<StoredBundle>(
    {
      _id: { type: String, required: true },
      code: { type: String },
      packed: { type: Buffer },
      chunks: { type: Number },
      parts: { type: [String], default: undefined },
      saves: { type: Number },
    },
    schemaOptions,
  ),
);

/** A part of a packed bundle, written and deleted together with its document. */
export interface BundleChunk {
  _id: string;
  data: Buffer;
}

/** Returns the id of a bundle's further part, counted from 0. */
export const chunkId = (hash: string, part: number): string => `${hash}:${part}`;

export const BundleChunks = collection<BundleChunk>(
  "bundle_chunks",
  new Schema<BundleChunk>(
    { _id: { type: String, required: true }, data: { type: Buffer, required: true } },
    schemaOptions,
  ),
);

/** A part of bundles, of which several may have it (docs/decisions/0044-building-apart.md). */
export interface BundlePart {
  /** SHA-256 of its text. */
  _id: string;
  /** The text with gzip. */
  data: Buffer;
  /** How many bundles have it. */
  bundles: number;
}

export const BundleParts = collection<BundlePart>(
  "bundle_parts",
  new Schema<BundlePart>(
    {
      _id: { type: String, required: true },
      data: { type: Buffer, required: true },
      bundles: { type: Number, required: true },
    },
    schemaOptions,
  ),
);

/** What a component's `additionalProps` returned for a form, until a source is deployed with it. */
export interface StoredDynamicProps {
  _id: string;
  owner_id: string;
  component_id: string;
  /** JSON of `DynamicProps`, encrypted, because it was made with the account's credentials. */
  sealed: string;
  expires_at: Date;
}

export const DynamicPropsRows = collection<StoredDynamicProps>(
  "dynamic_props",
  new Schema<StoredDynamicProps>(
    {
      _id: { type: String, required: true },
      owner_id: { type: String, required: true },
      component_id: { type: String, required: true },
      sealed: { type: String, required: true },
      expires_at: { type: Date, required: true },
    },
    schemaOptions,
  )
    .index({ owner_id: 1, _id: -1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
);
