import { type Migration, schemaOf } from "./migration.ts";
import { firstIndexes } from "./migrations/0001-first-indexes.ts";
import { acceptedWork } from "./migrations/0002-accepted-work.ts";
import { timersChanged } from "./migrations/0003-timers-changed.ts";
import { eventArchives } from "./migrations/0004-event-archives.ts";
import { connections } from "./migrations/0005-connections.ts";
import { alerts } from "./migrations/0006-alerts.ts";
import { functions } from "./migrations/0007-functions.ts";
import { dynamicProps } from "./migrations/0008-dynamic-props.ts";
import { componentsOfActions } from "./migrations/0009-components-of-actions.ts";
import { bundleChunks } from "./migrations/0010-bundle-chunks.ts";
import { packedBundles } from "./migrations/0011-packed-bundles.ts";
import { functionsOfAutoSubscriptions } from "./migrations/0012-functions-of-auto-subscriptions.ts";
import { typesOfComponents } from "./migrations/0013-types-of-components.ts";
import { bundleParts } from "./migrations/0014-bundle-parts.ts";
import { bundlesInParts } from "./migrations/0015-bundles-in-parts.ts";
import { filtersOfLists } from "./migrations/0016-filters-of-lists.ts";
import { issues } from "./migrations/0017-issues.ts";
import { attention } from "./migrations/0018-attention.ts";
import { auditLog } from "./migrations/0019-audit-log.ts";
import { codeHistories } from "./migrations/0020-code-histories.ts";
import { roles } from "./migrations/0021-roles.ts";
import { lastTimes } from "./migrations/0022-last-times.ts";
import { lastPublished } from "./migrations/0023-last-published.ts";
import { pulledEvents } from "./migrations/0024-pulled-events.ts";
import { subscriptionOrders } from "./migrations/0025-subscription-orders.ts";
import { oauthRecords } from "./migrations/0026-oauth-records.ts";
import { galleryIndexes } from "./migrations/0027-gallery-indexes.ts";

/** Every migration, in order (CONTRIBUTING.md says how to add one). */
export const MIGRATIONS: readonly Migration[] = [
  firstIndexes,
  acceptedWork,
  timersChanged,
  eventArchives,
  connections,
  alerts,
  functions,
  dynamicProps,
  componentsOfActions,
  bundleChunks,
  packedBundles,
  functionsOfAutoSubscriptions,
  typesOfComponents,
  bundleParts,
  bundlesInParts,
  filtersOfLists,
  issues,
  attention,
  auditLog,
  codeHistories,
  roles,
  lastTimes,
  lastPublished,
  pulledEvents,
  subscriptionOrders,
  oauthRecords,
  galleryIndexes,
];

/** The schema that this release needs. */
export const SCHEMA = schemaOf(MIGRATIONS);
