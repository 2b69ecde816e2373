// Generated from openapi.json by script/lib/api-types.mjs.
interface Failure {
  headers: { [name: string]: unknown };
  content: { "application/problem+json": components["schemas"]["Problem"] };
}
export interface components {
  schemas: {
    PageInfo: {
      /** Number of items in the whole list. */ total_count: number /** Number of items on this page. */;
      count: number /** Cursor of the first item; null if the page is empty. */;
      start_cursor: string | null /** Cursor of the last item; null if the page is empty. */;
      end_cursor: string | null;
    };
    /** A problem as defined by RFC 9457. */ Problem: {
      /** Address of the explanation of this kind of problem. */ type: string /** The kind of problem. */;
      title: string;
      status: number /** What went wrong with this request. */;
      detail: string /** The same text as `detail`. */;
      error: string;
      errors?: {
        /** The part of the request that has the error; `component`: the code of the component. */ in:
          | "path"
          | "query"
          | "body"
          | "header"
          | "component" /** Path of the parameter or field, for example `configured_props.timer`. */;
        path: string /** What is wrong, for example `must be an integer`. */;
        message: string;
      }[];
    };
    ConfigurableProp: {
      name: string;
      type: string;
      label?: string;
      description?: string;
      default?: unknown;
      [name: string]: unknown;
    };
    Component: {
      id: string;
      code: string;
      code_hash: string;
      name: string;
      version: string;
      key: string | null;
      component_url: string | null;
      configurable_props: components["schemas"]["ConfigurableProp"][] /** True if its code makes further props, which `POST /components/{id}/props` gets. */;
      additional_props: boolean;
      created_at: number;
      updated_at: number;
    };
    DescribedCode: {
      /** True if it can be saved. */ ok: boolean;
      errors: {
        /** Such as `props.timer.type`; `component_code` for the code as a whole. */ path: string;
        message: string /** In the code, from 1; null if it is not known. */;
        line: number | null /** From 1. */;
        column: number | null;
      }[];
      component: {
        name: string;
        version: string;
        key: string | null;
        description: string | null;
        configurable_props: components["schemas"]["ConfigurableProp"][] /** True if its code makes further props, which `POST /components/{id}/props` gets. */;
        additional_props: boolean /** Pinned versions of npm packages by the text of the import. */;
        packages: Record<string, string>;
        hooks: string[] /** True if an HTTP response may wait for it. */;
        uses_respond: boolean /** True if it has a `sampleEmit`, an event to try things with. */;
        sample_emit: boolean;
      } | null;
    };
    TriedCode: {
      /** True if the run threw no error. */ ok: boolean;
      emits: {
        event: unknown /** Channel; empty for the default channel. */;
        name: string /** What `dedupe` would compare. */;
        id: string | number | null /** A line for people. */;
        summary: string | null;
        ts: number | null;
      }[] /** How many more it emitted than are shown (1 MB). */;
      emits_left_out: number;
      logs: { level: string; message: string; ts: number }[];
      response: {
        status: number;
        headers: Record<string, string | string[]> /** The first 64 KB; null if it is not text. */;
        body: string | null;
      } | null;
      error: {
        code: string;
        message: string;
        stack: string /** In the code, from 1; null if it is not known. */;
        line: number | null /** From 1. */;
        column: number | null;
      } | null /** What `$.service.db` holds afterwards; null if that is over 1 MB. */;
      db: Record<string, unknown> | null /** Duration of the run. */;
      ms: number;
      cpu_ms: number;
    };
    PropOptions: {
      options: { label: string; value: unknown }[];
      context: unknown;
      logs: { level: string; message: string; ts: number }[];
      error: { code: string; message: string; stack: string } | null;
    };
    App: {
      /** As `app` props name it. */ slug: string /** As people know it. */;
      name: string /** What a connection asks for. */;
      scopes: string[];
    };
    Connection: {
      /** `apn_…`; the `authProvisionId` of an `app` prop. */ id: string /** The user who created it. */;
      user_id: string /** Slug of the app, as `app` props name it. */;
      app: string /** `keys`: its fields were given. `oauth2`: the app granted its access, which is renewed. */;
      kind: "keys" | "oauth2" /** Label shown in listings. */;
      name: string /** Names of the fields in `$auth` of runs; the values are never shown. */;
      field_names: string[] /** What the app granted, as far as it said so. */;
      scope:
        | string
        | null /** `failing`: its token has ended and can't be renewed at the moment, which is tried again. `broken`: it must be reconnected. */;
      health: "working" | "failing" | "broken" /** Why the last renewal failed; null if it did not. */;
      error: {
        /** The app's error code, such as `invalid_grant`, or one of ours. */ code: string;
        message: string /** Unix seconds. */;
        at: number;
      } | null /** Unix seconds: when its access token ends; null if it doesn't. */;
      expires_at: number | null /** Unix seconds: when its access token was last granted or renewed. */;
      refreshed_at: number | null /** Unix seconds. */;
      created_at: number /** Unix seconds. */;
      updated_at: number;
    };
    Consent: {
      /** Id of the connection, which exists once the person has agreed. */ connection_id: string /** A page of this server, which sends the browser on to the app. It works once. */;
      url: string /** Unix seconds: until then the page can be opened. */;
      expires_at: number;
    };
    NextProps: {
      /** What to deploy the source with. It expires after a day if none is. Null if the code failed, or makes none. */ dynamic_props_id:
        | string
        | null /** The props that the code added to the component's own, or changed. */;
      dynamic_props: components["schemas"]["ConfigurableProp"][];
      logs: { level: string; message: string; ts: number }[];
      error: { code: string; message: string; stack: string } | null;
    };
    Source: {
      id: string;
      user_id: string;
      component_id: string /** Values by prop name, without secrets. A timer is `{cron, interval_seconds}`, an HTTP interface `{endpoint_url}`, whatever the name of the prop. */;
      configured_props: {
        /** An HTTP interface: requests to `endpoint_url` run the source. */ http?: {
          endpoint_url?: string;
        } /** A timer: either `cron` or `interval_seconds` is null. */;
        timer?: { cron?: string | null; interval_seconds?: number | null; timezone?: string };
        [name: string]: unknown;
      } /** Id of the props that its `additionalProps` made for it; null if the component's own are all. */;
      dynamic_props_id: string | null;
      active: boolean;
      created_at: number;
      updated_at: number;
      name: string;
      name_slug: string;
    };
    SourceDetail: {
      id: string;
      user_id: string;
      component_id: string /** Values by prop name, without secrets. A timer is `{cron, interval_seconds}`, an HTTP interface `{endpoint_url}`, whatever the name of the prop. */;
      configured_props: {
        /** An HTTP interface: requests to `endpoint_url` run the source. */ http?: {
          endpoint_url?: string;
        } /** A timer: either `cron` or `interval_seconds` is null. */;
        timer?: { cron?: string | null; interval_seconds?: number | null; timezone?: string };
        [name: string]: unknown;
      } /** Id of the props that its `additionalProps` made for it; null if the component's own are all. */;
      dynamic_props_id: string | null;
      active: boolean;
      created_at: number;
      updated_at: number;
      name: string;
      name_slug: string /** Number of events dropped on purpose, by reason. */;
      dropped: Record<
        string,
        number
      > /** The props that its `additionalProps` added to the component's own, or changed. */;
      dynamic_props: components["schemas"]["ConfigurableProp"][] /** Names of the props that have a secret or credentials stored. Their values are never shown. */;
      secrets_set: string[] /** When its timer is due next; Unix milliseconds. Null without a timer, and while it is off. */;
      next_tick_at_ms: number | null;
    };
    Run: {
      /** `run_…`; the `emit_id` of each of its events starts with it. */ id: string;
      source_id: string /** `http`, `timer`, `event` or `manual`; for hooks the change that called them: `create` or `update`. */;
      trigger: string /** `ok`, or the code of the error. */;
      outcome: string;
      error: {
        code: string;
        message: string;
      } | null /** Unix milliseconds; null if the run was not executed. */;
      started_at_ms: number | null;
      duration_ms: number /** CPU time in milliseconds; null if the system does not report it. */;
      cpu_ms:
        | number
        | null /** Memory of the process at the end of the run; null if the system does not report it. */;
      memory_bytes: number | null;
      emitted: number /** Number of events dropped on purpose (or the run itself), by reason. */;
      dropped: Record<string, number> /** Unix milliseconds. */;
      finished_at_ms: number /** Its trace; null without one. */;
      trace_id: string | null;
    };
    Sample: {
      events: {
        event: unknown /** Channel; empty for the default channel. */;
        name: string /** What `dedupe` would compare. */;
        id: string | number | null /** A line for people. */;
        summary: string | null;
        ts: number | null;
      }[] /** Those of the events; empty unless they were emitted. */;
      emit_ids: string[];
      logs: { level: string; message: string; ts: number }[];
      error: { code: string; message: string; stack: string } | null;
    };
    EventSummary: {
      /** `<epoch_milliseconds>-<sequence>`; ids are in the order of emission. */ id: string /** Unix milliseconds. */;
      indexed_at_ms: number;
      event: {
        raw_event?: unknown;
        original_event?: unknown;
        original_context?: unknown;
        error?: unknown;
        level?: unknown;
        message?: unknown;
        ts?: unknown;
        [name: string]: unknown;
      };
      metadata: {
        emit_id: string /** Channel; empty for the default channel, `$errors` for errors, `$logs` for log lines. */;
        name: string;
        emitter_id: string;
        summary?: string /** When it happened, as its publisher said; Unix milliseconds. */;
        ts?: number /** The event was truncated to 1 KB; `expand=event` returns all of it. */;
        truncated?: true;
      };
    };
    EventRow: {
      id: string;
      e: unknown /** Channel; `emit` for the default channel. */;
      k: string /** Unix milliseconds. */;
      ts: number;
      metadata: {
        emit_id: string /** Channel; empty for the default channel, `$errors` for errors, `$logs` for log lines. */;
        name: string;
        emitter_id: string;
        summary?: string /** When it happened, as its publisher said; Unix milliseconds. */;
        ts?: number /** The event was truncated to 1 KB; `expand=event` returns all of it. */;
        truncated?: true;
      };
    };
    NewEvent: {
      /** Any JSON value of at most 512 KB. */ event: unknown /** Channel: empty for the default one, a name of yours, `$errors` or `$logs`. */;
      name?: string /** Identity of the event: the same one again is the same event. Visible ASCII characters. */;
      id?: string /** When it happened, for people: Unix milliseconds. It does not change the order of events. */;
      ts?: number;
    };
    Published: { /** One for each event, in order. */ emit_ids: string[] };
    ActionOutput: {
      /** What it exported as "$summary". */ summary: string | null /** The last value of each name. */;
      exports: Record<string, unknown> /** What `run` returned; null if nothing. */;
      return_value: unknown /** True if something of it was more than the 4 KB that are kept. */;
      truncated: boolean /** The last 4 KB of its log. */;
      logs: { level: string; message: string; ts: number }[];
    };
    EventTrace: {
      /** `queued`: accepted, and not yet handled by the emissions worker */ state: "queued" | "emitted";
      emitter_id: string /** Null if it is no longer known */;
      emit_id: string | null /** Null while the event is queued */;
      event_id: string | null /** Channel; empty for the default channel */;
      name: string | null /** Unix milliseconds */;
      emitted_at_ms:
        | number
        | null /** Null if it is no longer among the last 100 of its stream, or was deleted */;
      summary:
        | components["schemas"]["EventSummary"]
        | null /** Where the whole event is; once it is gone, it can't be retried */;
      payload:
        | "stored"
        | "in-summary"
        | "gone" /** Only with `expand=event`: the whole event as its listeners receive it; absent once its payload is gone */;
      event?: unknown /** The run that emitted it */;
      run: {
        id: string;
        source_id: string;
        trigger: string /** `ok`, or the code of the error */;
        outcome: string;
        error: { code: string; message: string } | null;
        emitted: number;
        dropped: Record<string, number>;
        started_at_ms: number | null;
        finished_at_ms: number;
      } | null /** Its trace in your tracing tool, if there is one */;
      trace_id: string | null /** Where that trace is shown; null if it was not recorded */;
      trace_url: string | null /** Subscriptions to the emitter, evaluated now; at most 100 */;
      subscriptions: {
        id: string;
        emitter_id: string;
        listener_id: string;
        event_name: string /** As the subscription is now: it may have been changed since the event */;
        outcome:
          | "matched"
          | "filtered"
          | "other-channel"
          | "created-later" /** Why it did not match, or why its listener received nothing */;
        reason: string | null;
      }[] /** First attempts that are not recorded yet, and the state of their job */;
      dispatch: { job_id: string; state: string } | null /** Deliveries to your webhooks; at most 100 */;
      deliveries: {
        /** `dlv_…`; sent as `webhook-id` with every attempt. */ id: string;
        webhook_id: string;
        subscription_id: string;
        emitter_id: string;
        event_id: string;
        event_name: string;
        state:
          | "pending"
          | "delivered"
          | "failed"
          | "cancelled" /** Why it failed or was cancelled: `exhausted` (no retries left), `gone` (the endpoint returned 410), `webhook-disabled`, `payload-gone`, `webhook-deleted`, `subscription-deleted`, `access-lost` or `dropped-by-function` (the subscription's function returned null); otherwise null. */;
        reason: string | null;
        attempts_made: number;
        last_attempt: {
          /** Starts at 1; sent as `x-headwater-attempt`. */ number: number /** Unix milliseconds; its second was sent as `webhook-timestamp`. */;
          at_ms: number;
          trigger: "schedule" | "manual" /** HTTP status; null if there was no response. */;
          status: number | null;
          latency_ms: number /** Why the attempt failed; null if it succeeded. */;
          error: string | null /** First KB of the response body. */;
          response: string;
        } | null;
        next_attempt_at_ms: number | null;
        finished_at_ms: number | null /** Unix seconds. */;
        created_at: number /** Its trace, the same for all attempts; null without one. */;
        trace_id:
          | string
          | null /** The last 50 attempts, oldest first; those of an action with what it exported (`output`). */;
        attempts: {
          /** Starts at 1; sent as `x-headwater-attempt`. */ number: number /** Unix milliseconds; its second was sent as `webhook-timestamp`. */;
          at_ms: number;
          trigger: "schedule" | "manual" /** HTTP status; null if there was no response. */;
          status: number | null;
          latency_ms: number /** Why the attempt failed; null if it succeeded. */;
          error: string | null /** First KB of the response body. */;
          response: string;
          output?: components["schemas"]["ActionOutput"];
        }[] /** What a pending delivery waits for */;
        waiting_for: string | null;
      }[] /** What became of it at sources and workflows */;
      listeners: {
        subscription_id: string /** The source or workflow */;
        listener_id: string /** `queued`: waits in the run queue, or for a workflow engine; `finished`: the source ran; `taken`: an engine took it; `failed`: an engine gave it up; `unknown`: no record is left */;
        state: "queued" | "finished" | "taken" | "failed" | "unknown" /** The run of a source that listens */;
        run: {
          id: string;
          source_id: string;
          trigger: string /** `ok`, or the code of the error */;
          outcome: string;
          error: { code: string; message: string } | null;
          emitted: number;
          dropped: Record<string, number>;
          started_at_ms: number | null;
          finished_at_ms: number;
        } | null;
      }[] /** All events of this emitter that were dropped on purpose, reason to count */;
      emitter_dropped: Record<string, number>;
    };
    Replayed: {
      deliveries: { id: string; webhook_id: string }[];
      runs: { id: string; source_id: string }[];
      workflows: { workflow_id: string }[] /** Listeners that do not receive it again, and why. */;
      skipped: { listener_id: string; reason: string }[];
    };
    FilterTest: {
      /** Events of the channel among the last 100. */ tested: number;
      matched: number /** Newest first. */;
      results: {
        event_id: string /** Unix milliseconds. */;
        emitted_at_ms: number;
        matched: boolean /** The first condition that fails, with what the event has there. */;
        reason: string | null;
        event: {
          raw_event?: unknown;
          original_event?: unknown;
          original_context?: unknown;
          error?: unknown;
          level?: unknown;
          message?: unknown;
          ts?: unknown;
          [name: string]: unknown;
        };
      }[];
    };
    FunctionTest: {
      /** Newest first, or in the order of the request. */ results: {
        /** Null for an event of the request. */ event_id:
          | string
          | null /** What would be sent; null if nothing would. */;
        result: unknown /** True if the function returned null. */;
        dropped: boolean /** Why the attempt would fail. */;
        error: {
          message: string /** In the code, from 1. */;
          line: number | null /** From 1. */;
          column: number | null;
        } | null /** What it wrote to `console`, up to 4 KB. */;
        logs: { level: string; message: string; ts: number }[] /** Duration. */;
        ms: number;
      }[];
    };
    Subscription: {
      id: string /** Id of a workflow, source or organization, or `p_*` or `dc_*`; of an account for its alerts. */;
      emitter_id: string /** Id of a webhook (`wh_`), destination (`ds_`, `ac_`), source (`dc_`) or workflow (`p_`). */;
      listener_id: string /** Channel; empty for the default channel. */;
      event_name: string /** Only events that match are sent. Keys are paths into the event, with a value or an object of operators (docs/filters.md). */;
      filter?: Record<
        string,
        unknown
      > /** Code of the function that each event goes through; absent in lists. */;
      function?: string /** SHA-256 of that code, hex. */;
      function_hash?: string /** Events that the function failed on since it was set. */;
      function_errors?: number;
      last_function_error?: {
        message: string /** In the code, from 1. */;
        line: number | null /** From 1. */;
        column: number | null;
        event_id: string /** Unix milliseconds. */;
        at_ms: number /** What it wrote to `console` for that event, up to 4 KB. */;
        logs: { level: string; message: string; ts: number }[];
      };
    };
    AutoSubscription: { id: string; listener_id: string; event_name: string };
    WebhookWithKey: {
      /** `wh_…`; use it as the `listener_id` of subscriptions. */ id: string /** The user who created it. */;
      user_id: string /** Label shown in listings. */;
      name: string | null /** Description shown in listings. */;
      description: string | null /** Address that events are sent to. */;
      url: string /** False: no events are sent; they are counted as dropped. */;
      active: boolean /** Why the platform disabled it; null if it did not. */;
      disabled_reason:
        | string
        | null /** Unix seconds of the first failed attempt since the last success; null while it works. */;
      failing_since:
        | number
        | null /** Unix seconds; an attempt that fails after this time disables the webhook, unless an attempt succeeds before. */;
      will_be_disabled_at:
        | number
        | null /** A warning to the owner that the webhook is about to be disabled, and why. */;
      notice:
        | string
        | null /** Maximum number of deliveries in flight at once, over all workers (1 while the webhook is failing, or if it is ordered); null: the server's default. */;
      max_in_flight:
        | number
        | null /** Maximum number of attempts started per second, first attempts and retries; up to a quarter more in a single second. Deliveries above the limit wait, which does not count as an attempt; null: no limit. */;
      rate_limit_per_second:
        | number
        | null /** True: events are sent one at a time, in the order of their ids, each after the one before was delivered or has failed for good. A failing delivery blocks the ones after it, so its retries are at most an hour apart. Adds half a second of delay, and lowers throughput. */;
      ordered: boolean /** Names of its custom headers; the values are never shown. */;
      header_names: string[] /** Unix seconds. */;
      created_at: number /** Unix seconds. */;
      updated_at: number /** `whsec_…`, for verifying the signatures of deliveries; never shown again. */;
      signing_key: string;
    };
    Webhook: {
      /** `wh_…`; use it as the `listener_id` of subscriptions. */ id: string /** The user who created it. */;
      user_id: string /** Label shown in listings. */;
      name: string | null /** Description shown in listings. */;
      description: string | null /** Address that events are sent to. */;
      url: string /** False: no events are sent; they are counted as dropped. */;
      active: boolean /** Why the platform disabled it; null if it did not. */;
      disabled_reason:
        | string
        | null /** Unix seconds of the first failed attempt since the last success; null while it works. */;
      failing_since:
        | number
        | null /** Unix seconds; an attempt that fails after this time disables the webhook, unless an attempt succeeds before. */;
      will_be_disabled_at:
        | number
        | null /** A warning to the owner that the webhook is about to be disabled, and why. */;
      notice:
        | string
        | null /** Maximum number of deliveries in flight at once, over all workers (1 while the webhook is failing, or if it is ordered); null: the server's default. */;
      max_in_flight:
        | number
        | null /** Maximum number of attempts started per second, first attempts and retries; up to a quarter more in a single second. Deliveries above the limit wait, which does not count as an attempt; null: no limit. */;
      rate_limit_per_second:
        | number
        | null /** True: events are sent one at a time, in the order of their ids, each after the one before was delivered or has failed for good. A failing delivery blocks the ones after it, so its retries are at most an hour apart. Adds half a second of delay, and lowers throughput. */;
      ordered: boolean /** Names of its custom headers; the values are never shown. */;
      header_names: string[] /** Unix seconds. */;
      created_at: number /** Unix seconds. */;
      updated_at: number;
    };
    RedisStreamSettings: {
      url: string /** User name. */;
      username: string | null /** The password is never shown. */;
      has_password: boolean /** Key of the stream. */;
      stream: string /** About how many entries the stream keeps. */;
      max_length: number /** Certificates that are trusted instead of the public ones. */;
      ca: string | null;
    };
    RabbitMqSettings: {
      url: string /** User name. */;
      username: string | null /** The password is never shown. */;
      has_password: boolean /** The queue. */;
      queue: string | null /** The exchange. */;
      exchange: string | null /** The routing key. */;
      routing_key: string | null /** Certificates that are trusted instead of the public ones. */;
      ca: string | null;
    };
    S3Settings: {
      url: string;
      region: string /** The secret of the key is never shown. */;
      access_key_id: string /** Pattern of the objects' keys. */;
      key: string;
    };
    ActionSettings: {
      component_id: string /** Values by prop name, templates as they are, without secrets. */;
      configured_props: Record<
        string,
        unknown
      > /** Names of the props that have a secret or credentials stored, which are never shown. */;
      secrets_set: string[];
    };
    Destination: {
      /** `ds_…` (`ac_…` of an action); use it as the `listener_id` of subscriptions. */ id: string /** What its events are handed to; the field of this name has its settings. */;
      kind:
        | "redis_stream"
        | "rabbitmq"
        | "s3"
        | "action" /** Where its events go, without user name and password. */;
      url: string /** The user who created it. */;
      user_id: string /** Label shown in listings. */;
      name: string | null /** Description shown in listings. */;
      description: string | null /** False: no events are sent; they are counted as dropped. */;
      active: boolean /** Why the platform disabled it; null if it did not. */;
      disabled_reason:
        | string
        | null /** Unix seconds of the first failed attempt since the last success; null while it works. */;
      failing_since:
        | number
        | null /** Unix seconds; an attempt that fails after this time disables the webhook, unless an attempt succeeds before. */;
      will_be_disabled_at:
        | number
        | null /** A warning to the owner that the webhook is about to be disabled, and why. */;
      notice:
        | string
        | null /** Maximum number of deliveries in flight at once, over all workers (1 while the webhook is failing, or if it is ordered); null: the server's default. */;
      max_in_flight:
        | number
        | null /** Maximum number of attempts started per second, first attempts and retries; up to a quarter more in a single second. Deliveries above the limit wait, which does not count as an attempt; null: no limit. */;
      rate_limit_per_second:
        | number
        | null /** True: events are sent one at a time, in the order of their ids, each after the one before was delivered or has failed for good. A failing delivery blocks the ones after it, so its retries are at most an hour apart. Adds half a second of delay, and lowers throughput. */;
      ordered: boolean /** Unix seconds. */;
      created_at: number /** Unix seconds. */;
      updated_at: number;
      redis_stream?: components["schemas"]["RedisStreamSettings"];
      rabbitmq?: components["schemas"]["RabbitMqSettings"];
      s3?: components["schemas"]["S3Settings"];
      action?: components["schemas"]["ActionSettings"];
    };
    Delivery: {
      /** `dlv_…`; sent as `webhook-id` with every attempt. */ id: string;
      webhook_id: string;
      subscription_id: string;
      emitter_id: string;
      event_id: string;
      event_name: string;
      state:
        | "pending"
        | "delivered"
        | "failed"
        | "cancelled" /** Why it failed or was cancelled: `exhausted` (no retries left), `gone` (the endpoint returned 410), `webhook-disabled`, `payload-gone`, `webhook-deleted`, `subscription-deleted`, `access-lost` or `dropped-by-function` (the subscription's function returned null); otherwise null. */;
      reason: string | null;
      attempts_made: number;
      last_attempt: {
        /** Starts at 1; sent as `x-headwater-attempt`. */ number: number /** Unix milliseconds; its second was sent as `webhook-timestamp`. */;
        at_ms: number;
        trigger: "schedule" | "manual" /** HTTP status; null if there was no response. */;
        status: number | null;
        latency_ms: number /** Why the attempt failed; null if it succeeded. */;
        error: string | null /** First KB of the response body. */;
        response: string;
      } | null;
      next_attempt_at_ms: number | null;
      finished_at_ms: number | null /** Unix seconds. */;
      created_at: number /** Its trace, the same for all attempts; null without one. */;
      trace_id: string | null;
    };
    DeliveryRequest: {
      method: "POST" /** The webhook's address as it is now. */;
      url: string /** Headers that are the same for each attempt; `number` and `at_ms` of an attempt are in two others. */;
      headers: Record<
        string,
        string
      > /** Headers whose values are never shown: signatures, and custom headers as they are now. */;
      secret_header_names: string[] /** Unix seconds; attempts before may have gone to another address, with other custom headers. */;
      webhook_updated_at: number;
    };
    DeliveryDetail: {
      /** `dlv_…`; sent as `webhook-id` with every attempt. */ id: string;
      webhook_id: string;
      subscription_id: string;
      emitter_id: string;
      event_id: string;
      event_name: string;
      state:
        | "pending"
        | "delivered"
        | "failed"
        | "cancelled" /** Why it failed or was cancelled: `exhausted` (no retries left), `gone` (the endpoint returned 410), `webhook-disabled`, `payload-gone`, `webhook-deleted`, `subscription-deleted`, `access-lost` or `dropped-by-function` (the subscription's function returned null); otherwise null. */;
      reason: string | null;
      attempts_made: number;
      last_attempt: {
        /** Starts at 1; sent as `x-headwater-attempt`. */ number: number /** Unix milliseconds; its second was sent as `webhook-timestamp`. */;
        at_ms: number;
        trigger: "schedule" | "manual" /** HTTP status; null if there was no response. */;
        status: number | null;
        latency_ms: number /** Why the attempt failed; null if it succeeded. */;
        error: string | null /** First KB of the response body. */;
        response: string;
      } | null;
      next_attempt_at_ms: number | null;
      finished_at_ms: number | null /** Unix seconds. */;
      created_at: number /** Its trace, the same for all attempts; null without one. */;
      trace_id:
        | string
        | null /** The last 50 attempts, oldest first; those of an action with what it exported (`output`). */;
      attempts: {
        /** Starts at 1; sent as `x-headwater-attempt`. */ number: number /** Unix milliseconds; its second was sent as `webhook-timestamp`. */;
        at_ms: number;
        trigger: "schedule" | "manual" /** HTTP status; null if there was no response. */;
        status: number | null;
        latency_ms: number /** Why the attempt failed; null if it succeeded. */;
        error: string | null /** First KB of the response body. */;
        response: string;
        output?: components["schemas"]["ActionOutput"];
      }[] /** What each attempt sends; null if the webhook was deleted. */;
      request:
        | components["schemas"]["DeliveryRequest"]
        | null /** Only with `expand=event`: the body that is sent; absent once it is no longer kept. */;
      event?: unknown /** Only with `expand=event`: what the subscription's function made of the event, which is sent in its place; absent before it has. */;
      transformed_event?: unknown;
    };
    Recovery: {
      /** Failed deliveries when it was requested. */ count: number /** Deliveries that are retried so far; fewer if some events are gone. */;
      recovered: number /** `counted`: nothing was changed (`dry_run`); `running`: a worker retries them; `done`; `stopped`: the webhook was disabled; `failed`: its job failed again and again. */;
      state: "counted" | "running" | "done" | "stopped" | "failed" /** Unix seconds. */;
      since: number;
      started_at_ms: number | null;
      finished_at_ms: number | null;
    };
    Replay: {
      /** `rpl_…`; null for a `dry_run`. */ id:
        | string
        | null /** `counted`: nothing was changed (`dry_run`). `failed`: its job failed again and again. */;
      state:
        | "counted"
        | "running"
        | "done"
        | "stopped"
        | "failed" /** Deliveries that were selected when it was requested. */;
      count: number /** False: there are more, and they are replayed too. */;
      count_is_exact: boolean /** Deliveries that are retried so far. */;
      replayed: number /** Those that can't be: their event, subscription or webhook is gone, or the webhook is disabled. */;
      skipped: number /** Why it ended before its end; null if it did not, or if it was stopped by a request. */;
      reason: string | null;
      filter: {
        state?:
          | "pending"
          | "delivered"
          | "failed"
          | "cancelled" /** Only deliveries of events emitted since this time; Unix seconds, inclusive. */;
        since?: number /** Only deliveries of events emitted until this time; Unix seconds, inclusive. */;
        until?: number;
        webhook_id?: string /** The source or workflow whose events they are. */;
        emitter_id?: string /** Channel; empty for the default channel. */;
        event_name?: string /** HTTP status of the last attempt: `503`, a class such as `5xx`, or `none` without a response. */;
        status?: string /** Words of the payload, whole and in either case, such as `order-17` or `ada@example.com`; all of them must be in its values. */;
        text?: string;
      } /** Unix seconds. */;
      created_at: number | null /** Unix milliseconds. */;
      finished_at_ms: number | null;
    };
    Workflow: {
      /** `p_…` */ id: string;
      name: string /** Unix seconds */;
      created_at: number /** Unix seconds */;
      updated_at: number;
    };
    WorkflowDetail: {
      /** `p_…` */ id: string;
      name: string /** Unix seconds */;
      created_at: number /** Unix seconds */;
      updated_at: number /** Events dropped on purpose, reason to count */;
      dropped: Record<string, number>;
    };
    HourStats: {
      /** When the hour began; Unix seconds. */ at: number /** Events, but not errors and log lines. */;
      emitted: number;
      runs: number /** Runs that failed. */;
      run_errors: number /** Requests to webhooks. */;
      attempts: number /** Deliveries that were delivered. */;
      delivered: number /** Deliveries that failed for good. */;
      failed: number;
      cancelled: number /** Attempts after which another one follows. */;
      retried: number /** Events of an emitter that were dropped on purpose, by reason; empty for webhooks and accounts. */;
      dropped: Record<string, number> /** Median latency of the attempts, to 5 %; null without any. */;
      p50_ms: number | null /** The latency that 95 % of them stayed below. */;
      p95_ms: number | null;
    };
    Stats: {
      /** Every hour, oldest first; the last one is not over. */ hours: components["schemas"]["HourStats"][];
      total: components["schemas"]["HourStats"];
    };
    WebhookTotals: {
      webhook_id: string /** When the hour began; Unix seconds. */;
      at: number /** Events, but not errors and log lines. */;
      emitted: number;
      runs: number /** Runs that failed. */;
      run_errors: number /** Requests to webhooks. */;
      attempts: number /** Deliveries that were delivered. */;
      delivered: number /** Deliveries that failed for good. */;
      failed: number;
      cancelled: number /** Attempts after which another one follows. */;
      retried: number /** Events of an emitter that were dropped on purpose, by reason; empty for webhooks and accounts. */;
      dropped: Record<string, number> /** Median latency of the attempts, to 5 %; null without any. */;
      p50_ms: number | null /** The latency that 95 % of them stayed below. */;
      p95_ms: number | null;
    };
    DailyUsage: {
      /** The last 30 days, today first. */ days: {
        /** UTC, such as `2026-11-22`. */ day: string /** Runs. */;
        invocations: number;
        compute_ms: number /** Events published over HTTP. */;
        published: number;
      }[];
    };
    CurrentUser: {
      id: string;
      username: string;
      email: string;
      orgs: {
        name: string;
        id: string;
        orgname: string;
        email: string;
      }[] /** Compute time allowed per day, in milliseconds; free accounts only. */;
      daily_compute_time_quota?: number /** Compute time used today (UTC), in milliseconds; free accounts only. */;
      daily_compute_time_used?: number /** Runs allowed per day; free accounts only. */;
      daily_invocations_quota?: number /** Runs executed today (UTC); free accounts only. */;
      daily_invocations_used?: number /** First second of the billing period, Unix seconds; paid accounts only. */;
      billing_period_start_ts?: number /** Last second of the billing period, Unix seconds; paid accounts only. */;
      billing_period_end_ts?: number /** Runs executed in the billing period; paid accounts only. */;
      billing_period_invocations?: number /** What the account may have, by name (docs/limits.md). Names may be added. */;
      limits: Record<
        string,
        number
      > /** What of it is in use, as far as it is counted. Counts end at 100,000. */;
      usage: Record<string, number> /** What this server offers. Names may be added. */;
      features: { /** Whether deliveries are found by words of their payloads. */ payload_search: boolean };
    };
    Session: {
      /** `ses_…` */ id: string;
      user_id: string /** The API key that it was started with; revoking the key ends the session. Null for a sign-in with an OpenID provider. */;
      key_id: string | null /** True for the session of this request. */;
      current: boolean /** What the browser called itself when it signed in. */;
      user_agent: string /** Unix seconds. */;
      created_at: number /** Unix seconds; up to a minute old. */;
      last_used_at: number /** Unix seconds: when it ends if it is not used again. */;
      expires_at: number;
    };
    SignInOptions: {
      /** The OpenID provider as people know it; null if there is none. */ openid_connect: {
        name: string;
      } | null;
    };
    ApiKey: {
      /** `key_…` */ id: string /** How the key begins; null for a key of an earlier version. */;
      prefix: string | null /** What you called it. */;
      name: string | null /** Unix seconds. */;
      created_at: number /** Unix seconds, up to a minute old; null if it was not used yet. */;
      last_used_at: number | null /** Unix seconds; null while it is valid. */;
      revoked_at: number | null;
    };
    NewApiKey: {
      /** `key_…` */ id: string /** How the key begins; null for a key of an earlier version. */;
      prefix: string | null /** What you called it. */;
      name: string | null /** Unix seconds. */;
      created_at: number /** Unix seconds, up to a minute old; null if it was not used yet. */;
      last_used_at: number | null /** Unix seconds; null while it is valid. */;
      revoked_at: number | null /** `hw_…`; never shown again. */;
      api_key: string;
    };
    Members: {
      members: {
        /** The user. */ id: string;
        username: string;
        email: string;
        is_owner: boolean /** Since when; Unix seconds. */;
        created_at: number;
      }[];
    };
    Invitation: {
      /** `inv_…` */ id: string;
      org_id: string;
      org_name: string;
      email: string /** Unix seconds. */;
      created_at: number /** Unix seconds. */;
      expires_at: number;
    };
    JoinedOrganization: { id: string; name: string };
    AlertSettings: {
      /** `digest`: at most one mail an hour, with all alerts since the last; `each`: a mail for each alert. */ mail:
        | "each"
        | "digest"
        | "off" /** Where mails go. */;
      email: string /** False if this server sends no mail. */;
      is_mail_sent: boolean;
    };
  };
}
export interface paths {
  "/components": {
    /** List your components */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Component"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Save a component */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Code of the component: ESM, CommonJS or TypeScript. The versions of npm imports are pinned when it is saved. */ component_code?: string /** Address of the code. Relative imports are followed; for a GitHub blob URL, the raw file is fetched. */;
            component_url?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Component"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/components/{id}": {
    /** Get a component by id or key */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Component"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a component */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/components/registry/{key}": {
    /** Get a published component by key */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { key: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Component"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/components/describe": {
    /** Check code without saving it */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Code of the component: ESM, CommonJS or TypeScript. The versions of npm imports are pinned when it is saved. */ component_code: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["DescribedCode"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/components/try": {
    /** Run code once without saving it */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Code of the component: ESM, CommonJS or TypeScript. The versions of npm imports are pinned when it is saved. */ component_code: string;
            configured_props?: Record<string, unknown>;
            event?: unknown /** True: the component's `sampleEmit` is emitted, or what it returns; `run` is not called. */;
            sample_emit?: boolean /** What `$.service.db` holds before; empty by default. */;
            db?: Record<string, unknown> /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["TriedCode"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/components/{id}/configure": {
    /** List the choices of a prop */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            prop_name: string /** The props so far; required ones may be absent. */;
            configured_props?: Record<
              string,
              unknown
            > /** Id of the props that the component's `additionalProps` made, if the form has got some. */;
            dynamic_props_id?: string /** From 0. */;
            page?: number /** `context` of the response for the page before. */;
            prev_context?: unknown /** What a person has typed. */;
            query?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["PropOptions"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/apps": {
    /** List the apps that can be connected by their consent */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["App"][] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/connections": {
    /** Create a connection with keys */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Slug of the app, as `app` props name it. */ app: string;
            name?: string /** What runs find in `$auth`, by name; stored encrypted. */;
            fields: Record<string, string> /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Connection"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/connections/consents": {
    /** Ask for a connection with an app's consent */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Slug of the app, as `app` props name it. */ app: string;
            name?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Consent"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/connections": {
    /** List your connections */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Connection"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/connections": {
    /** List an organization's connections */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Connection"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/connections/{id}": {
    /** Get a connection */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Connection"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Rename a connection, or replace its fields */ put: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            name?: string /** What runs find in `$auth`, by name; stored encrypted. */;
            fields?: Record<
              string,
              string
            > /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Connection"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a connection */ delete: {
      parameters: {
        query?: {
          /** True: also if sources use it. */ force?: boolean /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/connections/{id}/reconnect": {
    /** Ask for an app's consent again */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the organization in which the operation takes effect. */ org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Consent"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/components/{id}/props": {
    /** Get the props that the values so far lead to */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** The props so far; required ones may be absent. */ configured_props?: Record<
              string,
              unknown
            > /** Id of the props that the component's `additionalProps` made, if the form has got some. */;
            dynamic_props_id?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["NextProps"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/sources": {
    /** List your sources */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Source"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/sources": {
    /** List an organization's sources */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Source"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources": {
    /** Deploy a source */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of one of your components, or of a published one. */ component_id?: string /** Code of the component: ESM, CommonJS or TypeScript. The versions of npm imports are pinned when it is saved. */;
            component_code?: string /** Address of the code. Relative imports are followed; for a GitHub blob URL, the raw file is fetched. */;
            component_url?: string /** Key of one of your components, or of a published one. */;
            key?: string /** Default: the name slug of the component. */;
            name?: string /** Values by prop name. A timer is `{intervalSeconds}` or `{cron, timezone?}`. */;
            configured_props?: Record<
              string,
              unknown
            > /** From `POST /components/{id}/props`. Without it, `additionalProps` is called with the configured props. */;
            dynamic_props_id?: string /** False: the events of the deploy hook are dropped, and counted as dropped. Default: true. */;
            emit_on_deploy?: boolean /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Source"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}": {
    /** Get a source by id or name slug */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["SourceDetail"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Update, enable or disable a source */ put: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of one of your components, or of a published one. */ component_id?: string /** Code of the component: ESM, CommonJS or TypeScript. The versions of npm imports are pinned when it is saved. */;
            component_code?: string /** Address of the code. Relative imports are followed; for a GitHub blob URL, the raw file is fetched. */;
            component_url?: string /** Key of one of your components, or of a published one. */;
            key?: string /** Default: the name slug of the component. */;
            name?: string /** Values by prop name. A timer is `{intervalSeconds}` or `{cron, timezone?}`. */;
            configured_props?: Record<
              string,
              unknown
            > /** From `POST /components/{id}/props`. Without it, `additionalProps` is called with the configured props. */;
            dynamic_props_id?: string /** Whether the source runs. Default: true. */;
            active?: boolean /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Source"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a source */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/configure": {
    /** List the choices of a source's prop */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            prop_name: string /** The props so far; required ones may be absent. */;
            configured_props?: Record<
              string,
              unknown
            > /** Id of the props that the component's `additionalProps` made, if the form has got some. */;
            dynamic_props_id?: string /** From 0. */;
            page?: number /** `context` of the response for the page before. */;
            prev_context?: unknown /** What a person has typed. */;
            query?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["PropOptions"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/props": {
    /** Get the props that a source's values lead to */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** The props so far; required ones may be absent. */ configured_props?: Record<
              string,
              unknown
            > /** Id of the props that the component's `additionalProps` made, if the form has got some. */;
            dynamic_props_id?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["NextProps"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/runs": {
    /** List a source's runs */ get: {
      parameters: {
        query?: {
          /** Only failed runs, whatever the error. */ outcome?: "error" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Run"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/run": {
    /** Run a source now */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** What `run` receives; by default the timer's event, as if it were due now. Required without a timer. */ event?: unknown /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        202: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: { run_id: string } } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/sample": {
    /** Get a source's sample event */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** True: the events are emitted. Default: false. */ emit?: boolean /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Sample"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/event_summaries": {
    /** List the last events that a source emitted */ get: {
      parameters: {
        query?: {
          /** Return whole events; without it, an event larger than 1 KB is truncated. */ expand?: "event" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["EventSummary"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/$errors/event_summaries": {
    /** List the last errors of a source */ get: {
      parameters: {
        query?: {
          /** Return whole events; without it, an event larger than 1 KB is truncated. */ expand?: "event" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["EventSummary"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/$logs/event_summaries": {
    /** List the last log lines of a source */ get: {
      parameters: {
        query?: {
          /** Return whole events; without it, an event larger than 1 KB is truncated. */ expand?: "event" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["EventSummary"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/events": {
    /** List the last events of a source with short field names */ get: {
      parameters: {
        query?: {
          /** Return whole events; without it, an event larger than 1 KB is truncated. */ expand?: "event" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["EventRow"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Publish events as a source, without running its component */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Any JSON value of at most 512 KB. */ event?: unknown /** Channel: empty for the default one, a name of yours, `$errors` or `$logs`. */;
            name?: string /** Identity of the event: the same one again is the same event. Visible ASCII characters. */;
            id?: string /** When it happened, for people: Unix milliseconds. It does not change the order of events. */;
            ts?: number /** A batch, instead of the other fields: all of it is accepted, or nothing. */;
            events?: components["schemas"]["NewEvent"][] /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        202: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Published"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a range of a source's stored events */ delete: {
      parameters: {
        query?: {
          /** An event id. */ start_id?: string /** An event id. */;
          end_id?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        202: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/sse": {
    /** Stream the events of a source live */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "text/event-stream": unknown } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/events/{id}": {
    /** Trace an event: where did it go? */ get: {
      parameters: {
        query?: {
          /** The source or workflow; required with an event id, which is unique per emitter only. */ emitter_id?: string /** Return the whole event, too; without it, only its summary, which has up to 1 KB of it. */;
          expand?: "event" /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["EventTrace"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/events/{id}/replay": {
    /** Hand an event to its listeners again */ post: {
      parameters: {
        query?: {
          /** The source or workflow; required with an event id, which is unique per emitter only. */ emitter_id?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the receiving webhook, destination, source or workflow. */ listener_id?: string /** The source or workflow; required with an event id, which is unique per emitter only. */;
            emitter_id?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        202: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Replayed"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/subscriptions/filter_test": {
    /** Try a filter on the last events of an emitter */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of a source or workflow. */ emitter_id: string /** Channel: a custom channel, `$errors`, `$logs`, or `$alerts` of an account; empty or left out for the default channel. */;
            event_name?: string /** Only events that match are sent. Keys are paths into the event, with a value or an object of operators (docs/filters.md). */;
            filter: Record<
              string,
              unknown
            > /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["FilterTest"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/subscriptions/function_test": {
    /** Try a function on the last events of an emitter */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of a source or workflow. */ emitter_id: string /** Channel: a custom channel, `$errors`, `$logs`, or `$alerts` of an account; empty or left out for the default channel. */;
            event_name?: string /** JavaScript or TypeScript, `export default (event, meta) => event`: what is sent in place of each event; null drops it (docs/functions.md). */;
            function: string;
            events?: unknown[] /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["FunctionTest"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/subscriptions": {
    /** Subscribe a listener to an emitter */ post: {
      parameters: {
        query?: {
          /** Id of a workflow or source; `p_*` for all workflows, `dc_*` for all sources, or the id of an organization for all of its workflows and sources; of a user or an organization for its alerts. Required, here or in the body. */ emitter_id?: string /** Id of the receiving webhook, destination, source or workflow. Required, here or in the body. */;
          listener_id?: string /** Channel: a custom channel, `$errors`, `$logs`, or `$alerts` of an account; empty or left out for the default channel. */;
          event_name?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Only events that match are sent. Keys are paths into the event, with a value or an object of operators (docs/filters.md). */ filter?: Record<
              string,
              unknown
            >;
            function?:
              | string
              | null /** Id of a workflow or source; `p_*` for all workflows, `dc_*` for all sources, or the id of an organization for all of its workflows and sources; of a user or an organization for its alerts. */;
            emitter_id?: string /** Id of the receiving webhook, destination, source or workflow. */;
            listener_id?: string /** Channel: a custom channel, `$errors`, `$logs`, or `$alerts` of an account; empty or left out for the default channel. */;
            event_name?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Subscription"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a subscription */ delete: {
      parameters: {
        query?: {
          /** Id of a workflow or source; `p_*` for all workflows, `dc_*` for all sources, or the id of an organization for all of its workflows and sources; of a user or an organization for its alerts. */ emitter_id: string /** Id of the receiving webhook, destination, source or workflow. */;
          listener_id: string /** Channel: a custom channel, `$errors`, `$logs`, or `$alerts` of an account; empty or left out for the default channel. */;
          event_name?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/subscriptions/{id}": {
    /** Get a subscription */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Subscription"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a subscription by its id */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/subscriptions": {
    /** List your subscriptions */ get: {
      parameters: {
        query?: {
          /** Page size. Without `limit`, `after` and `before`, the response is the whole list, without `page_info`. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info?: components["schemas"]["PageInfo"];
              data: components["schemas"]["Subscription"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/subscriptions": {
    /** List an organization's subscriptions */ get: {
      parameters: {
        query?: {
          /** Page size. Without `limit`, `after` and `before`, the response is the whole list, without `page_info`. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info?: components["schemas"]["PageInfo"];
              data: components["schemas"]["Subscription"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/auto_subscriptions": {
    /** Subscribe a listener to future workflows and sources */ post: {
      parameters: {
        query?: {
          /** Required, here or in the body. */ event_name?:
            | "$errors"
            | "$logs" /** Id of the receiving webhook, destination, source or workflow. Required, here or in the body. */;
          listener_id?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            event_name?:
              | "$errors"
              | "$logs" /** Id of the receiving webhook, destination, source or workflow. */;
            listener_id?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["AutoSubscription"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/auto_subscriptions": {
    /** List your auto subscriptions */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["AutoSubscription"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/auto_subscriptions": {
    /** List an organization's auto subscriptions */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["AutoSubscription"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/auto_subscriptions/{id}": {
    /** Delete an auto subscription */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/webhooks": {
    /** Create a webhook */ post: {
      parameters: {
        query?: {
          /** `http` or `https` URL with a host name, optionally with a port and a path, without credentials. Required, here or in the body. */ url?: string;
          name?: string;
          description?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Custom headers of every request, at most 20 and 4 KB in total; stored encrypted. */ headers?: Record<
              string,
              string
            > /** Maximum number of deliveries in flight at once, over all workers (1 while the webhook is failing, or if it is ordered); null: the server's default. */;
            max_in_flight?:
              | number
              | null /** Maximum number of attempts started per second, first attempts and retries; up to a quarter more in a single second. Deliveries above the limit wait, which does not count as an attempt; null: no limit. */;
            rate_limit_per_second?:
              | number
              | null /** True: events are sent one at a time, in the order of their ids, each after the one before was delivered or has failed for good. A failing delivery blocks the ones after it, so its retries are at most an hour apart. Adds half a second of delay, and lowers throughput. */;
            ordered?: boolean /** `http` or `https` URL with a host name, optionally with a port and a path, without credentials. */;
            url?: string;
            name?: string;
            description?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["WebhookWithKey"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/webhooks": {
    /** List your webhooks */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Webhook"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/webhooks": {
    /** List an organization's webhooks */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Webhook"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/webhooks/{id}": {
    /** Get a webhook */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Webhook"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Update a webhook */ put: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** `http` or `https` URL with a host name, optionally with a port and a path, without credentials. */ url?: string;
            name?: string | null;
            description?: string | null /** True also clears `disabled_reason` and `failing_since`. */;
            active?: boolean /** Replaces all custom headers; null removes them. */;
            headers?: Record<
              string,
              string
            > | null /** Maximum number of deliveries in flight at once, over all workers (1 while the webhook is failing, or if it is ordered); null: the server's default. */;
            max_in_flight?:
              | number
              | null /** Maximum number of attempts started per second, first attempts and retries; up to a quarter more in a single second. Deliveries above the limit wait, which does not count as an attempt; null: no limit. */;
            rate_limit_per_second?:
              | number
              | null /** True: events are sent one at a time, in the order of their ids, each after the one before was delivered or has failed for good. A failing delivery blocks the ones after it, so its retries are at most an hour apart. Adds half a second of delay, and lowers throughput. */;
            ordered?: boolean /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Webhook"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a webhook */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/webhooks/{id}/rotate_signing_key": {
    /** Replace the signing key of a webhook */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the organization in which the operation takes effect. */ org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["WebhookWithKey"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/destinations": {
    /** Create a destination */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            name?: string;
            description?: string /** Maximum number of deliveries in flight at once, over all workers (1 while the webhook is failing, or if it is ordered); null: the server's default. */;
            max_in_flight?:
              | number
              | null /** Maximum number of attempts started per second, first attempts and retries; up to a quarter more in a single second. Deliveries above the limit wait, which does not count as an attempt; null: no limit. */;
            rate_limit_per_second?:
              | number
              | null /** True: events are sent one at a time, in the order of their ids, each after the one before was delivered or has failed for good. A failing delivery blocks the ones after it, so its retries are at most an hour apart. Adds half a second of delay, and lowers throughput. */;
            ordered?: boolean;
            redis_stream?: {
              /** `redis://HOST:6379`, or `rediss://` for TLS; `/1` at its end names a database. */ url: string /** Key of the stream. */;
              stream: string /** User name, if the url has none. */;
              username?:
                | string
                | null /** Password, if the url has none; stored encrypted and never shown. */;
              password?:
                | string
                | null /** The stream is cut to about so many entries, the newest; by default 100,000. */;
              max_length?:
                | number
                | null /** Certificates in PEM that are trusted instead of the public ones, for a server with a certificate of its own. */;
              ca?: string | null;
            };
            rabbitmq?: {
              /** `amqp://HOST`, or `amqps://` for TLS; `/name` at its end names a virtual host. */ url: string /** User name, if the url has none. */;
              username?:
                | string
                | null /** Password, if the url has none; stored encrypted and never shown. */;
              password?: string | null /** The queue, which exists. Either this or `exchange`. */;
              queue?: string | null /** The exchange, which exists and has a queue for each event. */;
              exchange?:
                | string
                | null /** With `exchange`: the key by which it finds queues; none by default. */;
              routing_key?:
                | string
                | null /** Certificates in PEM that are trusted instead of the public ones, for a server with a certificate of its own. */;
              ca?: string | null;
            };
            s3?: {
              /** Address of the bucket, with its name in the host or as the path: `https://BUCKET.s3.eu-central-1.amazonaws.com` or `https://HOST/BUCKET`. */ url: string /** Such as `eu-central-1`. */;
              region: string /** Id of the access key. */;
              access_key_id: string /** Secret of the access key; stored encrypted and never shown. */;
              secret_access_key: string /** Pattern of the objects' keys; by default `{date}/{emitter_id}/{event_id}.json`. It has `{id}` (the delivery's), or `{emitter_id}` and `{event_id}`, so that an event overwrites no other; and may have `{date}`, `{hour}` and `{event_name}`. */;
              key?: string | null;
            };
            action?: {
              /** Id of one of your components of type `action`, or of a published one. */ component_id?: string /** Key of such a component. */;
              key?: string /** Code of the component: ESM, CommonJS or TypeScript. The versions of npm imports are pinned when it is saved. */;
              component_code?: string /** Address of the code. Relative imports are followed; for a GitHub blob URL, the raw file is fetched. */;
              component_url?: string /** Values by prop name; texts in them may have templates such as `{{event.user.name}}`. In a change, a prop that is left out keeps its value, and null removes it. */;
              configured_props?: Record<string, unknown>;
            } /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Destination"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/destinations": {
    /** List your destinations */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Destination"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/destinations": {
    /** List an organization's destinations */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Destination"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/destinations/{id}": {
    /** Get a destination */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Destination"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Update a destination */ put: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            name?: string | null;
            description?: string | null /** True also clears `disabled_reason` and `failing_since`. */;
            active?: boolean /** Maximum number of deliveries in flight at once, over all workers (1 while the webhook is failing, or if it is ordered); null: the server's default. */;
            max_in_flight?:
              | number
              | null /** Maximum number of attempts started per second, first attempts and retries; up to a quarter more in a single second. Deliveries above the limit wait, which does not count as an attempt; null: no limit. */;
            rate_limit_per_second?:
              | number
              | null /** True: events are sent one at a time, in the order of their ids, each after the one before was delivered or has failed for good. A failing delivery blocks the ones after it, so its retries are at most an hour apart. Adds half a second of delay, and lowers throughput. */;
            ordered?: boolean;
            redis_stream?: {
              /** `redis://HOST:6379`, or `rediss://` for TLS; `/1` at its end names a database. */ url?: string /** Key of the stream. */;
              stream?: string /** User name, if the url has none. */;
              username?:
                | string
                | null /** Password, if the url has none; stored encrypted and never shown. */;
              password?:
                | string
                | null /** The stream is cut to about so many entries, the newest; by default 100,000. */;
              max_length?:
                | number
                | null /** Certificates in PEM that are trusted instead of the public ones, for a server with a certificate of its own. */;
              ca?: string | null;
            };
            rabbitmq?: {
              /** `amqp://HOST`, or `amqps://` for TLS; `/name` at its end names a virtual host. */ url?: string /** User name, if the url has none. */;
              username?:
                | string
                | null /** Password, if the url has none; stored encrypted and never shown. */;
              password?: string | null /** The queue, which exists. Either this or `exchange`. */;
              queue?: string | null /** The exchange, which exists and has a queue for each event. */;
              exchange?:
                | string
                | null /** With `exchange`: the key by which it finds queues; none by default. */;
              routing_key?:
                | string
                | null /** Certificates in PEM that are trusted instead of the public ones, for a server with a certificate of its own. */;
              ca?: string | null;
            };
            s3?: {
              /** Address of the bucket, with its name in the host or as the path: `https://BUCKET.s3.eu-central-1.amazonaws.com` or `https://HOST/BUCKET`. */ url?: string /** Such as `eu-central-1`. */;
              region?: string /** Id of the access key. */;
              access_key_id?: string /** Secret of the access key; stored encrypted and never shown. */;
              secret_access_key?: string /** Pattern of the objects' keys; by default `{date}/{emitter_id}/{event_id}.json`. It has `{id}` (the delivery's), or `{emitter_id}` and `{event_id}`, so that an event overwrites no other; and may have `{date}`, `{hour}` and `{event_name}`. */;
              key?: string | null;
            };
            action?: {
              /** Id of one of your components of type `action`, or of a published one. */ component_id?: string /** Key of such a component. */;
              key?: string /** Code of the component: ESM, CommonJS or TypeScript. The versions of npm imports are pinned when it is saved. */;
              component_code?: string /** Address of the code. Relative imports are followed; for a GitHub blob URL, the raw file is fetched. */;
              component_url?: string /** Values by prop name; texts in them may have templates such as `{{event.user.name}}`. In a change, a prop that is left out keeps its value, and null removes it. */;
              configured_props?: Record<string, unknown>;
            } /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Destination"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a destination */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/webhooks/{id}/deliveries": {
    /** List a webhook's deliveries */ get: {
      parameters: {
        query?: {
          state?:
            | "pending"
            | "delivered"
            | "failed"
            | "cancelled" /** Only deliveries of events emitted since this time; Unix seconds, inclusive. */;
          since?: number /** Only deliveries of events emitted until this time; Unix seconds, inclusive. */;
          until?: number /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Delivery"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/deliveries": {
    /** Search the deliveries of all your webhooks */ get: {
      parameters: {
        query?: {
          state?:
            | "pending"
            | "delivered"
            | "failed"
            | "cancelled" /** Only deliveries of events emitted since this time; Unix seconds, inclusive. */;
          since?: number /** Only deliveries of events emitted until this time; Unix seconds, inclusive. */;
          until?: number;
          webhook_id?: string /** The source or workflow whose events they are. */;
          emitter_id?: string /** Channel; empty for the default channel. */;
          event_name?: string /** HTTP status of the last attempt: `503`, a class such as `5xx`, or `none` without a response. */;
          status?: string /** Words of the payload, whole and in either case, such as `order-17` or `ada@example.com`; all of them must be in its values. */;
          text?: string /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Delivery"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/deliveries/{id}": {
    /** Get a delivery with its attempts, and what they send */ get: {
      parameters: {
        query?: {
          /** Return the event that is sent, too. */ expand?: "event" /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["DeliveryDetail"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/deliveries/{id}/retry": {
    /** Retry a delivery now */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the organization in which the operation takes effect. */ org_id?: string;
          };
        };
      };
      responses: {
        202: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Delivery"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/webhooks/{id}/recover": {
    /** Get the progress of the webhook's last recovery */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Recovery"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Retry all failed deliveries since a point in time */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Failed deliveries of events emitted since this time; Unix seconds, inclusive. */ since: number /** True: count the deliveries and change nothing. */;
            dry_run?: boolean /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Recovery"] } };
        };
        202: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Recovery"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/webhooks/{id}/test": {
    /** Send a signed test event now */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the organization in which the operation takes effect. */ org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: {
                /** HTTP status; null if there was no response. */ status: number | null;
                latency_ms: number;
                error: string | null /** First KB of the response body. */;
                response: string;
              };
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/destinations/{id}/deliveries": {
    /** List a destination's deliveries */ get: {
      parameters: {
        query?: {
          state?:
            | "pending"
            | "delivered"
            | "failed"
            | "cancelled" /** Only deliveries of events emitted since this time; Unix seconds, inclusive. */;
          since?: number /** Only deliveries of events emitted until this time; Unix seconds, inclusive. */;
          until?: number /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Delivery"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/destinations/{id}/recover": {
    /** Get the progress of the destination's last recovery */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Recovery"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Retry all failed deliveries to a destination since a point in time */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Failed deliveries of events emitted since this time; Unix seconds, inclusive. */ since: number /** True: count the deliveries and change nothing. */;
            dry_run?: boolean /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Recovery"] } };
        };
        202: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Recovery"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/destinations/{id}/test": {
    /** Send a test event to a destination now */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the organization in which the operation takes effect. */ org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: {
                /** HTTP status; null if there was no response. */ status: number | null;
                latency_ms: number;
                error: string | null /** First KB of the response body. */;
                response: string;
              };
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/replays": {
    /** List your replays */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Replay"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Retry every delivery that a filter selects */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            state?:
              | "pending"
              | "delivered"
              | "failed"
              | "cancelled" /** Only deliveries of events emitted since this time; Unix seconds, inclusive. */;
            since?: number /** Only deliveries of events emitted until this time; Unix seconds, inclusive. */;
            until?: number;
            webhook_id?: string /** The source or workflow whose events they are. */;
            emitter_id?: string /** Channel; empty for the default channel. */;
            event_name?: string /** HTTP status of the last attempt: `503`, a class such as `5xx`, or `none` without a response. */;
            status?: string /** Words of the payload, whole and in either case, such as `order-17` or `ada@example.com`; all of them must be in its values. */;
            text?: string /** True: count the deliveries and change nothing. */;
            dry_run?: boolean /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Replay"] } };
        };
        202: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Replay"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/replays/{id}": {
    /** Get the progress of a replay */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Replay"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Stop a replay */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/workflows": {
    /** Register a workflow */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            name: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Workflow"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/workflows": {
    /** List your workflows */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Workflow"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/workflows": {
    /** List an organization's workflows */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Workflow"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/workflows/{workflow_id}": {
    /** Fetch a workflow */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { workflow_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["WorkflowDetail"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Update a workflow */ put: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { workflow_id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            name?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Workflow"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Delete a workflow */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { workflow_id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/workflows/{workflow_id}/events": {
    /** Publish events as a workflow */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { workflow_id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Any JSON value of at most 512 KB. */ event?: unknown /** Channel: empty for the default one, a name of yours, `$errors` or `$logs`. */;
            name?: string /** Identity of the event: the same one again is the same event. Visible ASCII characters. */;
            id?: string /** When it happened, for people: Unix milliseconds. It does not change the order of events. */;
            ts?: number /** A batch, instead of the other fields: all of it is accepted, or nothing. */;
            events?: components["schemas"]["NewEvent"][] /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        202: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Published"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/workflows/{workflow_id}/event_summaries": {
    /** List the last events that a workflow emitted */ get: {
      parameters: {
        query?: {
          /** Return whole events; without it, an event larger than 1 KB is truncated. */ expand?: "event" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { workflow_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["EventSummary"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/workflows/{workflow_id}/$errors/event_summaries": {
    /** List the last errors of a workflow */ get: {
      parameters: {
        query?: {
          /** Return whole events; without it, an event larger than 1 KB is truncated. */ expand?: "event" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { workflow_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["EventSummary"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/stats": {
    /** Get what happened in each of the last hours */ get: {
      parameters: {
        query?: {
          /** How many hours, up to 30 days. */ hours?: number /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Stats"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sources/{id}/stats": {
    /** Get what happened to a source's events in each of the last hours */ get: {
      parameters: {
        query?: {
          /** How many hours, up to 30 days. */ hours?: number /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Stats"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/webhooks/{id}/stats": {
    /** Get what happened to a webhook's deliveries in each of the last hours */ get: {
      parameters: {
        query?: {
          /** How many hours, up to 30 days. */ hours?: number /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Stats"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/destinations/{id}/stats": {
    /** Get what happened to a destination's deliveries in each of the last hours */ get: {
      parameters: {
        query?: {
          /** How many hours, up to 30 days. */ hours?: number /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Stats"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/webhook_stats": {
    /** Get what happened to the deliveries of several webhooks in the last 24 hours */ get: {
      parameters: {
        query?: {
          /** Comma-separated ids of up to 100 webhooks. */ webhook_ids: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["WebhookTotals"][] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/live": {
    /** Stream events, deliveries and runs live */ get: {
      parameters: {
        query?: {
          /** Comma-separated ids of up to 20 sources and workflows whose events to stream. */ emitters?: string /** Stream the deliveries to the account's webhooks. */;
          deliveries?: boolean /** Stream the runs of the account's sources. */;
          runs?: boolean /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "text/event-stream": unknown } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/daily_usage": {
    /** Get what you used on each of the last 30 days */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["DailyUsage"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/daily_usage": {
    /** Get what an organization used on each of the last 30 days */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["DailyUsage"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me": {
    /** Get the current user */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["CurrentUser"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sessions": {
    /** List your sessions */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Session"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Sign in a browser */ post: {
      parameters: { query?: never; path?: never };
      requestBody?: {
        content: {
          "application/json": { api_key?: string /** `hwl_…`, from `POST /sign_in_links`. */; link?: string };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Session"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sessions/current": {
    /** Sign out */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sessions/{id}": {
    /** End a session */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sign_in_links": {
    /** Make a link that signs a browser in once */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the organization in which the operation takes effect. */ org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: {
                /** The token is in its fragment, which browsers send nowhere. */ url: string /** Unix seconds. */;
                expires_at: number;
              };
            };
          };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/sign_in_options": {
    /** Get the ways to sign in besides API keys and links */ get: {
      parameters: { query?: never; path?: never };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["SignInOptions"] } };
        };
        400: Failure;
        408: Failure;
        431: Failure;
        500: Failure;
      };
    };
  };
  "/openid_sign_ins": {
    /** Begin to sign in with the OpenID provider */ post: {
      parameters: { query?: never; path?: never };
      requestBody?: {
        content: {
          "application/json": {
            /** The page of the dashboard that is shown afterwards: a path below `/dashboard`. */ return_to?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: {
                /** An address of the provider. */ url: string /** Unix seconds: when the browser must have returned. */;
                expires_at: number;
              };
            };
          };
        };
        400: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/openid_sign_outs": {
    /** Sign out, with the OpenID provider too */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the organization in which the operation takes effect. */ org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              data: {
                /** An address of the provider. Null if the session did not begin with it, or if it has none or is away. */ url:
                  | string
                  | null;
              };
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/api_keys": {
    /** List your API keys */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["ApiKey"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Create an API key */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            name?: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["NewApiKey"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/api_keys/{id}": {
    /** Revoke an API key */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/members": {
    /** List an organization's members */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Members"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/members/{user_id}": {
    /** Remove a member, or leave an organization */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { org_id: string; user_id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/invitations": {
    /** List an organization's invitations */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Invitation"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Invite a user to an organization */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { org_id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            email: string /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        201: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["Invitation"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/invitations/{id}": {
    /** Take an invitation back */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { org_id: string; id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/invitations": {
    /** List the invitations to you */ get: {
      parameters: {
        query?: {
          /** Page size. */ limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["Invitation"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/invitations/{id}/accept": {
    /** Become a member of an organization */ post: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: {
        content: {
          "application/json": {
            /** Id of the organization in which the operation takes effect. */ org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["JoinedOrganization"] } };
        };
        400: Failure;
        401: Failure;
        403: Failure;
        404: Failure;
        408: Failure;
        409: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/invitations/{id}": {
    /** Decline an invitation */ delete: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path: { id: string };
      };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content: { "text/plain"?: never } };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/$alerts/event_summaries": {
    /** List your last alerts */ get: {
      parameters: {
        query?: {
          /** Return whole events; without it, an event larger than 1 KB is truncated. */ expand?: "event" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["EventSummary"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/orgs/{org_id}/$alerts/event_summaries": {
    /** List an organization's last alerts */ get: {
      parameters: {
        query?: {
          /** Return whole events; without it, an event larger than 1 KB is truncated. */ expand?: "event" /** Page size. */;
          limit?: number /** A cursor; the page starts with the item after it. */;
          after?: string /** A cursor; the page ends with the item before it. Not together with `after`. */;
          before?: string /** Id of the organization in which the operation takes effect. */;
          org_id?: string;
        };
        path: { org_id: string };
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: {
            "application/json": {
              page_info: components["schemas"]["PageInfo"];
              data: components["schemas"]["EventSummary"][];
            };
          };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/users/me/alert_settings": {
    /** Get how you are told of alerts */ get: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["AlertSettings"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
    /** Change how you are told of alerts */ put: {
      parameters: {
        query?: { /** Id of the organization in which the operation takes effect. */ org_id?: string };
        path?: never;
      };
      requestBody?: {
        content: {
          "application/json": {
            /** `digest`: at most one mail an hour, with all alerts since the last; `each`: a mail for each alert. */ mail:
              | "each"
              | "digest"
              | "off" /** Id of the organization in which the operation takes effect. */;
            org_id?: string;
          };
        };
      };
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": { data: components["schemas"]["AlertSettings"] } };
        };
        400: Failure;
        401: Failure;
        404: Failure;
        408: Failure;
        413: Failure;
        415: Failure;
        429: Failure;
        431: Failure;
        500: Failure;
        503: Failure;
      };
    };
  };
  "/openapi.json": {
    /** Get this OpenAPI document */ get: {
      parameters: { query?: never; path?: never };
      requestBody?: never;
      responses: {
        200: {
          headers: { [name: string]: unknown };
          content: { "application/json": Record<string, unknown> };
        };
        400: Failure;
        408: Failure;
        431: Failure;
        500: Failure;
      };
    };
  };
}
