import { CommandError } from '../failure.ts';

/** What `dev --json` reports, one object a line, in the order in which it happens. */
export type DevEvent =
  | 'started'
  | 'generated'
  | 'findings'
  | 'migrated'
  | 'listening'
  | 'failed'
  | 'stopped';

/** Reports an event, with members of its own. */
export type EmitDevEvent = (event: DevEvent, members?: Readonly<Record<string, unknown>>) => void;

/**
 * @param json whether events are wanted; without it nothing is written.
 * @example createDevEvents(true)('listening', { url }) // {"event":"listening","time":"2026-11-23T10:15:00.000Z","url":"http://localhost:8080"}
 */
export function createDevEvents(json: boolean): EmitDevEvent {
  if (!json) return () => {};
  return (event, members = {}) =>
    void process.stdout.write(
      `${JSON.stringify({ event, time: new Date().toISOString(), ...members })}\n`,
    );
}

/** An error as the member of the event `failed`. */
export function errorOf(error: unknown): { readonly error: object } {
  if (!(error instanceof CommandError)) return { error: { code: 'BUG', message: String(error) } };
  const { code, message, fix } = error;
  return { error: { code, message, ...(fix !== undefined && { fix }) } };
}

/**
 * The event that a log line of the server is. The server writes its lines as JSON, because its
 * output is no terminal.
 */
export function emitLogLine(line: string, emit: EmitDevEvent): void {
  const message = messageOf(line);
  const migrated = /^migrated: (.+)$/.exec(message)?.[1];
  if (migrated !== undefined) emit('migrated', { migrations: migrated.split(', ') });
  const url = /^listening on (\S+)/.exec(message)?.[1];
  if (url !== undefined) emit('listening', { url });
}

function messageOf(line: string): string {
  try {
    return String((JSON.parse(line) as { msg?: unknown } | null)?.msg ?? '');
  } catch {
    return '';
  }
}
