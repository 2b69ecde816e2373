import type { QueryFilter } from "mongoose";
import type { Delivery } from "../../models/delivery.ts";
import type { ReplayFilter } from "../../models/replay.ts";

/** What selects deliveries. A replay has no `event_id` and no `subscription_id`: workers of the release before would send all. */
export interface DeliverySelector extends ReplayFilter {
  event_id?: string;
  subscription_id?: string;
}

/** The accounts of a request. */
export interface SearchScope {
  owner: string;
  owners: string[];
  /** Where the request gave the search, for errors; the query unless given. */
  where?: "query" | "body";
}

/** The webhooks whose deliveries are searched. An account may have very many, which are read only where that is needed. */
export interface SearchedWebhooks {
  /** Whose they are. */
  owner: string;
  /** The newest, at most `MERGED`. */
  first: string[];
  hasMore: boolean;
  all: () => Promise<string[]>;
}

/** MongoDB merges up to 200 ranges of an index in order; more of them it would sort in memory. */
export const MERGED = 150;

/** What finds deliveries: the webhooks, what their indexes hold, and what must be read in each delivery. */
export interface Selection {
  webhooks: SearchedWebhooks;
  indexed: QueryFilter<Delivery>;
  /** A stage of an aggregation; null if the indexes decide alone. */
  read: QueryFilter<Delivery> | null;
  /** Words of the payload; null if any payload will do. */
  text: TextSelection | null;
}

export interface TextSelection {
  /** `wordsOfText`; the first one is looked up in the index. */
  words: number[];
  /** Whose events are searched. */
  owners: string[];
  /** When the events were emitted. Unix milliseconds; inclusive. */
  sinceMs: number;
  untilMs: number;
}

/** Rows that one query found, in the direction of the page. */
export interface Found {
  rows: Delivery[];
  /** The id up to which it has read; null if it has read all. */
  readUpTo: string | null;
}
