"""The main job in Python: the client is what openapi-python-client makes of openapi.json (test/clients/python.test.ts).

HEADWATER_URL and HEADWATER_API_KEY name the server and the account. Prints what arrived, as JSON.
"""

import json
import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from headwater_client import AuthenticatedClient
from headwater_client.api.deliveries import search_deliveries
from headwater_client.api.sources import create_source, get_source
from headwater_client.api.subscriptions import create_subscription
from headwater_client.api.webhooks import create_webhook
from headwater_client.models import CreateSubscriptionBody, CreateWebhookBody, Problem
from standardwebhooks import Webhook

CODE = """export default { name: "Hello", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ hello: event.body.name }); } };"""
PATIENCE_S = 120

received = []


class Receiver(BaseHTTPRequestHandler):
    """Keeps the requests that arrive: their headers and the bytes of their bodies."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        received.append((dict(self.headers.items()), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


def ok(response):
    """The data of a response; fails for a problem."""
    assert response is not None and not isinstance(response, Problem), response
    return response.data


def wait_for(what, condition):
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError(what)


def main(url, api_key):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hook = f"http://127.0.0.1:{server.server_port}/hook"
    client = AuthenticatedClient(base_url=url, token=api_key)

    # The generator has no class for a body of which one of several fields is required.
    source = ok(create_source.sync(client=client, body={"component_code": CODE, "name": "from-python"}))
    webhook = ok(create_webhook.sync(client=client, body=CreateWebhookBody(url=hook)))
    subscription = CreateSubscriptionBody(emitter_id=source.id, listener_id=webhook.id)
    ok(create_subscription.sync(client=client, body=subscription))

    endpoint = source.to_dict()["configured_props"]["http"]["endpoint_url"]
    request = urllib.request.Request(endpoint, b'{"name": "w\\u00f6rld"}', {"content-type": "application/json"})
    urllib.request.urlopen(request).read()
    headers, body = wait_for("the delivery", lambda: received and received[0])
    payload = Webhook(webhook.signing_key).verify(body, headers)

    def delivered():
        rows = ok(search_deliveries.sync(client=client, webhook_id=webhook.id))
        return [row for row in rows if row.state == "delivered"]

    [delivery] = wait_for("its state", delivered)
    missing = get_source.sync("dc_0000000000000000", client=client)
    print(json.dumps({
        "payload": payload,
        "isOurs": delivery.id == next(headers[name] for name in headers if name.lower() == "webhook-id"),
        "attempts": delivery.attempts_made,
        "nextAttempt": delivery.next_attempt_at_ms,
        "missing": missing.status if isinstance(missing, Problem) else None,
    }))


main(os.environ["HEADWATER_URL"], os.environ["HEADWATER_API_KEY"])
