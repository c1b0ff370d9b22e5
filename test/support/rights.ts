/**
 * The status of every operation for every caller. `nobody`: without a token, and with every bad one. Then Viewer,
 * Developer, Admin and Owner, about things of their own tenant, of another tenant, and of none; impossible cells are
 * empty.
 */
export const userRights = `
                                            |        | own tenant's    | another's       | nowhere
operation, and with what                    | nobody | V   D   A   O   | V   D   A   O   | V   D   A   O
createTenant                                | 201    |                 |                 |
getTenant                                   | 401    | 200 200 200 200 | 404 404 404 404 | 404 404 404 404
listTenantHistory                           | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listPurgeHistory                            | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listReplayHistory                           | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listCancellationHistory                     | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
updateTenant                                | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateTenant for how long events are kept   | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
listSigningKeys                             | 200    | 200 200 200 200 | 200 200 200 200 | 404 404 404 404
getWebhookSecret                            | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
regenerateWebhookSecret                     | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
expireWebhookSecrets                        | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404
verifySignature                             | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404

login                                       | 200    |                 |                 |
logout                                      | 401    | 204 204 204 204 |                 |
openSession                                 | 200    |                 |                 |
renewSession                                | 401    | 401 401 401 401 |                 |
endSession                                  | 401    | 204 204 204 204 |                 |
changePassword                              | 401    | 204 204 204 204 |                 |
getMe                                       | 401    | 200 200 200 200 |                 |

createUser                                  | 401    | 403 201 201 201 |                 |
createUser a Viewer                         | 401    | 403 201 201 201 |                 |
createUser a Developer                      | 401    | 403 201 201 201 |                 |
createUser an Admin                         | 401    | 403 403 201 201 |                 |
createUser an Owner                         | 401    | 403 403 403 201 |                 |
listUsers                                   | 401    | 200 200 200 200 |                 |
getUser                                     | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
updateUser                                  | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateUser its own email                    | 401    | 200 200 200 200 |                 |
updateUser its own password                 | 401    | 200 200 200 200 |                 |
updateUser its own role, to Viewer          | 401    | 200 403 200 200 |                 |
updateUser its own role, to Owner           | 401    | 403 403 403 200 |                 |
updateUser its own status                   | 401    | 403 403 200 200 |                 |
updateUser a Developer, nothing of it       | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateUser a Developer's role, to Admin     | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateUser a Viewer's password              | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateUser a Viewer's status                | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateUser a Viewer's role, to Developer    | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateUser a Viewer's role, to Owner        | 401    | 403 403 403 200 | 403 403 403 403 | 404 404 404 404
updateUser an Admin's email                 | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateUser an Admin's role, to Developer    | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
updateUser an Owner's email                 | 401    | 403 403 403 200 | 403 403 403 403 | 404 404 404 404
updateUser an Owner's password              | 401    | 403 403 403 200 | 403 403 403 403 | 404 404 404 404
updateUser an Owner's status                | 401    | 403 403 403 200 | 403 403 403 403 | 404 404 404 404
updateUser an Owner's role, to Viewer       | 401    | 403 403 403 200 | 403 403 403 403 | 404 404 404 404
deleteUser                                  | 401    | 403 403 204 204 | 403 403 403 403 | 404 404 404 404
deleteUser an Admin                         | 401    | 403 403 204 204 | 403 403 403 403 | 404 404 404 404
deleteUser an Owner                         | 401    | 403 403 403 204 | 403 403 403 403 | 404 404 404 404
deleteUser itself                           | 401    | 403 403 204 204 |                 |

createInvite                                | 401    | 403 403 201 201 |                 |
createInvite for a Viewer                   | 401    | 403 403 201 201 |                 |
createInvite for an Admin                   | 401    | 403 403 201 201 |                 |
createInvite for an Owner                   | 401    | 403 403 403 201 |                 |
listInvites                                 | 401    | 200 200 200 200 |                 |
listInviteHistory                           | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
revokeInvite                                | 401    | 403 403 204 204 | 403 403 403 403 | 404 404 404 404
register                                    | 201    |                 |                 |
register with nobody's token                | 404    |                 |                 |
register with a revoked token               | 404    |                 |                 |

createApiKey                                | 401    | 403 201 201 201 |                 |
listApiKeys                                 | 401    | 200 200 200 200 |                 |
listApiKeyHistory                           | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
rotateApiKey                                | 401    | 403 201 201 201 | 403 403 403 403 | 404 404 404 404
deleteApiKey                                | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404

createServiceAccount                        | 401    | 403 403 201 201 |                 |
listServiceAccounts                         | 401    | 200 200 200 200 |                 |
getServiceAccount                           | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listServiceAccountHistory                   | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
updateServiceAccount                        | 401    | 403 403 200 200 | 403 403 403 403 | 404 404 404 404
deleteServiceAccount                        | 401    | 403 403 204 204 | 403 403 403 403 | 404 404 404 404
createServiceKey                            | 401    | 403 403 201 201 | 403 403 403 403 | 404 404 404 404
listServiceKeys                             | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
rotateServiceKey                            | 401    | 403 403 201 201 | 403 403 403 403 | 404 404 404 404
deleteServiceKey                            | 401    | 403 403 204 204 | 403 403 403 403 | 404 404 404 404

createView                                  | 401    | 201 201 201 201 |                 |
listViews                                   | 401    | 200 200 200 200 |                 |
updateView                                  | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
deleteView                                  | 401    | 204 204 204 204 | 403 403 403 403 | 404 404 404 404

createNotificationSubscription              | 401    | 403 201 201 201 | 403 403 403 403 | 404 404 404 404
listNotificationSubscriptions               | 401    | 200 200 200 200 |                 |
deleteNotificationSubscription              | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404

createPortalLink                            | 401    | 403 403 201 201 |                 |
createPortalLink for a destination          | 401    | 403 403 201 201 | 403 403 403 403 | 404 404 404 404
listPortalLinks                             | 401    | 403 403 200 200 |                 |
deletePortalLink                            | 401    | 403 403 204 204 | 403 403 403 403 | 404 404 404 404
openPortalSession                           | 204    |                 |                 |
getPortalSession                            | 401    | 401 401 401 401 |                 |
endPortalSession                            | 401    | 401 401 401 401 |                 |

listAudit                                   | 401    | 200 200 200 200 |                 |
listAudit of another tenant                 | 401    | 200 200 200 200 |                 |
listAudit of another tenant's Owner         | 401    | 200 200 200 200 |                 |

createDestination                           | 401    | 403 201 201 201 |                 |
listDestinations                            | 401    | 200 200 200 200 |                 |
getDestination                              | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listDestinationHistory                      | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listCircuitHistory                          | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
updateDestination                           | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
updateDestination to inactive               | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
deleteDestination                           | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404
getSigningSecret                            | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
replaceSigningSecret                        | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
expireSigningSecrets                        | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404
removeSigningSecret                         | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404
replaceSigningKey                           | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
removeSigningKey                            | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404
testDestination                             | 401    | 403 202 202 202 | 403 403 403 403 | 404 404 404 404
regenerateDestinationToken                  | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404

createSender                                | 401    | 403 201 201 201 | 403 403 403 403 | 404 404 404 404
listSenders                                 | 401    | 200 200 200 200 |                 |
getSender                                   | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listSenderHistory                           | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
updateSender                                | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
updateSender to another tenant's destination| 401    | 403 403 403 403 | 403 403 403 403 | 404 404 404 404
updateSender to nobody's destination        | 401    | 404 404 404 404 | 404 404 404 404 | 404 404 404 404
deleteSender                                | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404
regenerateSenderToken                       | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
testMapping                                 | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
previewMapping                              | 401    | 200 200 200 200 | 403 403 403 403 |
tryMapping                                  | 401    | 200 200 200 200 |                 |

createSubscription                          | 401    | 403 201 201 201 | 403 403 403 403 | 404 404 404 404
listSubscriptions                           | 401    | 200 200 200 200 |                 |
testSubscriptions                           | 401    | 200 200 200 200 | 403 403 403 403 |
getSubscription                             | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listSubscriptionHistory                     | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
updateSubscription                          | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
deleteSubscription                          | 401    | 403 204 204 204 | 403 403 403 403 | 404 404 404 404

getStatistics                               | 401    | 200 200 200 200 |                 |
listRefusals                                | 401    | 200 200 200 200 |                 |
listEvents                                  | 401    | 200 200 200 200 |                 |
listEvents of another tenant's destination  | 401    | 200 200 200 200 |                 |
listEvents of nobody's destination          | 401    | 200 200 200 200 |                 |
listEvents by another tenant's key          | 401    | 200 200 200 200 |                 |
countEvents                                 | 401    | 200 200 200 200 |                 |
countEvents of another tenant's destination | 401    | 200 200 200 200 |                 |
lookup                                      | 401    | 200 200 200 200 |                 |
searchEvents                                | 401    | 200 200 200 200 |                 |
exportEvents                                | 401    | 200 200 200 200 |                 |
exportEvents of another's destination       | 401    | 200 200 200 200 |                 |
followStream                                | 401    | 200 200 200 200 |                 |
followStream of another's destination       | 401    | 200 200 200 200 |                 |
getEvent                                    | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listAttempts                                | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
getEventStory                               | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listEventHistory                            | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
replayEvent                                 | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
resendEvent                                 | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
retryEvent                                  | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
cancelEvent                                 | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404
replayEvents                                | 401    | 403 200 200 200 |                 |
replayEvents as a dry run                   | 401    | 403 200 200 200 |                 |
replayEvents of one destination             | 401    | 403 200 200 200 | 403 200 200 200 | 403 200 200 200
cancelEvents                                | 401    | 403 200 200 200 |                 |
cancelEvents as a dry run                   | 401    | 403 200 200 200 |                 |
cancelEvents of one destination             | 401    | 403 200 200 200 | 403 200 200 200 | 403 200 200 200
purgeEvents                                 | 401    | 403 403 204 204 |                 |
purgeEvents as a dry run                    | 401    | 403 403 200 200 |                 |
purgeEvents of one destination              | 401    | 403 403 204 204 | 403 403 204 204 | 403 403 204 204
orderReplay                                 | 401    | 403 202 202 202 |                 |
orderReplay as a dry run                    | 401    | 403 200 200 200 |                 |
orderReplay of one destination, dry         | 401    | 403 200 200 200 | 403 200 200 200 | 403 200 200 200
orderReplay to a destination                | 401    | 403 202 202 202 | 403 403 403 403 | 404 404 404 404
listIncidents                               | 401    | 200 200 200 200 |                 |
getIncident                                 | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listMessages                                | 401    | 200 200 200 200 |                 |
getMessage                                  | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
listReplays                                 | 401    | 200 200 200 200 |                 |
getReplay                                   | 401    | 200 200 200 200 | 403 403 403 403 | 404 404 404 404
cancelReplay                                | 401    | 403 200 200 200 | 403 403 403 403 | 404 404 404 404

getHealth                                   | 200    |                 |                 |
getReadiness                                | 200    |                 |                 |
getMetrics                                  | 200    |                 |                 |
getOpenapiDocument                          | 200    |                 |                 |
getDocs                                     | 200    |                 |                 |
getRoot                                     | 200    |                 |                 |
`;

/**
 * For every operation that needs a token: the lowest role of a service account, the scope that its key needs, and the
 * status that it then gets about a thing of its own tenant. `-`: a key without scopes. `any`: every key. An operation
 * for users only has neither role nor status.
 */
export const serviceRights = `
getTenant                 | Viewer    | -                  | 200
listTenantHistory         | Viewer    | audit:read         | 200
listPurgeHistory          | Viewer    | audit:read         | 200
listReplayHistory         | Viewer    | audit:read         | 200
listCancellationHistory   | Viewer    | audit:read         | 200
updateTenant              | Admin     | -                  | 200
getWebhookSecret          | users
regenerateWebhookSecret   | users
expireWebhookSecrets      | users
getSigningSecret          | users
replaceSigningSecret      | users
expireSigningSecrets      | users
removeSigningSecret       | users
verifySignature           | Viewer    | -                  | 200

logout                    | users
renewSession              | users
endSession                | users
changePassword            | users
getMe                     | Viewer    | any                | 200

createUser                | Developer | users:write        | 201
listUsers                 | Viewer    | users:read         | 200
getUser                   | Viewer    | users:read         | 200
updateUser                | Admin     | users:write        | 200
deleteUser                | Admin     | users:write        | 204
createInvite              | Admin     | users:write        | 201
listInvites               | Viewer    | users:read         | 200
listInviteHistory         | Viewer    | audit:read         | 200
revokeInvite              | Admin     | users:write        | 204

createApiKey              | users
listApiKeys               | Viewer    | -                  | 200
listApiKeyHistory         | Viewer    | audit:read         | 200
rotateApiKey              | users
deleteApiKey              | users

createServiceAccount      | users
listServiceAccounts       | Viewer    | -                  | 200
getServiceAccount         | Viewer    | -                  | 200
listServiceAccountHistory | Viewer    | audit:read         | 200
updateServiceAccount      | users
deleteServiceAccount      | users
createServiceKey          | users
listServiceKeys           | Viewer    | -                  | 200
rotateServiceKey          | users
deleteServiceKey          | users

createView                | users
listViews                 | users
updateView                | users
deleteView                | users

createNotificationSubscription | Developer | destinations:write | 201
listNotificationSubscriptions | Viewer | destinations:read | 200
deleteNotificationSubscription | Developer | destinations:write | 204

createPortalLink          | Developer | portal:write       | 201
listPortalLinks           | Developer | portal:write       | 200
deletePortalLink          | Developer | portal:write       | 204

listAudit                 | Viewer    | audit:read         | 200
getStatistics             | Viewer    | events:read        | 200
replaceSigningKey         | Developer | destinations:write | 200
removeSigningKey          | Developer | destinations:write | 204
testDestination           | Developer | events:write       | 202
searchEvents              | Viewer    | events:read        | 200
exportEvents              | Viewer    | events:read        | 200
followStream              | Viewer    | events:read        | 200
listRefusals              | Viewer    | events:read        | 200

createDestination         | Developer | destinations:write | 201
listDestinations          | Viewer    | destinations:read  | 200
getDestination            | Viewer    | destinations:read  | 200
listDestinationHistory    | Viewer    | audit:read         | 200
listCircuitHistory        | Viewer    | audit:read         | 200
updateDestination         | Developer | destinations:write | 200
deleteDestination         | Developer | destinations:write | 204
regenerateDestinationToken | Developer | destinations:write | 200

createSender              | Developer | senders:write      | 201
listSenders               | Viewer    | senders:read       | 200
getSender                 | Viewer    | senders:read       | 200
listSenderHistory         | Viewer    | audit:read         | 200
updateSender              | Developer | senders:write      | 200
deleteSender              | Developer | senders:write      | 204
regenerateSenderToken     | Developer | senders:write      | 200
testMapping               | Viewer    | senders:read       | 200
tryMapping                | Viewer    | senders:read       | 200
previewMapping            | Viewer    | events:read        | 200

createSubscription        | Developer | senders:write      | 201
listSubscriptions         | Viewer    | senders:read       | 200
testSubscriptions         | Viewer    | senders:read       | 200
getSubscription           | Viewer    | senders:read       | 200
listSubscriptionHistory   | Viewer    | audit:read         | 200
updateSubscription        | Developer | senders:write      | 200
deleteSubscription        | Developer | senders:write      | 204

listEvents                | Viewer    | events:read        | 200
lookup                    | Viewer    | any                | 200
countEvents               | Viewer    | events:read        | 200
getEvent                  | Viewer    | events:read        | 200
listAttempts              | Viewer    | events:read        | 200
listEventHistory          | Viewer    | audit:read         | 200
getEventStory             | Viewer    | audit:read         | 200
replayEvent               | Developer | events:write       | 200
resendEvent               | Developer | events:write       | 200
retryEvent                | Developer | events:write       | 200
cancelEvent               | Developer | events:write       | 200
replayEvents              | Developer | events:write       | 200
cancelEvents              | Developer | events:write       | 200
purgeEvents               | Admin     | events:write       | 204
orderReplay               | Developer | events:write       | 202
listIncidents             | Viewer    | audit:read         | 200
getIncident               | Viewer    | audit:read         | 200
listMessages              | Viewer    | events:read        | 200
getMessage                | Viewer    | events:read        | 200
listReplays               | Viewer    | events:read        | 200
getReplay                 | Viewer    | events:read        | 200
cancelReplay              | Developer | events:write       | 200
`;

/**
 * For every operation that visitors of the portal have: the right that their link needs, and the status about what the
 * link names and about what it does not name; `-`: nothing can be named. `none`: no link allows it. Every other
 * operation that needs a sign-in is 404.
 */
export const portalRights = `
getPortalSession          | any       | 200 | -
endPortalSession          | any       | 204 | -

listEvents                | read      | 200 | 404
countEvents               | read      | 200 | 404
searchEvents              | read      | 200 | 404
exportEvents              | read      | 200 | 404
followStream              | read      | 200 | 404
getEvent                  | read      | 200 | 404
listAttempts              | read      | 200 | 404
listEventHistory          | read      | 200 | 404
getEventStory             | read      | 200 | 404
replayEvent               | replay    | 200 | 404
resendEvent               | replay    | 200 | 404
retryEvent                | replay    | 200 | 404
cancelEvent               | none      | 403 | 404

listDestinations          | read      | 200 | -
getDestination            | read      | 200 | 404
listDestinationHistory    | read      | 200 | 404
listCircuitHistory        | read      | 200 | 404
getStatistics             | read      | 200 | 404
testDestination           | test      | 202 | 404
createDestination         | configure | 201 | -
updateDestination         | configure | 200 | 404
deleteDestination         | configure | 204 | 404
regenerateDestinationToken | none     | 403 | 404
getSigningSecret          | none      | 403 | 404
replaceSigningSecret      | none      | 403 | 404
expireSigningSecrets      | none      | 403 | 404
removeSigningSecret       | none      | 403 | 404
replaceSigningKey         | none      | 403 | 404
removeSigningKey          | none      | 403 | 404

listSubscriptions         | read      | 200 | 404
getSubscription           | read      | 200 | 404
listSubscriptionHistory   | read      | 200 | 404
createSubscription        | configure | 201 | 404
updateSubscription        | configure | 200 | 404
deleteSubscription        | configure | 204 | 404
`;
