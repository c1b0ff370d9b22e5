// Posts an event and reads its history with oapi-codegen's client.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"generated/oapi-codegen/client"

	"github.com/google/uuid"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func with(name, value string) client.RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set(name, value)
		return nil
	}
}

func history(url string, id uuid.UUID) []client.HistoryItem {
	relay := must(client.NewClientWithResponses(url))
	shown := with("Authorization", "Bearer "+os.Getenv("ACCESS_TOKEN"))
	answer := must(relay.ListEventHistoryWithResponse(context.Background(), id, nil, shown))
	if answer.JSON200 == nil {
		panic(string(answer.Body))
	}
	return answer.JSON200.Items
}

func main() {
	relay := must(client.NewClientWithResponses(os.Getenv("RELAY_URL")))
	key := "oapi-codegen"
	answer := must(relay.IngestWithResponse(
		context.Background(),
		must(uuid.Parse(os.Getenv("TENANT_ID"))),
		os.Getenv("INGEST_TOKEN"),
		&client.IngestParams{XIdempotencyKey: &key},
		client.IngestJSONRequestBody{"n": 1},
		with("X-Api-Key", os.Getenv("API_KEY")),
	))
	if answer.JSON202 == nil {
		panic(string(answer.Body))
	}
	id := answer.JSON202.EventId
	accepted, ok := must(history(os.Getenv("RELAY_URL"), id)[0].ValueByDiscriminator()).(client.EventAcceptedFact)
	if !ok {
		panic("the first fact is no EventAccepted")
	}
	later := []string{}
	for _, fact := range history(os.Getenv("LATER_URL"), id) {
		later = append(later, must(fact.Discriminator()))
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status": answer.JSON202.Status, "payload": accepted.Data.Payload, "later": later,
	})
}
