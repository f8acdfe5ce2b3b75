import type { Topic } from '../records/tables.ts';

/** The two events of each topic: it failed, and it works again. */
export const TOPICS = {
  deploy: ['deploy.failed', 'deploy.recovered'],
  app: ['app.crashed', 'app.recovered'],
  run: ['run.failed', 'run.recovered'],
  backup: ['backup.failed', 'backup.recovered'],
  certificate: ['certificate.failed', 'certificate.recovered'],
  disk: ['disk.low', 'disk.recovered'],
  engine: ['engine.away', 'engine.back'],
} as const satisfies Record<Topic, readonly [string, string]>;

/** What a notification can be about. */
export type NotificationEvent = (typeof TOPICS)[Topic][number];

/** A message as webhooks get it. */
export interface Message {
  readonly id: string;
  readonly type: NotificationEvent | 'test';
  readonly at: string;
  /** Null when the message is about the host. */
  readonly app: string | null;
  readonly title: string;
  readonly text: string;
  /** Where to look; null without `APP_URL`. */
  readonly url: string | null;
}

/** @example isListed(['deploy.*'], 'deploy.failed') // true */
export const isListed = (patterns: readonly string[], event: string) =>
  patterns.some(
    (each) =>
      each === '*' ||
      each === event ||
      (each.endsWith('.*') && event.startsWith(each.slice(0, -1))),
  );

/** @returns the first pattern that no event matches. */
export const unknownEvent = (patterns: readonly string[]) =>
  patterns.find(
    (each) =>
      !Object.values(TOPICS)
        .flat()
        .some((event) => isListed([each], event)),
  );
