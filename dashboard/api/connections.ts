import { http, read, readData, type Schemas } from "./client";
import { inAccount, orgId } from "./session";

export type Connection = Schemas["Connection"];

export function listConnections(query: Record<string, unknown>, signal: AbortSignal) {
  const org = orgId.value;
  return org
    ? read(http.GET("/orgs/{org_id}/connections", { params: { path: { org_id: org }, query }, signal }))
    : read(http.GET("/users/me/connections", { params: { query }, signal }));
}

export const listApps = (signal: AbortSignal) => readData(http.GET("/apps", { signal }));

export const createConnection = (body: { app: string; name?: string; fields: Record<string, string> }) =>
  readData(http.POST("/connections", { params: { query: inAccount() as never }, body }));

/** Returns the page on which a person agrees. */
export const requestConsent = (body: { app: string; name?: string }) =>
  readData(http.POST("/connections/consents", { params: { query: inAccount() as never }, body }));

export const reconnect = (id: string) =>
  readData(http.POST("/connections/{id}/reconnect", { params: { path: { id } } }));

export const deleteConnection = (id: string, force: boolean) =>
  read(http.DELETE("/connections/{id}", { params: { path: { id }, query: force ? { force } : {} } }));
