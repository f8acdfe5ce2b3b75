import type { Cluster } from 'node:cluster';

/** What `generator dev` reports of a server. */
export type DevReport =
  | { readonly event: 'migrated'; readonly migrations: readonly string[] }
  | { readonly event: 'listening'; readonly url: string };

/**
 * Sends a report to `generator dev`, which sets the function; other servers have none. The log
 * cannot serve for it, because `LOG_LEVEL` may leave its lines out.
 */
export function reportToDev(report: DevReport): void {
  const send: unknown = Reflect.get(globalThis, Symbol.for('twofold.report'));
  if (typeof send === 'function') send(report);
}

interface Message {
  readonly twofold: 'report';
  readonly report: DevReport;
}

const isOurs = (message: unknown): message is Message =>
  typeof message === 'object' &&
  message !== null &&
  'twofold' in message &&
  message.twofold === 'report';

/** Passes on what workers report. They all listen at one address, which is reported once. */
export function relayReports(cluster: Cluster): void {
  const seen = new Set<string>();
  cluster.on('message', (_worker, message: unknown) => {
    if (!isOurs(message) || seen.has(JSON.stringify(message.report))) return;
    seen.add(JSON.stringify(message.report));
    reportToDev(message.report);
  });
}
