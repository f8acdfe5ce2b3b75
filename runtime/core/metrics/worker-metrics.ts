import type { Cluster } from 'node:cluster';
import { type Family, joinFamilies } from './family.ts';

/** Milliseconds that the other workers have to answer. */
const ANSWER_WITHIN = 1000;

interface Message {
  readonly twofold: 'metrics';
  readonly step: 'ask' | 'give' | 'given' | 'all';
  readonly id: number;
  readonly families?: readonly Family[];
}

const isOurs = (message: unknown): message is Message =>
  typeof message === 'object' &&
  message !== null &&
  'twofold' in message &&
  message.twofold === 'metrics';

interface Gathering {
  readonly waiting: Set<number>;
  done(): void;
}

/**
 * Answers a worker that asks for the figures of the others. The process that starts the workers
 * calls it once. It keeps what a worker counted that has ended, so that no sum goes down.
 */
export function relayMetrics(cluster: Cluster): void {
  const known = new Map<number, readonly Family[]>();
  const gatherings = new Map<number, Gathering>();
  let ended: readonly Family[] = [];
  let next = 0;
  const gather = (asking: number, done: () => void) => {
    const id = (next += 1);
    const others = Object.values(cluster.workers ?? {}).filter(
      (worker) => worker && worker.id !== asking && worker.isConnected(),
    );
    const finish = () => {
      clearTimeout(late);
      if (gatherings.delete(id)) done();
    };
    const late = setTimeout(finish, ANSWER_WITHIN);
    gatherings.set(id, { waiting: new Set(others.map((worker) => worker!.id)), done: finish });
    for (const worker of others) worker!.send({ twofold: 'metrics', step: 'give', id });
    if (others.length === 0) finish();
  };
  cluster.on('exit', ({ id }) => {
    const counted = (known.get(id) ?? []).filter(({ type }) => type !== 'gauge');
    known.delete(id);
    ended = joinFamilies([ended, counted]);
    for (const gathering of gatherings.values()) answered(gathering, id);
  });
  cluster.on('message', (sender, message: unknown) => {
    if (!isOurs(message)) return;
    const { step, id, families = [] } = message;
    if (step !== 'ask' && step !== 'given') return;
    known.set(sender.id, families);
    const gathering = gatherings.get(id);
    if (step === 'given') return gathering && answered(gathering, sender.id);
    gather(sender.id, () => {
      const all = [...known].filter(([worker]) => worker !== sender.id).map(([, own]) => own);
      if (sender.isConnected())
        sender.send({
          twofold: 'metrics',
          step: 'all',
          id,
          families: joinFamilies([ended, ...all]),
        });
    });
  });
}

function answered({ waiting, done }: Gathering, worker: number): void {
  if (waiting.delete(worker) && waiting.size === 0) done();
}

/** The figures of all workers of the server. */
export interface AllMetrics {
  start(): Promise<void>;
  families(): Promise<readonly Family[]>;
  stop(): void;
}

/** The metrics of all workers; without other workers, those of this process. */
export function createAllMetrics(own: () => readonly Family[]): AllMetrics {
  const asked = new Map<number, (families: readonly Family[]) => void>();
  let next = 0;
  let worker = false;
  const send = (message: Message) => process.send?.(message);
  const receive = (message: unknown) => {
    if (!isOurs(message)) return;
    const { step, id, families = [] } = message;
    if (step === 'give') send({ twofold: 'metrics', step: 'given', id, families: own() });
    if (step === 'all') asked.get(id)?.(families);
  };
  return {
    start: async () => {
      worker = process.connected && (await import('node:cluster')).default.isWorker;
      if (worker) process.on('message', receive);
    },
    families: async () => {
      const families = own();
      if (!worker) return families;
      const id = (next += 1);
      const others = await new Promise<readonly Family[]>((resolve) => {
        asked.set(id, resolve);
        send({ twofold: 'metrics', step: 'ask', id, families });
        setTimeout(() => resolve([]), 2 * ANSWER_WITHIN).unref();
      });
      asked.delete(id);
      return joinFamilies([families, others]);
    },
    stop: () => void process.off('message', receive),
  };
}
