import { type Static, Type } from "typebox";
import { data, routeFor } from "../http/route.ts";
import { RoleSchema } from "../lib/roles.ts";
import { snakeCase } from "../limits/plan-limits.ts";
import type { Queued, Stores } from "../platform.ts";
import { countOwnInvitations } from "./invitations.ts";
import {
  billingPeriod,
  type DayUsage,
  invocationsThisPeriod,
  usageOf,
  usagePerDay,
  usageToday,
} from "./usage.ts";
import { readUser } from "./users.ts";

const route = routeFor<Stores & Queued>();

/** The caller's own user (docs/rest-api.md#current-user, docs/design.md#quotas). */
const CurrentUserSchema = Type.Object(
  {
    id: Type.String(),
    username: Type.String(),
    email: Type.String(),
    orgs: Type.Array(
      Type.Object({
        name: Type.String(),
        id: Type.String(),
        orgname: Type.String(),
        email: Type.String(),
        role: RoleSchema,
      }),
    ),
    invitations: Type.Integer({
      description: "How many invitations to organizations wait for you; counting ends at 100.",
    }),
    is_operator: Type.Boolean({
      description:
        "Whether you may make users and organizations for others, and open private addresses to connections.",
    }),
    daily_compute_time_quota: Type.Optional(
      Type.Integer({ description: "Compute time allowed per day, in milliseconds; free accounts only." }),
    ),
    daily_compute_time_used: Type.Optional(
      Type.Integer({ description: "Compute time used today (UTC), in milliseconds; free accounts only." }),
    ),
    daily_invocations_quota: Type.Optional(
      Type.Integer({ description: "Runs allowed per day; free accounts only." }),
    ),
    daily_invocations_used: Type.Optional(
      Type.Integer({ description: "Runs executed today (UTC); free accounts only." }),
    ),
    billing_period_start_ts: Type.Optional(
      Type.Integer({ description: "First second of the billing period, Unix seconds; paid accounts only." }),
    ),
    billing_period_end_ts: Type.Optional(
      Type.Integer({ description: "Last second of the billing period, Unix seconds; paid accounts only." }),
    ),
    billing_period_invocations: Type.Optional(
      Type.Integer({ description: "Runs executed in the billing period; paid accounts only." }),
    ),
    limits: Type.Record(Type.String(), Type.Integer(), {
      description: "What the account may have, by name (docs/limits.md). Names may be added.",
    }),
    usage: Type.Record(Type.String(), Type.Integer(), {
      description: "What of it is in use, as far as it is counted. Counts end at 100,000.",
    }),
    features: Type.Object(
      {
        payload_search: Type.Boolean({
          description: "Whether deliveries are found by words of their payloads.",
        }),
      },
      { description: "What this server offers. Names may be added." },
    ),
  },
  { title: "CurrentUser" },
);

/** Returns the fields of a user that depend on the plan: the daily quotas, or the billing period. */
async function planFields(
  deps: Stores & Queued,
  userId: string,
  plan: "free" | "paid",
): Promise<Partial<Static<typeof CurrentUserSchema>>> {
  if (plan === "paid") {
    const period = billingPeriod(deps.clock());
    return {
      billing_period_start_ts: period.start,
      billing_period_end_ts: period.end,
      billing_period_invocations: await invocationsThisPeriod(deps, userId),
    };
  }
  const used = await usageToday(deps, userId);
  return {
    daily_compute_time_quota: deps.config.quotas.dailyComputeMs,
    daily_compute_time_used: used.compute,
    daily_invocations_quota: deps.config.quotas.dailyInvocations,
    daily_invocations_used: used.invocations,
  };
}

const inSnakeCase = (byName: object): Record<string, number> =>
  Object.fromEntries(Object.entries(byName).map(([name, value]) => [snakeCase(name), value]));

const DAYS = 30;

const DailyUsage = Type.Object(
  {
    days: Type.Array(
      Type.Object({
        day: Type.String({ description: "UTC, such as `2026-11-22`." }),
        invocations: Type.Integer({ description: "Runs." }),
        compute_ms: Type.Integer(),
        published: Type.Integer({ description: "Events published over HTTP." }),
      }),
      { description: `The last ${DAYS} days, today first.` },
    ),
  },
  { title: "DailyUsage" },
);

const presentDays = (days: DayUsage[]): Static<typeof DailyUsage> => ({
  days: days.map(({ day, invocations, compute, published }) => ({
    day,
    invocations,
    compute_ms: compute,
    published,
  })),
});

const exampleDays: Static<typeof DailyUsage> = {
  days: [{ day: "2023-11-14", invocations: 42, compute_ms: 5210, published: 17 }],
};

export const userRoutes = [
  route({
    method: "GET",
    path: "/users/me/daily_usage",
    id: "getMyDailyUsage",
    tag: "Users",
    summary: "Get what you used on each of the last 30 days",
    description: "Invocations and compute time by day, in UTC; a day without any is 0.",
    access: { kind: "owner" },
    response: data(200, DailyUsage),
    example: { response: exampleDays },
    handler: async ({ deps, owner }) => presentDays(await usagePerDay(deps, owner, DAYS)),
  }),
  route({
    method: "GET",
    path: "/orgs/{org_id}/daily_usage",
    id: "getOrganizationDailyUsage",
    tag: "Users",
    summary: "Get what an organization used on each of the last 30 days",
    description: "Invocations and compute time by day, in UTC; a day without any is 0.",
    access: { kind: "member" },
    response: data(200, DailyUsage),
    example: { params: { org_id: "o_0CjB8tYr3KpL7xVd" }, response: exampleDays },
    handler: async ({ deps, owner }) => presentDays(await usagePerDay(deps, owner, DAYS)),
  }),
  route({
    method: "GET",
    path: "/users/me",
    id: "getCurrentUser",
    tag: "Users",
    summary: "Get the current user",
    description:
      "With the organizations that you are a member of, your quota or billing period, and the limits of your account.",
    access: { kind: "caller" },
    response: data(200, CurrentUserSchema),
    example: {
      response: {
        id: "u_0CjB8sXp1LmN4vYb",
        username: "anna",
        email: "anna@example.com",
        orgs: [
          {
            ...{ name: "Acme", id: "o_0CjB8tYr3KpL7xVd", orgname: "acme-l7xvd" },
            ...{ email: "billing@example.com", role: "owner" },
          },
        ],
        invitations: 0,
        is_operator: false,
        daily_compute_time_quota: 1_800_000,
        daily_compute_time_used: 5_210,
        daily_invocations_quota: 10_000,
        daily_invocations_used: 42,
        limits: { sources: 100, webhooks: 100, subscriptions: 1000, queued_bytes: 67_108_864 },
        usage: { sources: 3, webhooks: 1, subscriptions: 2, queued_bytes: 0 },
        features: { payload_search: false },
      },
    },
    handler: async ({ deps, caller }) => {
      const { user, orgs } = await readUser(deps, caller.userId);
      return {
        id: user._id,
        username: user.username,
        email: user.email,
        orgs: orgs.map(({ _id, name, orgname, email, role }) => ({ name, id: _id, orgname, email, role })),
        invitations: await countOwnInvitations(deps, user.email),
        is_operator: user.operator === true,
        ...(await planFields(deps, user._id, user.plan)),
        limits: inSnakeCase(deps.config.limits[user.plan]),
        usage: inSnakeCase(await usageOf(deps, user._id)),
        features: { payload_search: deps.config.payloadSearchWords > 0 },
      };
    },
  }),
];
