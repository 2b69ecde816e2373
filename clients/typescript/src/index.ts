export * from "./errors.ts";
export { Headwater } from "./headwater.ts";
export { type Cursor, List, type Page } from "./list.ts";
export type { EventQuery } from "./lists.ts";
export type { LiveMessage, WatchOptions } from "./live.ts";
export type { BodyOf, InputOf, MethodOf, Path, QueryOf, ResultOf, Schemas } from "./operations.ts";
export type { CallOptions, HeadwaterOptions } from "./options.ts";
export type { PulledEvent, PullOptions } from "./resources/listeners.ts";
export type * from "./schema.ts";
