/** Values that the examples in the API's description share, so that they tell one story. */
export const examples = {
  tenantId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e01",
  destinationId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e03",
  apiKeyId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e04",
  developerId: "0198f2a1-6c3e-7b54-9d0f-2a8b6c4d1e0a",
  eventId: "019c167f-c818-87c8-8ca8-64b1d472e0ea",
  payload: '{"type":"order.paid","amount":19.90}',
  idempotencyKey: "order-4711-paid",
  eventType: "order.paid",
  ownerId: "customer-42",
  tags: { order: "4711", region: "eu" },
  at: "2026-01-31T23:59:59.000Z",
  attemptAt: "2026-01-31T23:59:59.004Z",
  later: "2026-01-31T23:59:59.412Z",
} as const;
