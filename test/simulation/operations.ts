/** The operations, and their relative frequency. */
export const weights = {
  ingest: 70, sameKey: 6, replay: 4, resend: 3, retry: 3, bulkReplay: 1.5, cancel: 3, bulkCancel: 0.5, orderReplay: 1,
  cancelReplay: 0.3, purge: 1.5, list: 4, get: 2, foreign: 1, limit: 1, pause: 1.5, activate: 2, register: 0.5,
  remove: 0.3, newToken: 0.4, oldToken: 0.4, policy: 0.6, session: 0.6, newSecret: 0.2, repoint: 0.6, newProof: 0.8,
  message: 14, sameMessage: 2, actOnMessage: 1, subscribe: 1, resubscribe: 1.5, unsubscribe: 0.5,
  together: 2, crowd: 0.4, newTenant: 0.4, test: 3, reorder: 1, pace: 0.5, holding: 0.5,
};
/** The name of an operation. */
export type Operation = keyof typeof weights;
