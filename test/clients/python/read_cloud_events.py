"""Reads the deliveries of a file with the code of docs/guides/cloudevents.md (test/clients/python.test.ts).

Prints the CloudEvent of each, as JSON.
"""

import json
import sys

from cloud_events import read_event

with open(sys.argv[1], encoding="utf-8") as file:
    deliveries = json.load(file)
events = []
for delivery in deliveries:
    event = read_event(delivery["signing_key"], delivery["headers"], delivery["body"].encode())
    events.append(
        {
            "type": event.get_type(),
            "source": event.get_source(),
            "specversion": event.get_specversion(),
            "data": event.get_data(),
        }
    )
print(json.dumps(events))
