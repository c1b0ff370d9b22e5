// Posts an event and reads its history with ogen's client.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"generated/ogen/client"

	"github.com/go-faster/jx"
	"github.com/google/uuid"
	"github.com/ogen-go/ogen/ogenerrors"
)

type security struct{}

func (security) AccessToken(context.Context, client.OperationName) (client.AccessToken, error) {
	return client.AccessToken{Token: os.Getenv("ACCESS_TOKEN")}, nil
}

func (security) ProducerKey(context.Context, client.OperationName) (client.ProducerKey, error) {
	return client.ProducerKey{APIKey: os.Getenv("API_KEY")}, nil
}

// The sessions of browsers: this program has none.
func (security) PortalCookie(context.Context, client.OperationName) (client.PortalCookie, error) {
	return client.PortalCookie{}, ogenerrors.ErrSkipClientSecurity
}

func (security) SessionCookie(context.Context, client.OperationName) (client.SessionCookie, error) {
	return client.SessionCookie{}, ogenerrors.ErrSkipClientSecurity
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func history(url string, id uuid.UUID) (client.ListEventHistoryRes, error) {
	relay := must(client.NewClient(url, security{}))
	return relay.ListEventHistory(context.Background(), client.ListEventHistoryParams{ID: id})
}

func main() {
	relay := must(client.NewClient(os.Getenv("RELAY_URL"), security{}))
	answer := must(relay.Ingest(
		context.Background(),
		client.IngestReq{"n": jx.Raw("1")},
		client.IngestParams{
			TenantId:        must(uuid.Parse(os.Getenv("TENANT_ID"))),
			Token:           os.Getenv("INGEST_TOKEN"),
			XIdempotencyKey: client.NewOptString("ogen"),
		},
	))
	accepted, ok := answer.(*client.AcceptanceHeaders)
	if !ok {
		panic(fmt.Sprintf("%T", answer))
	}
	id := accepted.Response.EventId
	page, ok := must(history(os.Getenv("RELAY_URL"), id)).(*client.HistoryPageHeaders)
	if !ok {
		panic("the history is no page")
	}
	fact, ok := page.Response.Items[0].GetEventAcceptedFact()
	if !ok {
		panic("the first fact is no EventAccepted")
	}
	// The client is strict: it refuses a page with a fact of a type that it does not know.
	later := []string{}
	if _, err := history(os.Getenv("LATER_URL"), id); err != nil {
		later = append(later, err.Error())
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status": accepted.Response.Status, "payload": fact.Data.Payload, "later": later,
	})
}
