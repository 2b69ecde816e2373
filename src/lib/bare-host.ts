/** Returns the host of a URL as sockets and lists of addresses know it: an IPv6 address without its brackets. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");
