/** How many listeners led to something; absent for none. */
export interface Hops {
  hops?: number | undefined;
}

/** What a delivery says of it, so that one to an endpoint of this installation ends as other loops do. */
export const HOPS_HEADER = "x-headwater-hops";

/** The field as what follows from something carries it; none for what no listener led to. */
export const hopsField = ({ hops = 0 }: Hops): { hops?: number } => (hops > 0 ? { hops } : {});

/** What a request says of the deliveries that led to it; none if it says nothing, or no number from 1. */
export function hopsOfRequest(headers: Record<string, string | string[] | undefined>): { hops?: number } {
  const text = headers[HOPS_HEADER];
  return typeof text === "string" && /^[1-9]\d{0,3}$/.test(text) ? { hops: Number(text) } : {};
}
