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

/** As the server's process sends it. */
interface Report {
  readonly twofold: 'report';
  readonly report: { readonly event: 'migrated' | 'listening' };
}

/** Emits the event that a message of the server reports: it migrated, or it listens. */
export function emitReport(message: unknown, emit: EmitDevEvent): void {
  const { twofold, report } = (message ?? {}) as Partial<Report>;
  if (twofold !== 'report' || !report) return;
  const { event, ...members } = report;
  emit(event, members);
}
