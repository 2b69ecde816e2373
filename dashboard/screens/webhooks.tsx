import { readWebhookTotals } from "../api/calls";
import { useFresh } from "../api/fresh";
import { usePaged } from "../api/paged";
import { useResource } from "../api/resource";
import { inAccount } from "../api/session";
import { to } from "../lib/address";
import { apiCommand } from "../lib/curl";
import { duration, successRate } from "../lib/format";
import { Button, Time } from "../ui/basics";
import { BY_MOMENT, ListFilters } from "../ui/list-filters";
import { ListScreen } from "../ui/list-screen";
import { NothingYet } from "../ui/states";
import { NewWebhook } from "./new-webhook";
import { WebhookBadge } from "./webhook-badge";
import { LAST_TIMES, RECEIVER_FILTERS, RECEIVER_STATES, receiverFilter } from "./webhook-parts";

/** The webhooks of the account, each with its success and its slow responses of the last 24 hours. */
export function Webhooks() {
  const { filters, resource, read } = usePaged(
    (cursor, call, query) => inAccount().webhooks.list({ ...cursor, ...receiverFilter(query) }, call),
    RECEIVER_FILTERS,
  );
  useFresh(resource);
  const ids = (resource.data?.data ?? []).map(({ id }) => id).join();
  const totals = useResource(
    async call => new Map(ids === "" ? [] : await readWebhookTotals(ids, call)),
    [ids],
  );
  useFresh(totals);
  const successOf = (id: string) => {
    const total = totals.data?.get(id);
    return total ? successRate(total) : "–";
  };
  const create = (
    <Button changes kind="primary" icon="plus" onClick={() => filters.set({ new: "1" })}>
      New webhook
    </Button>
  );
  return (
    <ListScreen
      title="Webhooks"
      about="Addresses of yours that events are sent to: signed, and retried until they arrive."
      actions={create}
      above={
        <ListFilters
          filters={filters}
          things="webhooks"
          placeholder="Name, address or id"
          states={RECEIVER_STATES}
          orders={BY_MOMENT}
        />
      }
      resource={resource}
      read={read}
      filters={filters}
      empty={
        <NothingYet
          icon="webhook"
          title="No webhooks yet"
          command={apiCommand("/webhooks", { method: "POST", body: { url: "https://example.com/hook" } })}
          action={create}
        >
          A webhook is an address of yours that receives events. The response has the key that signs them,
          once:
        </NothingYet>
      }
      columns={[
        {
          head: "Webhook",
          cell: row => (
            <>
              <a class="title" href={to(`/webhooks/${row.id}`)}>
                {row.name || row.url}
              </a>
              {row.name && <div class="sub">{row.url}</div>}
              {(row.ordered || row.rate_limit_per_second !== null) && (
                <div class="sub">
                  {[
                    row.ordered && "in order",
                    row.rate_limit_per_second !== null && `at most ${row.rate_limit_per_second}/s`,
                  ]
                    .filter(Boolean)
                    .join(", ")}
                </div>
              )}
            </>
          ),
        },
        { head: "Health", cell: row => <WebhookBadge webhook={row} /> },
        { head: "Success, 24 h", isNumber: true, cell: row => successOf(row.id) },
        {
          head: "p95, 24 h",
          isNumber: true,
          cell: row => duration(totals.data?.get(row.id)?.p95_ms ?? null),
        },
        { head: "Failing since", label: true, cell: row => <Time seconds={row.failing_since} /> },
        {
          head: "Will be disabled",
          label: true,
          cell: row => <Time seconds={row.will_be_disabled_at} />,
        },
        ...LAST_TIMES,
      ]}
    >
      {filters.query.new === "1" && <NewWebhook onClose={() => filters.set({ new: undefined })} />}
    </ListScreen>
  );
}
