import type { Cluster } from 'node:cluster';
import type { ChangeWay } from './announcements.ts';
import type { Announced } from './changes.ts';

interface Message {
  readonly twofold: 'changes';
  readonly changes: readonly Announced[];
}

const isOurs = (message: unknown): message is Message =>
  typeof message === 'object' &&
  message !== null &&
  'twofold' in message &&
  message.twofold === 'changes';

/**
 * Passes the changes that one worker announces on to the others. The process that starts the
 * workers calls it once.
 *
 * @example relayChanges(cluster); cluster.fork();
 */
export function relayChanges(cluster: Cluster): void {
  cluster.on('message', (sender, message: unknown) => {
    if (!isOurs(message)) return;
    for (const worker of Object.values(cluster.workers ?? {}))
      if (worker && worker.id !== sender.id && worker.isConnected()) worker.send(message);
  });
}

/**
 * The way between the workers of one machine, which share a SQLite file, through the process that
 * started them.
 */
export const betweenWorkers: ChangeWay = {
  hear: async (receive) => {
    if (!(await isWorker())) return undefined;
    const take = (message: unknown) => void (isOurs(message) && receive(message.changes));
    process.on('message', take);
    return () => void process.off('message', take);
  },
  tell: (change) =>
    void process.send?.({ twofold: 'changes', changes: [change] } satisfies Message),
};

/**
 * A process without an IPC channel is not a worker, so `node:cluster` need not be loaded to know.
 */
const isWorker = async () => process.connected && (await import('node:cluster')).default.isWorker;
