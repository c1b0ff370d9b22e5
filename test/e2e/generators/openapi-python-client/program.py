"""Posts an event and reads its history with the client of openapi-python-client."""

import json
import os

from webhook_relay_client import AuthenticatedClient
from webhook_relay_client.api.events import list_event_history
from webhook_relay_client.api.ingest import ingest
from webhook_relay_client.models import Acceptance, EventAcceptedFact, HistoryPage, IngestBody


def history_of(url: str, event_id) -> HistoryPage:
    client = AuthenticatedClient(base_url=url, token=os.environ["ACCESS_TOKEN"])
    page = list_event_history.sync(event_id, client=client)
    assert isinstance(page, HistoryPage), page
    return page


producer = AuthenticatedClient(
    base_url=os.environ["RELAY_URL"], token=os.environ["API_KEY"], prefix="", auth_header_name="X-Api-Key"
)
body = IngestBody.from_dict({"n": 1})
accepted = ingest.sync(
    os.environ["TENANT_ID"],
    os.environ["INGEST_TOKEN"],
    client=producer,
    body=body,
    x_idempotency_key="openapi-python-client",
)
assert isinstance(accepted, Acceptance), accepted
first = history_of(os.environ["RELAY_URL"], accepted.event_id).items[0]
assert isinstance(first, EventAcceptedFact), first
later = history_of(os.environ["LATER_URL"], accepted.event_id)
print(
    json.dumps(
        {
            "status": accepted.status,
            "payload": first.data.payload,
            "later": [str(fact.type_) for fact in later.items],
        }
    )
)
