import { stringifyJson } from "../../src/lib/json-text.ts";

/** A response of the API; its body is parsed if it is JSON. */
export interface ApiResponse<Body = never> {
  status: number;
  headers: Headers;
  body: Body;
  text: string;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  error: string;
  errors?: { in: string; path: string; message: string }[];
  revision?: number;
  changed?: string[];
}

export interface RequestOptions {
  query?: Record<string, string | number>;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface SourceView {
  id: string;
  user_id: string;
  component_id: string;
  name: string;
  name_slug: string;
  active: boolean;
  configured_props: { http?: { endpoint_url: string }; [prop: string]: unknown };
}

export interface Summary {
  id: string;
  indexed_at_ms: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the event that it emitted
  event: any;
  metadata: { emit_id: string; name: string; emitter_id: string; truncated?: true };
}

export interface Page<Row> {
  page_info: { total_count: number; count: number; start_cursor: string | null; end_cursor: string | null };
  data: Row[];
}

/** A client of one user. `request` returns every response, errors too; the other methods throw for an error. */
export class Api {
  readonly baseUrl: string;
  readonly apiKey: string;

  constructor(baseUrl: string, apiKey: string) {
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests name the shape if it matters to them
  async request<Body = any>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<ApiResponse<Body>> {
    const url = new URL(`${this.baseUrl}${path}`);
    for (const [name, value] of Object.entries(options.query ?? {}))
      url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      method,
      headers: {
        ...(this.apiKey && { authorization: `Bearer ${this.apiKey}` }),
        ...(options.body !== undefined && { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(options.body !== undefined && { body: stringifyJson(options.body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text ? JSON.parse(text) : text,
      text,
    };
  }

  /** The `data` of the response. Throws unless it has this status. */
  // biome-ignore lint/suspicious/noExplicitAny: tests name the shape if it matters to them
  async expect<Body = any>(
    status: number,
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<Body> {
    const response = await this.request(method, path, options);
    if (response.status !== status) {
      throw new Error(`${method} ${path} returned ${response.status}, not ${status}: ${response.text}`);
    }
    return response.body?.data ?? response.body;
  }

  createSource(body: Record<string, unknown>, query: Record<string, string> = {}): Promise<SourceView> {
    return this.expect(201, "POST", "/sources", { body, query });
  }

  createWebhook(
    url: string,
    query: Record<string, string> = {},
  ): Promise<{ id: string; signing_key: string }> {
    return this.expect(201, "POST", "/webhooks", { query: { url, ...query } });
  }

  subscribe(emitterId: string, listenerId: string, eventName?: string): Promise<{ id: string }> {
    return this.expect(200, "POST", "/subscriptions", {
      query: {
        emitter_id: emitterId,
        listener_id: listenerId,
        ...(eventName !== undefined && { event_name: eventName }),
      },
    });
  }

  async summaries(
    sourceId: string,
    options: { stream?: string; query?: Record<string, string | number> } = {},
  ): Promise<Summary[]> {
    const middle = options.stream ? `/${options.stream}` : "";
    const { body } = await this.request<Page<Summary>>(
      "GET",
      `/sources/${sourceId}${middle}/event_summaries`,
      {
        query: options.query ?? {},
      },
    );
    return body.data;
  }
}
