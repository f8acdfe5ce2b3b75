/** An event of a stream of the server. */
export interface SeenEvent {
  readonly id: string;
  readonly event: string;
  readonly data: any;
}

/** A stream that a test reads. */
export interface ReadStream {
  readonly status: number;
  readonly events: readonly SeenEvent[];
  /** Lines of all events `lines` so far. */
  lines(): readonly any[];
  /** Resolves when the condition holds. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

const PATIENCE = 10_000;

/** Follows server-sent events with a token. */
export async function readStream(url: string, token: string, lastId?: string): Promise<ReadStream> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    signal: leaving.signal,
    headers: {
      Accept: 'text/event-stream',
      Authorization: `Bearer ${token}`,
      ...(lastId !== undefined && { 'Last-Event-ID': lastId }),
    },
  });
  const events: SeenEvent[] = [];
  const reading = readEvents(response.body!, events).catch(() => {});
  return {
    status: response.status,
    events,
    lines: () => events.filter(({ event }) => event === 'lines').flatMap(({ data }) => data),
    until: async (condition) => {
      for (const since = Date.now(); !condition();) {
        if (Date.now() - since > PATIENCE) throw new Error(`not within ${PATIENCE} ms`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    close: async () => {
      leaving.abort();
      await reading;
    },
  };
}

async function readEvents(body: ReadableStream<Uint8Array>, events: SeenEvent[]): Promise<void> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + piece).split('\n\n');
    rest = frames.pop()!;
    for (const frame of frames) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? '';
      if (field('data') !== '')
        events.push({ id: field('id'), event: field('event'), data: JSON.parse(field('data')) });
    }
  }
}
