const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the response of a token endpoint as RFC 6749 has it (sections 5.1 and 5.2), where widely used apps differ: errors
 * with status 200, forms instead of JSON, other names for a bearer token, null for what is absent. An ID token is left out:
 * it is not used to sign in, so it need not be checked.
 */
export async function asStandardResponse(response: Response): Promise<Response> {
  const text = await response.text();
  const body = parse(text, response.headers.get("content-type") ?? "");
  if (body === null) return new Response(text, { status: response.status, headers: response.headers });
  const { id_token: _, ...said } = body;
  if (typeof said.access_token !== "string" && typeof said.error === "string") {
    return Response.json(said, { status: response.status < 400 ? 400 : response.status });
  }
  const standard = Object.entries({
    ...said,
    token_type: "bearer",
    expires_in: secondsOf(said.expires_in),
    refresh_token: typeof said.refresh_token === "string" ? said.refresh_token : undefined,
    scope: Array.isArray(said.scope) ? said.scope.join(" ") : said.scope,
  }).filter(([, value]) => value !== undefined && value !== null);
  return Response.json(Object.fromEntries(standard), {
    status: response.status === 201 ? 200 : response.status,
  });
}

/** Returns a time that a token may live, in seconds; undefined for what is none. */
function secondsOf(value: unknown): number | undefined {
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

function parse(text: string, type: string): Record<string, unknown> | null {
  if (type.includes("x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(text));
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}
