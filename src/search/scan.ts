import type { Model, PipelineStage, QueryFilter } from "mongoose";
import { LIMITS } from "../limits/catalogue.ts";
import { beginningWith } from "../store/text-filter.ts";
import { options, READ, type Search } from "./draft.ts";

const SCANNED = LIMITS.deliveriesSearched.value;

/**
 * Reads the newest rows whose id begins with the text, those of other accounts too, and keeps the caller's: an index of accounts would cost every
 * delivery and every run a write. Ids begin with their time, so half an id is of one millisecond.
 */
export async function scan<Row extends { _id: string }>(
  model: Model<Row>,
  { q, owners }: Search,
  $project: Record<string, unknown>,
): Promise<{ rows: Row[]; isPartial: boolean }> {
  const isWhole = /_[0-9A-Za-z]{16}$/.test(q);
  const _id = isWhole ? q : beginningWith(q);
  const stages: PipelineStage[] = [
    { $match: { _id } },
    { $sort: { _id: -1 } },
    { $limit: SCANNED },
    { $match: { owner_id: { $in: owners } } },
    { $limit: READ },
    { $project },
  ];
  const [rows, beyond] = await Promise.all([
    model.aggregate<Row>(stages, options),
    isWhole
      ? []
      : model
          .find({ _id } as QueryFilter<Row>, { _id: 1 }, options)
          .sort({ _id: -1 })
          .skip(SCANNED)
          .limit(1),
  ]);
  return { rows, isPartial: rows.length < READ && beyond.length > 0 };
}
