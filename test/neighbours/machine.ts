import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { giveWay } from "../../src/fairness/niceness.ts";

/** What an endpoint of the neighbour does: never responds, responds 500, responds 200. */
export type Endpoint = "hang" | "fail" | "ok";

export interface Requests {
  requests: {
    url: string;
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    /** A body that is made on that machine, because it is large. */
    kind?: "form" | "multipart" | "deep" | "wide" | "binary";
  }[];
  connections: number;
  /** The responses are streams, which stay open. */
  keepOpen?: boolean;
  /** 0, the default, is as fast as the connections allow. */
  perSecond?: number;
}

/** How often each status, or error code, was the result of a request. */
export type Statuses = Record<string, number>;

interface Reply {
  id: number;
  port?: number;
  statuses?: Statuses;
}

/** The noisy neighbour's own process: its endpoints and its senders (machine.mjs). */
export interface Machine {
  /** Starts an endpoint; returns its origin. */
  listen(kind: Endpoint): Promise<string>;
  /** Sends requests until the returned function is called, which returns what came of them. */
  send(requests: Requests): Promise<() => Promise<Statuses>>;
  close(): void;
}

export function startMachine(): Machine {
  const child = fork(fileURLToPath(new URL("machine.mjs", import.meta.url)), { execArgv: [] });
  // What the neighbour's own machine would compute must not be taken from the installation.
  if (child.pid !== undefined) giveWay(child.pid);
  const waiting = new Map<number, (reply: Reply) => void>();
  let lastId = 0;
  child.on("message", (reply: Reply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  const ask = (message: object): Promise<Reply> => {
    const id = ++lastId;
    return new Promise(resolve => {
      waiting.set(id, resolve);
      child.send({ id, ...message });
    });
  };
  return {
    listen: async kind => `http://127.0.0.1:${(await ask({ listen: kind })).port}`,
    async send(requests) {
      const { id } = await ask({ send: requests });
      return async () => (await ask({ stop: id })).statuses ?? {};
    },
    close: () => void child.kill(),
  };
}
