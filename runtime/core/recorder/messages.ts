import type { RecordedSample } from './sampler.ts';

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
