import type { Cluster, Worker } from 'node:cluster';
import type { Records } from './recorder.ts';
import type { RecordedSample } from './sampler.ts';

/**
 * Records what all workers log and count. The process that starts the workers calls it once. The
 * rest is loaded when a worker first sends something, which only happens if a capability reads it.
 */
export function relayRecords(cluster: Cluster): void {
  let opened: Promise<Records> | undefined;
  const records = () =>
    (opened ??= import('./recorder.ts').then(({ createRecords }) => createRecords()));
  cluster.on('exit', ({ id }) => void opened?.then((open) => open.setFollowers(id, 0)));
  cluster.on('message', (sender, message: unknown) => {
    if (isMarked(message))
      void records().then((open) => receive(open, sender, message as unknown as ToRecords));
  });
}

async function receive(records: Records, sender: Worker, message: ToRecords): Promise<void> {
  if (message.step === 'lines') message.lines.forEach(records.note);
  else if (message.step === 'sample') records.add(sender.id, message.sample);
  else if (message.step === 'followers') records.setFollowers(sender.id, message.count);
  else {
    const answer = await answerOf(records, message.question);
    if (sender.isConnected()) sender.send(marked({ step: 'answer', id: message.id, answer }));
  }
}

function answerOf(records: Records, { of, with: given }: Question): unknown {
  if (of === 'page') return records.page(given as Parameters<Records['page']>[0]);
  if (of === 'batch') return records.batch(given as Parameters<Records['batch']>[0]);
  if (of === 'figures') return records.figures(given as Parameters<Records['figures']>[0]);
  return records.followers();
}

/** What a worker sends to the process that started it. */
export type ToRecords =
  | { readonly step: 'lines'; readonly lines: readonly string[] }
  | { readonly step: 'sample'; readonly sample: RecordedSample }
  | { readonly step: 'followers'; readonly count: number }
  | { readonly step: 'ask'; readonly id: number; readonly question: Question };

/** A call of a method of `Records`, with its arguments. */
export interface Question {
  readonly of: 'page' | 'batch' | 'figures' | 'followers';
  readonly with?: unknown;
}

export interface FromRecords {
  readonly step: 'answer';
  readonly id: number;
  readonly answer: unknown;
}

interface Marked {
  readonly twofold: 'recorder';
}

export const marked = <Message extends object>(message: Message): Message & Marked => ({
  twofold: 'recorder',
  ...message,
});

/**
 * Whether a message is one of the recorder. Other code sends messages between the processes too.
 */
export const isMarked = (message: unknown): message is Marked =>
  typeof message === 'object' &&
  message !== null &&
  'twofold' in message &&
  message.twofold === 'recorder';
