/** Signs in to the board as a browser does; returns the cookie to send. Throws if the password is rejected. */
export async function signIn(baseUrl: string, password: string): Promise<string> {
  const { origin } = new URL(baseUrl);
  const response = await fetch(`${origin}/admin/sign-in`, {
    method: "POST",
    headers: { origin },
    body: new URLSearchParams({ password }),
    redirect: "manual",
  });
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  if (response.status !== 303 || !cookie) throw new Error(`sign-in returned ${response.status}`);
  return cookie;
}
