import { Schema } from "mongoose";
import { collection, schemaOptions } from "../store/connections/mongo.ts";

/** An index of components that somebody else publishes, as an operator took it (docs/gallery.md#components-of-others). */
export interface GalleryIndex {
  /** The name by which the operator knows it. */
  _id: string;
  url: string;
  /** SHA-256 (hex) of the file, as the operator gave it. */
  sha256: string;
  /** JSON of `ListedIndex`: a text, because MongoDB can't store every key of a sample. */
  listed: string;
  /** Unix seconds. */
  created_at: number;
  updated_at: number;
}

export const GalleryIndexes = collection<GalleryIndex>(
  "gallery_indexes",
  new Schema<GalleryIndex>(
    {
      _id: { type: String, required: true },
      url: { type: String, required: true },
      sha256: { type: String, required: true },
      listed: { type: String, required: true },
      created_at: { type: Number, required: true },
      updated_at: { type: Number, required: true },
    },
    schemaOptions,
  ),
);
