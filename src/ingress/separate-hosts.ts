import type { Middleware } from "koa";
import { notFound } from "../lib/errors.ts";
import { INGRESS_PREFIX } from "../lib/hosts.ts";
import type { Stores } from "../platform.ts";

/** Returns true for a path below which endpoints of sources are. */
export const isIngressPath = (path: string): boolean =>
  path === INGRESS_PREFIX || path.startsWith(`${INGRESS_PREFIX}/`);

/**
 * With `INGRESS_URL` set, keeps its host and all other hosts apart (docs/design.md#browsers): `/in` exists on that host
 * only, and nothing else exists there. Both are 404 on the wrong host. Hosts are compared without their ports, because
 * browsers send the cookies of a host to all of its ports.
 */
export function separateHosts({ config }: Stores): Middleware {
  if (config.ingressUrl === undefined) return (_ctx, next) => next();
  const { hostname } = new URL(config.ingressUrl);
  return (ctx, next) => {
    const isIngressHost = ctx.hostname.toLowerCase() === hostname;
    if (isIngressHost !== isIngressPath(ctx.path)) throw notFound("path");
    return next();
  };
}
