import type { Cluster } from 'node:cluster';
import type { Announcements } from './announcements.ts';
import type { Announced, Changes } from './changes.ts';

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
 * Announces changes to the other workers of one machine, which share a SQLite file, through the
 * process that started them. Without other workers it does nothing.
 */
export function createWorkerAnnouncements(changes: Changes): Announcements {
  const foreign = new WeakSet<Announced>();
  const receive = (message: unknown) => {
    if (!isOurs(message)) return;
    message.changes.forEach((change) => foreign.add(change));
    changes.publish(message.changes);
  };
  let stopListening = () => {};
  return {
    start: async () => {
      if (!(await isWorker())) return;
      process.on('message', receive);
      stopListening = changes.subscribe(
        (change) =>
          void (
            foreign.has(change) ||
            process.send?.({ twofold: 'changes', changes: [change] } satisfies Message)
          ),
      );
    },
    stop: async () => {
      stopListening();
      process.off('message', receive);
    },
  };
}

/**
 * A process without an IPC channel is not a worker, so `node:cluster` need not be loaded to know.
 */
const isWorker = async () => process.connected && (await import('node:cluster')).default.isWorker;
