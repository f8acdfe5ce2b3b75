import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import type { EngineEvent } from '../engine.ts';
import { toEngineError } from '../errors.ts';

interface RawEvent {
  readonly Action?: string;
  readonly timeNano?: number;
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> };
}

/** Reads the container events that we use, with the same names for every engine. */
export async function* readEvents(
  client: Dockerode,
  actions: Readonly<Record<string, EngineEvent['action']>>,
  labels: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  try {
    const options = { filters: { type: ['container'], label: [...labels] }, abortSignal: signal };
    const stream = (await client.getEvents(
      options as Dockerode.GetEventsOptions,
    )) as unknown as Readable;
    signal.addEventListener('abort', () => stream.destroy(), { once: true });
    yield* parse(stream, actions);
  } catch (error) {
    if (!signal.aborted) throw toEngineError(error);
  }
}

async function* parse(
  stream: Readable,
  actions: Readonly<Record<string, EngineEvent['action']>>,
): AsyncGenerator<EngineEvent> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = toEvent(line, actions);
      if (event) yield event;
    }
  }
}

function toEvent(
  line: string,
  actions: Readonly<Record<string, EngineEvent['action']>>,
): EngineEvent | null {
  if (line.trim() === '') return null;
  const { Action, Actor, timeNano } = JSON.parse(line) as RawEvent;
  const action = actions[Action ?? ''];
  if (!action || !Actor?.ID) return null;
  const { exitCode, containerExitCode } = Actor.Attributes ?? {};
  const code = exitCode ?? containerExitCode;
  return {
    action,
    containerId: Actor.ID,
    labels: Actor.Attributes ?? {},
    exitCode: code === undefined ? null : Number(code),
    ...(timeNano !== undefined && { at: timeNano / 1e6 }),
  };
}
