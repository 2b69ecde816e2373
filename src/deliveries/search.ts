import { LIMITS } from "../limits/catalogue.ts";
import { Deliveries } from "../models/delivery.ts";
import type { Platform } from "../platform.ts";
import { countCached, mapPage, type Page, type PageRequest } from "../store/page.ts";
import { presentDelivery } from "./present.ts";
import type { DeliverySearch, DeliveryView } from "./schema.ts";
import { countRead, findSelected, indexedFilters, selectDeliveries, sum } from "./select/select.ts";
import type { SearchScope, Selection } from "./select/selection.ts";

type Deps = Pick<Platform, "mongo" | "redis" | "keys" | "config">;

/**
 * Returns a page of deliveries over all webhooks of an account, newest first. A page whose filter has no index ends early
 * after `LIMITS.deliveriesSearched` deliveries, perhaps empty: its end cursor goes on. `total_count` is then that of the
 * newest so many.
 */
export async function searchDeliveries(
  platform: Deps,
  scope: SearchScope,
  search: DeliverySearch,
  page: PageRequest,
): Promise<Page<DeliveryView>> {
  const selection = await selectDeliveries(platform, scope, search);
  const [{ isEnd: _, ...found }, totalCount] = await Promise.all([
    findSelected(platform, selection, page),
    countAll(platform, { scope, search, selection }),
  ]);
  return mapPage({ ...found, totalCount }, presentDelivery);
}

async function countAll(
  { mongo, redis, keys }: Deps,
  { scope, search, selection }: { scope: SearchScope; search: DeliverySearch; selection: Selection },
): Promise<number> {
  const model = Deliveries(mongo);
  const { read } = selection;
  const filters = indexedFilters(selection);
  if (read !== null || selection.text !== null)
    return await countRead({ mongo }, selection, LIMITS.deliveriesSearched.value);
  const list = `all-deliveries-${[search.webhook_id, search.state, search.since, search.until].map(part => part ?? "").join("-")}`;
  return await countCached(
    async limit =>
      sum(
        await Promise.all(
          filters.map(filter => model.countDocuments(filter, limit === undefined ? {} : { limit })),
        ),
      ),
    { redis, key: keys.listCount(scope.owner, list) },
  );
}
